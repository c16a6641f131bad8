// What is drawn of a circuit: parts at tokens, and the lines between them, folded: only layers and
// tokens with edges have room, and a chain of MLPs at one token is one part.

const MOST_STEPS = 2000; // in which ways are looked for
const [MLP, ANSWER] = [3, 4]; // kinds of readers; 0 to 2 are q, k and v of a head

/** @typedef {[layer: number, kind: number, head: number, query: number, key: number, writer: number]} Address */

/**
 * An edge: `isWhole` says whether it lies on a whole way from a word to the answer.
 *
 * @typedef {object} Edge
 * @property {Address} at
 * @property {number} effect
 * @property {boolean} isExact
 * @property {boolean} isWhole
 */

/**
 * A part of the model at a token; several MLPs in a chain are one, from `layer` to `last`, of these
 * `layers`. `row` counts from the words up: heads and MLPs of a layer have a row each.
 *
 * @typedef {object} Node
 * @property {string} id
 * @property {"embedding" | "head" | "MLP" | "answer"} kind
 * @property {number} layer
 * @property {number} last
 * @property {number[]} layers
 * @property {number} head
 * @property {number} token
 */

/** Edges between two parts of which all are read alike, the strongest first. @typedef {{from: Node, to: Node, kind: number, edges: Edge[]}} Line */

/** @typedef {{n_layers: number, n_heads: number}} Sizes */

/**
 * An edge as an address has it, as paths/words.py reads it.
 *
 * @param {Address} at
 */
export function edgeText(at) {
  return at.join(".");
}

/**
 * @param {Address} at
 * @param {Sizes} sizes
 * @returns {Node} who writes
 */
export function writerOf([, , , , token, writer], { n_heads }) {
  if (!writer) return node("embedding", -1, 0, token);
  const layer = Math.floor((writer - 1) / (n_heads + 1));
  const part = (writer - 1) % (n_heads + 1);
  return part === n_heads ? node("MLP", layer, 0, token) : node("head", layer, part, token);
}

/**
 * @param {Address} at
 * @returns {Node} who reads
 */
export function readerOf([layer, kind, head, token]) {
  if (kind === ANSWER) return node("answer", layer, 0, token);
  return kind === MLP ? node("MLP", layer, 0, token) : node("head", layer, head, token);
}

/**
 * A part at a token; its id is what `is_part` of paths/words.py knows.
 *
 * @param {Node["kind"]} kind
 * @param {number} layer
 * @param {number} head
 * @param {number} token
 * @returns {Node}
 */
export function node(kind, layer, head, token) {
  const id = `${kind} ${layer}.${head}@${token}`;
  return { id, kind, layer, last: layer, layers: [layer], head, token };
}

/**
 * The row of a part, or of the last of a chain.
 *
 * @param {Node} part
 * @param {number} [layer]
 */
export function rowOf({ kind, layer: first }, layer = first) {
  return 2 * layer + (kind === "MLP" ? 2 : kind === "embedding" ? 2 : 1);
}

/**
 * Parts and lines of some edges.
 *
 * @param {Edge[]} edges
 * @param {Sizes} sizes
 * @param {Set<string>} unfolded chains that are drawn MLP by MLP
 * @returns {{nodes: Node[], lines: Line[], drawnAs: (node: Node) => string}} `drawnAs` gives the id of a part, or of its chain
 */
export function graphOf(edges, sizes, unfolded) {
  const ends = edges.map((edge) => ({
    edge,
    from: writerOf(edge.at, sizes),
    to: readerOf(edge.at),
  }));
  const chainOf = chains(ends, unfolded);
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  /** @type {Map<string, Line>} */
  const lines = new Map();
  for (const { edge, from: writer, to: reader } of ends) {
    const [from, to] = [writer, reader].map((one) => chainOf.get(one.id) ?? one);
    for (const one of [from, to]) if (!nodes.has(one.id)) nodes.set(one.id, one);
    if (from.id === to.id) continue; // within a chain
    const kind = edge.at[1];
    const key = `${from.id} ${to.id} ${kind}`;
    const line = lines.get(key) ?? { from, to, kind, edges: [] };
    lines.set(key, line);
    line.edges.push(edge);
  }
  for (const line of lines.values()) line.edges.sort(byEffect);
  const drawnAs = (/** @type {Node} */ { id }) => chainOf.get(id)?.id ?? id;
  return { nodes: [...nodes.values()], lines: [...lines.values()], drawnAs };
}

/**
 * The ways from a word to the answer whose weakest edge is strongest, in this order.
 *
 * @template {Edge} Kind
 * @param {Kind[]} edges
 * @param {Sizes} sizes
 * @param {number} most
 * @returns {Kind[][]}
 */
export function waysOf(edges, sizes, most) {
  /** @type {Map<string, Kind[]>} */
  const into = new Map(); // the edges that each part reads
  for (const edge of edges) {
    const { id } = readerOf(edge.at);
    into.set(id, [...(into.get(id) ?? []), edge]);
  }
  const weakest = (/** @type {Kind[]} */ way) => Math.min(...way.map((x) => Math.abs(x.effect)));
  /** @type {Kind[][]} */
  const found = [];
  // Begun at the answer, the strongest first: what is whole before others is stronger than they are.
  let open = edges.filter(({ at }) => at[1] === ANSWER).map((edge) => [edge]);
  for (let n = 0; open.length && found.length < most && n < MOST_STEPS; n++) {
    open.sort((a, b) => weakest(b) - weakest(a));
    const [way, ...rest] = open;
    const from = writerOf(way[0].at, sizes);
    const longer = (into.get(from.id) ?? []).map((edge) => [edge, ...way]);
    if (from.kind === "embedding") found.push(way);
    open = [...rest, ...(from.kind === "embedding" ? [] : longer)];
  }
  return found;
}

/**
 * @param {Edge} a
 * @param {Edge} b
 */
export function byEffect(a, b) {
  return Math.abs(b.effect) - Math.abs(a.effect);
}

/**
 * The chain that each MLP is in: MLPs at one token, each of which reads another of them, without a
 * head at this token between them.
 *
 * @param {{from: Node, to: Node}[]} ends
 * @param {Set<string>} unfolded
 */
function chains(ends, unfolded) {
  /** @type {Map<string, Node>} */
  const found = new Map();
  const all = new Map(ends.flatMap(({ from, to }) => [from, to].map((one) => [one.id, one])));
  const fed = new Set(
    ends.filter(({ from, to }) => from.kind === "MLP" && to.kind === "MLP").map(pairOf),
  );
  for (const token of new Set([...all.values()].map((one) => one.token))) {
    const here = [...all.values()].filter((one) => one.token === token && one.kind !== "answer");
    here.sort((a, b) => rowOf(a) - rowOf(b));
    /** @type {Node[]} */
    let chain = [];
    for (const one of here) {
      const goesOn = chain.some((before) => fed.has(pairOf({ from: before, to: one })));
      if (!goesOn) close(chain, unfolded, found);
      chain = goesOn ? [...chain, one] : one.kind === "MLP" ? [one] : [];
    }
    close(chain, unfolded, found);
  }
  return found;
}

/** @param {{from: Node, to: Node}} ends */
function pairOf({ from, to }) {
  return `${from.id} ${to.id}`;
}

/**
 * @param {Node[]} chain
 * @param {Set<string>} unfolded
 * @param {Map<string, Node>} found
 */
function close(chain, unfolded, found) {
  const [first, last] = [chain[0], chain.at(-1)];
  if (chain.length < 2 || !last) return;
  const id = `MLP ${first.layer}-${last.layer}@${first.token}`;
  if (unfolded.has(id)) return;
  const layers = chain.map(({ layer }) => layer);
  for (const one of chain) found.set(one.id, { ...first, id, last: last.layer, layers });
}

/**
 * Where parts stand: `x` and `y` by their id, the middle of each token's column, and of each row its
 * height. All rows fit into the height; of the width more is taken where parts would touch each other.
 *
 * @param {Node[]} nodes
 * @param {{width: number, height: number}} room
 */
export function placesOf(nodes, { width, height: high }) {
  const rows = [...new Set(nodes.flatMap((one) => [rowOf(one), rowOf(one, one.last)]))];
  rows.sort((a, b) => a - b);
  const step = Math.min(MOST_STEP, (high - TOP - BOTTOM) / Math.max(1, rows.length - 1));
  const height = TOP + step * (rows.length - 1) + BOTTOM;
  /** @param {number} row */
  const yOf = (row) => height - BOTTOM - step * rows.indexOf(row);
  /** @param {number} row of an MLP in a chain: where it would be */
  const near = (row) => yOf(rows.filter((one) => one <= row).at(-1) ?? rows[0]);
  const tokens = [...new Set(nodes.map(({ token }) => token))].sort((a, b) => a - b);
  const slots = tokens.map((token) => widest(nodes.filter((one) => one.token === token)));
  const n = slots.reduce((sum, some) => sum + some, 0);
  const least = width < NARROW ? ROOM_FOR_NAMES : LEAST_GAP;
  const gap = Math.max(least, Math.min(MOST_GAP, (width - LEFT - RIGHT) / n));
  /** @type {Map<number, number>} */
  const columns = new Map();
  let x = LEFT;
  tokens.forEach((token, i) => {
    columns.set(token, x + (slots[i] * gap) / 2);
    x += slots[i] * gap;
  });
  const at = new Map(nodes.map((one) => [one.id, placeOf(one, nodes, columns, gap, yOf)]));
  return { at, columns, rows, yOf, near, gap, step, width: Math.max(width, x + RIGHT), height };
}

const [TOP, BOTTOM, LEFT, RIGHT] = [40, 62, 62, 44]; // pixels around the parts
const [LEAST_GAP, MOST_GAP] = [30, 120]; // pixels from a head to the next
const NARROW = 500; // pixels of a picture, below which it is scrolled rather than without names
export const ROOM_FOR_NAMES = 66; // pixels from a head to the next, from which all have names
const MOST_STEP = 52; // pixels from a row to the next

/**
 * @param {Node} one
 * @param {Node[]} nodes
 * @param {Map<number, number>} columns
 * @param {number} gap
 * @param {(row: number) => number} yOf
 */
function placeOf(one, nodes, columns, gap, yOf) {
  const alike = nodes.filter((x) => x.token === one.token && rowOf(x) === rowOf(one));
  alike.sort((a, b) => a.head - b.head);
  const i = alike.findIndex(({ id }) => id === one.id);
  const x = (columns.get(one.token) ?? 0) + (i - (alike.length - 1) / 2) * gap;
  const ends = { isFirst: i === 0, isLast: i === alike.length - 1 }; // of those side by side
  return { x, y: yOf(rowOf(one)), top: yOf(rowOf(one, one.last)), ...ends };
}

/**
 * How many parts of a token stand side by side.
 *
 * @param {Node[]} nodes
 */
function widest(nodes) {
  const counts = new Map();
  for (const one of nodes) counts.set(rowOf(one), (counts.get(rowOf(one)) ?? 0) + 1);
  return Math.max(1.4, ...counts.values());
}
