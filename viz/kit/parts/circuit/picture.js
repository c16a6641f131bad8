// The circuit as a picture: tokens from left to right, layers from bottom to top.

import { digits, setAll, svg } from "../../dom.js";
import { clipped } from "../../patterns.js";
import { ROOM_FOR_NAMES, placesOf, readerOf, rowOf, writerOf } from "./graph.js";
import { KINDS, answerName, edgeName, partName, placeName } from "./words.js";

/** @import { CircuitData } from "../circuit.js" */
/** @import { Palette } from "../../wire.js" */
/** @import { Edge, Line, Node } from "./graph.js" */

const THICK = { least: 1.2, most: 8 }; // pixels of a line
const SIZE = { least: 5, most: 13 }; // pixels from the middle of a part to its edge
const DASHES = ["1 5", "7 4", null, null, null]; // of q, k, v, of an MLP and of the answer
const ASIDE = [-6, 6, 0, 0, 0]; // pixels
const NAMED = 12; // parts that have their name beside them where there is little room
const ROOMY = 24; // pixels from a row to the next, below which parts are smaller
const CHAIN = 8; // pixels from the middle of a chain to its edge
const FAINT = { picked: 0.14, loose: 0.25, part: 0.4 };
const TURN_MS = 90; // from a row to the next, while it plays

/**
 * @typedef {object} Look
 * @property {CircuitData} data
 * @property {Palette} palette
 * @property {number} width
 * @property {number} height
 * @property {(line: Line) => boolean} isLit
 * @property {(node: Node) => boolean} isNodeLit
 * @property {(line: Line) => void} pickLine
 * @property {(node: Node) => void} pickNode
 */

/**
 * Draws it and says what was drawn: its parts and lines, and of each line the edges.
 *
 * @param {SVGSVGElement} picture
 * @param {{nodes: Node[], lines: Line[]}} graph
 * @param {Look} look
 */
export function drawCircuit(picture, { nodes, lines }, look) {
  const places = placesOf(nodes, look);
  const most = Math.max(...lines.map(({ edges }) => Math.abs(edges[0].effect)), 1e-9);
  const strengths = strengthsOf(nodes, lines);
  const scene = { ...look, places, most, strengths };
  const { width, height } = places;
  setAll(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
  const drawn = [...lines].reverse().map((line) => lineOf(line, scene));
  picture.replaceChildren(
    ...framesOf(scene),
    ...drawn.map(({ node }) => node),
    ...nodes.map((one) => partOf(one, scene)),
  );
  const names = Array.from(picture.querySelectorAll(".hl-node-name"), (one) => one.textContent);
  const says = drawn.map((line) => line.says).reverse();
  return { nodes: nodes.map(({ id }) => id), names, lines: says };
}

/** @typedef {Look & {places: ReturnType<typeof placesOf>, most: number, strengths: Map<string, Edge>}} Scene */

/**
 * The strongest edge of each part.
 *
 * @param {Node[]} nodes
 * @param {Line[]} lines
 */
function strengthsOf(nodes, lines) {
  /** @type {Map<string, Edge>} */
  const found = new Map();
  for (const { from, to, edges } of lines)
    for (const { id } of [from, to]) {
      const known = found.get(id);
      if (!known || Math.abs(edges[0].effect) > Math.abs(known.effect)) found.set(id, edges[0]);
    }
  return found;
}

/**
 * Names of layers and tokens, and a ground for each token's column.
 *
 * @param {Scene} scene
 */
function framesOf({ data, palette, places }) {
  const { columns, rows, yOf, width, height } = places;
  const quiet = { fill: palette.muted, "font-size": 12 };
  const layers = rows.filter((row) => row > 0 && row <= 2 * data.n_layers);
  const named = layers.filter((row, i) => layerOf(row) !== layerOf(layers[i - 1] ?? -1));
  const tokens = [...columns].map(([token, x]) => {
    const [own, other] = [data.labels[token], data.other[token]];
    const middle = { x, "text-anchor": "middle" };
    return [
      svg("line", { x1: x, x2: x, y1: 24, y2: height - 44, stroke: palette.line }),
      svg(
        "text",
        { ...middle, y: height - 26, fill: palette.text, "font-weight": 600 },
        clipped(own),
        svg("title", null, `token ${token}: ${own}`),
      ),
      own === other ? null : svg("text", { ...middle, y: height - 9, ...quiet }, clipped(other)),
    ];
  });
  return [
    ...named.map((row) => svg("text", { x: 4, y: yOf(row) + 4, ...quiet }, `L${layerOf(row)}`)),
    svg("line", { x1: 4, x2: width - 4, y1: height - 44, y2: height - 44, stroke: palette.line }),
    ...tokens.flat().filter((one) => one !== null),
  ];
}

/** @param {number} row */
function layerOf(row) {
  return Math.floor((row - 1) / 2);
}

/**
 * @param {Line} line
 * @param {Scene} scene
 */
function lineOf(line, scene) {
  const { data, palette, places, most, isLit, pickLine } = scene;
  const [{ effect, isExact, isWhole, at }] = line.edges;
  const d = pathOf(line, scene);
  const wide = Math.max(THICK.least, (THICK.most * Math.abs(effect)) / most);
  const dashes = { "stroke-dasharray": DASHES[line.kind], "stroke-linecap": "round" };
  const color = effect < 0 ? palette.diverging[1] : palette.diverging[5];
  const opacity = isLit(line) ? (isWhole ? 0.85 : FAINT.loose) : FAINT.picked;
  const shown = { d, fill: "none", stroke: color, "stroke-width": wide, opacity, ...dashes };
  const more = line.edges.length > 1 ? `; the strongest of ${line.edges.length} edges` : "";
  const title = `${edgeName(data, at)}: ${isExact ? "" : "about "}${digits(effect, 3)}${more}`;
  const turn = `--hl-turn: ${TURN_MS * places.rows.indexOf(rowOf(line.from, line.from.last)) + TURN_MS / 2}ms`;
  const node = svg(
    "g",
    { class: "hl-edge", style: turn, onclick: () => pickLine(line), "data-estimate": !isExact },
    svg("path", { d, fill: "none", stroke: "transparent", "stroke-width": Math.max(12, wide) }),
    svg("path", shown),
    svg("title", null, title),
  );
  const edges = line.edges.map((edge) => ({
    ...{ effect: edge.effect, isExact: edge.isExact, isWhole: edge.isWhole },
  }));
  const ends = { from: line.from.id, to: line.to.id, kind: line.kind };
  return {
    node,
    says: { ...ends, title, isLit: isLit(line), isFor: color === palette.diverging[5], edges },
  };
}

/**
 * A line from the top of who writes to the foot of who reads; at a chain it stands beside the MLP that
 * its strongest edge is of. At one token it bends around what stands between.
 *
 * @param {Line} line
 * @param {Scene} scene
 */
function pathOf({ from, to, kind, edges: [{ at }] }, { data, places }) {
  const [start, end] = [places.at.get(from.id), places.at.get(to.id)];
  if (!start || !end) return "";
  const [row, last] = [writerOf(at, data), readerOf(at)].map((one) => rowOf(one));
  const way = Math.sign(end.x - start.x) || 1;
  const aside = ASIDE[kind]; // so that q, k and v of one head do not lie over each other
  const x1 = start.x + aside + (from.last > from.layer ? way * CHAIN : 0);
  const x2 = end.x + aside - (to.last > to.layer ? way * CHAIN : 0);
  const [y1, y2] = [places.near(row) - SIZE.least, places.near(last) + SIZE.least];
  const between = places.rows.filter((one) => one > row && one < last).length;
  const reach = Math.max(10, (y1 - y2) / 2);
  const side = kind % 2 ? -1 : 1;
  const isUpright = Math.abs(x1 - x2) <= 2 * CHAIN && between > 0;
  const bend = isUpright ? side * Math.min(places.gap / 2, 9 + 5 * between) * 1.6 : 0;
  return `M${x1} ${y1}C${x1 + bend} ${y1 - reach} ${x2 + bend} ${y2 + reach} ${x2} ${y2}`;
}

/**
 * @param {Node} one
 * @param {Scene} scene
 */
function partOf(one, scene) {
  const { data, palette, places, most, strengths, isNodeLit, pickNode } = scene;
  const place = places.at.get(one.id) ?? { x: 0, y: 0, top: 0, isFirst: true, isLast: true };
  const strongest = strengths.get(one.id);
  const share = Math.abs(strongest?.effect ?? 0) / most;
  const scale = Math.min(1, places.step / ROOMY);
  const r = scale * (SIZE.least + (SIZE.most - SIZE.least) * Math.sqrt(share));
  const color = (strongest?.effect ?? 0) < 0 ? palette.diverging[1] : palette.diverging[5];
  const opacity = isNodeLit(one) ? 1 : FAINT.part;
  const turn = `--hl-turn: ${TURN_MS * places.rows.indexOf(rowOf(one))}ms`;
  const act = { onclick: () => pickNode(one), style: turn, opacity };
  const look = { fill: palette.background, stroke: color, "stroke-width": 2 };
  return svg(
    "g",
    { class: "hl-node", "data-node": one.id, ...act },
    shapeOf(one, place, r, { ...look, ...(one.kind === "head" ? { fill: color } : {}) }),
    nameOf(one, place, r, scene),
    svg("title", null, placeName(data, one)),
  );
}

/**
 * @param {Node} one
 * @param {{x: number, y: number, top: number}} place
 * @param {number} r
 * @param {Record<string, string | number>} look
 */
function shapeOf({ kind }, { x, y, top }, r, look) {
  if (kind === "head") return svg("circle", { cx: x, cy: y, r, ...look });
  if (kind === "embedding") return svg("circle", { cx: x, cy: y, r: SIZE.least, ...look });
  if (kind === "answer") return null;
  const isChain = top < y;
  const [high, wide] = [y - top + 2 * r, isChain ? 2 * CHAIN : Math.min(2 * r, 20)];
  return svg("rect", { x: x - wide / 2, y: top - r, width: wide, height: high, rx: 3, ...look });
}

/**
 * The name of a part beside it, where there is room or it is one of the strongest.
 *
 * @param {Node} one
 * @param {{x: number, y: number, top: number, isFirst: boolean, isLast: boolean}} place
 * @param {number} r
 * @param {Scene} scene
 */
function nameOf(one, { x, y, top, isFirst, isLast }, r, { data, palette, places, strengths }) {
  const look = { fill: palette.text, stroke: palette.background, class: "hl-node-name" };
  if (one.kind === "answer") {
    const side = { "text-anchor": "middle", "font-weight": 600 };
    const half = Math.min(x, places.width - x); // from which a long name is moved to the middle
    return svg(
      "text",
      { x: half < 90 ? x - (90 - half) : x, y: y - 14, ...look, ...side },
      answerName(data, clipped),
    );
  }
  if (one.kind === "embedding") return null;
  const order = [...strengths].sort(([, a], [, b]) => Math.abs(b.effect) - Math.abs(a.effect));
  const isStrong = order.slice(0, NAMED).some(([id]) => id === one.id);
  const hasRoom = places.gap >= ROOM_FOR_NAMES;
  if (!hasRoom && !(isStrong && (isFirst || isLast))) return null;
  const away = (one.kind === "MLP" ? Math.min(r, 10) : r) + 4;
  const beside = hasRoom || isLast ? { x: x + away } : { x: x - away, "text-anchor": "end" };
  return svg("text", { ...beside, y: (y + top) / 2 + 4, ...look }, partName(one));
}

/**
 * What lines and parts mean.
 *
 * @param {Palette} palette
 * @param {boolean} hasEstimates
 */
export function legendOf(palette, hasEstimates) {
  /** @type {(look: Record<string, string | number | null>, says: string) => [SVGSVGElement, string]} */
  const entry = (look, says) => {
    const line = { x1: 2, x2: 30, y1: 7, y2: 7, "stroke-width": 3, stroke: palette.muted };
    const picture = { width: 32, height: 14, "aria-hidden": "true" };
    return [
      svg("svg", picture, svg("line", { ...line, "stroke-linecap": "round", ...look })),
      says,
    ];
  };
  return [
    entry({ stroke: palette.diverging[5] }, "for the answer"),
    entry({ stroke: palette.diverging[1] }, "against it"),
    ...KINDS.slice(0, 2).map((kind, i) =>
      entry({ "stroke-dasharray": DASHES[i] }, `read as ${kind}`),
    ),
    entry({}, "as v, by an MLP or the answer"),
    ...(hasEstimates ? [entry({ opacity: 0.4 }, "pale: estimated so far")] : []),
  ];
}

/**
 * What is saved of it.
 *
 * @param {import("../circuit.js").Circuit} circuit
 * @returns {import("../../export.js").Saved}
 */
export function shownOf({ texts, says, picture, legend, curve, palette }) {
  /** @type {import("../../export.js").Saved["shows"]} */
  const shows = [
    ["", texts],
    [says.textContent, picture],
    ["", legend],
    ["", curve],
  ];
  return { name: "circuit", title: "Circuit", shows, palette };
}
