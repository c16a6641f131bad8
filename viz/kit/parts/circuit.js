// A circuit: which part's term is read where, on the way from the words to an answer. Python gives the
// edges and what they keep; here they are drawn, chosen and followed.

import { button, check, digits, html, moveSlider, radios, wordsIn, slider, svg } from "../dom.js";
import { pictureMenu } from "../export.js";
import { Instrument, partOf } from "../instrument.js";
import { roomInSight } from "../wall.js";
import { drawShares } from "./circuit/curve.js";
import { NEEDS, dataOf } from "./circuit/edges.js";
import { byEffect, edgeText, graphOf, readerOf, waysOf, writerOf } from "./circuit/graph.js";
import { drawCircuit, legendOf, shownOf } from "./circuit/picture.js";
import { EdgePanel, edgeList, partWords, readPart, readRows, wayList } from "./circuit/side.js";
import { answerName, keptWords, textsOf, wayName } from "./circuit/words.js";

/** @import { Place } from "../instrument.js" */
/** @import { InstrumentData, Looks } from "../wire.js" */
/** @import { SentEdge } from "./circuit/edges.js" */
/** @import { Edge, Line, Node } from "./circuit/graph.js" */

/** @typedef {Edge & {id: string, cut: [string, number, number][] | null}} DrawnEdge */

/**
 * @typedef {object} CircuitFields
 * @property {string[]} labels
 * @property {string[]} axis
 * @property {Looks} looks
 * @property {string[]} other
 * @property {[string[], string[]]} tokens of both texts as they are written
 * @property {string} answer
 * @property {string} against
 * @property {number} of_first
 * @property {number} n_layers
 * @property {number} n_heads
 * @property {number} n_all
 * @property {number} n_kept
 * @property {{n: number, edges: SentEdge[]}} strongest
 * @property {{n: number, edges: SentEdge[], share: number, is_done: boolean} | null} pruned
 * @property {boolean} can_prune where Python does it when it is asked to
 * @property {{sizes: number[], shares: number[]}} curve
 * @property {number | null} correlation
 * @property {number[][]} heads layer and head of each
 * @property {{edges: number, edge: string, which: string}} settings
 */

/** @typedef {InstrumentData & CircuitFields} CircuitData */

const SHARED = [
  "What both texts share is not in the picture: exchange another word to see it.",
  "Effects do not add up: of a way each edge counts the whole.",
  "Another set of edges may do as well, and F may leave 0 to 1 where edges work against each other.",
];

const MOST_WAYS = 12;
const NARROW = 860; // pixels, below which all stands in one column
const HEIGHT = { least: 300, most: 600, foot: 56 }; // pixels of the picture; below it the legend

/** @extends {Instrument<CircuitData>} */
export class Circuit extends Instrument {
  /** @override */
  static needs = NEEDS;
  /** The way that is followed, or none. */
  way = -1;
  /** @type {Set<string>} */
  #unfolded = new Set();
  #hasPlayed = false;

  /** @param {Place} place */
  constructor(place) {
    super(place);
    this.texts = html("div", { class: "hl-texts" });
    this.says = html("p", { class: "hl-circuit-says", role: "status" });
    this.controls = this.#controls();
    this.curve = svg("svg", { class: "hl-curve", role: "img" });
    this.picture = svg("svg", { class: "hl-circuit", role: "group" });
    this.host = html("div", { class: "hl-circuit-host", tabindex: "0" }, this.picture);
    this.legend = html("p", { class: "hl-caption hl-circuit-legend" });
    this.chosen = html("section", { class: "hl-circuit-chosen", "aria-label": "Chosen" });
    this.panel = new EdgePanel(this);
    this.ways = html("section", { "aria-label": "Strongest ways" });
    this.list = html("section", { "aria-label": "Edges" });
    const row = html("div", { class: "hl-row" }, ...Object.values(this.controls));
    const foot = html("div", { class: "hl-circuit-foot" }, this.legend);
    foot.append(pictureMenu(() => shownOf(this), this.says));
    const shared = html(
      "details",
      { class: "hl-caption" },
      html("summary", null, "How to read it"),
    );
    shared.append(html("p", null, SHARED.join(" ")));
    const left = html("div", { class: "hl-main" }, row, this.host, foot, shared);
    const about = [this.says, this.curve, this.texts, this.chosen, this.ways];
    const right = html("div", { class: "hl-main" }, ...about);
    this.root.replaceChildren(html("div", { class: "hl-both" }, left, right, this.list));
    this.lifetime.watchSize(this.host, () => this.data && this.#draw());
  }

  #controls() {
    const kinds = [
      { name: "strongest", text: "strongest" },
      { name: "pruned", text: "after removal" },
    ];
    const sizeAt = (/** @type {number} */ i) => this.data?.curve.sizes[i] ?? 0;
    const field = {
      bounds: { low: 0, high: 1, step: 1 },
      value: 0,
      show: (/** @type {number} */ i) => sizeAt(i).toLocaleString("en"),
    };
    return {
      radio: radios("which", "Edges", kinds, "strongest", (which) => this.#choose(which)),
      number: slider("Strongest edges", field, (i) => this.#take(sizeAt(i))),
      play: button("Play", () => this.play()),
      fold: button("Fold chains", () => this.#fold()),
    };
  }

  /**
   * What Python says, with the numbers of its arrays.
   *
   * @override
   */
  get spec() {
    return dataOf(super.spec, this.arrays);
  }

  /** Whether what removal leaves is shown. */
  get isPruned() {
    return Boolean(this.data.pruned) && this.settings.which === "pruned";
  }

  /** How many of the strongest edges are looked at: a number that was run, where there are such. */
  get k() {
    const { sizes } = this.data.curve;
    return sizes.filter((size) => size <= this.settings.edges).at(-1) ?? this.settings.edges;
  }

  /** The edges that are drawn, the strongest estimate first. @returns {DrawnEdge[]} */
  get edges() {
    const { pruned, strongest } = this.data;
    const shown = this.isPruned && pruned ? pruned : strongest;
    const k = this.isPruned ? Infinity : this.k;
    return shown.edges.slice(0, k).map((edge) => ({ ...edge, isWhole: edge.from <= k }));
  }

  /** @override */
  redraw() {
    const { texts, data } = this;
    texts.replaceChildren(...textsOf(data));
    this.#drawControls();
    this.#draw();
    const areExact = data.strongest.edges.every(({ isExact }) => isExact);
    const isDone = areExact && data.curve.sizes.at(-1) === data.n_kept;
    if (isDone && !this.#hasPlayed) this.play();
  }

  /** From the words to the answer, once. */
  play() {
    this.#hasPlayed = true;
    this.picture.classList.remove("hl-plays");
    this.picture.getBoundingClientRect(); // so that it begins again
    this.picture.classList.add("hl-plays");
  }

  /** @param {string} edge or part; what is chosen already is let go */
  pick(edge) {
    this.way = -1;
    this.set({ edge: this.settings.edge === edge ? "" : edge });
    this.model.save_changes();
    if (this.root.clientWidth < NARROW) this.chosen.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} way */
  follow(way) {
    this.way = this.way === way ? -1 : way;
    this.set({ edge: "" });
  }

  #drawControls() {
    const { curve, pruned, can_prune } = this.data;
    const { radio, number, play, fold } = this.controls;
    radio.hidden = !pruned && !can_prune;
    check(radio, this.settings.which);
    const soFar = pruned && !pruned.is_done ? " so far" : "";
    const [, second] = radio.querySelectorAll("label span");
    second.textContent = `after removal${pruned ? `: ${pruned.n} left${soFar}` : ""}`;
    number.hidden = this.isPruned || !curve.sizes.length;
    const [value, words] = [curve.sizes.indexOf(this.k), this.k.toLocaleString("en")];
    moveSlider(number, value, { words, high: Math.max(1, curve.sizes.length - 1) });
    play.hidden = !this.edges.length;
    fold.hidden = !this.#unfolded.size;
    const share = this.isPruned ? pruned?.share : curve.shares[value];
    const n = this.isPruned ? (pruned?.n ?? 0) : this.k;
    this.says.replaceChildren(...keptWords(this, n, share));
    drawShares(this.curve, curve, this.isPruned ? null : this.k, this.palette);
  }

  /** @param {string} which */
  #choose(which) {
    this.way = -1;
    this.set({ which, edge: "" });
    this.model.save_changes();
  }

  /** @param {number} edges */
  #take(edges) {
    this.way = -1;
    this.set({ edges });
    this.#letGo();
  }

  #fold() {
    this.#unfolded.clear();
    this.redraw();
    this.#letGo();
  }

  /** What is chosen and no longer drawn is chosen no more. */
  #letGo() {
    if (this.settings.edge && this.chosen.hidden) this.set({ edge: "" });
  }

  #draw() {
    const { data, palette, edges, settings } = this;
    const graph = graphOf(edges, data, this.#unfolded);
    const ways = waysOf(edges, data, MOST_WAYS);
    const lit = this.#lit(edges, graph.nodes, ways);
    const ends = new Set(
      [...(lit ?? [])].flatMap(({ at }) => [writerOf(at, data), readerOf(at)].map(graph.drawnAs)),
    );
    const isLit = (/** @type {Line} */ line) => !lit || line.edges.some((edge) => lit.has(edge));
    const size = { width: this.host.clientWidth - 2, height: this.#height };
    this.host.style.minHeight = `${size.height}px`; // nothing below moves as edges come and go
    const isNodeLit = (/** @type {Node} */ { id }) => !lit || ends.has(id) || id === settings.edge;
    const acts = {
      pickLine: (/** @type {Line} */ line) => this.pick(edgeText(line.edges[0].at)),
      pickNode: (/** @type {Node} */ one) => this.#pickNode(one),
    };
    const isFirst = !this.shown;
    this.shown = drawCircuit(this.picture, graph, {
      data,
      palette,
      ...size,
      isLit,
      isNodeLit,
      ...acts,
    });
    if (isFirst) this.host.scrollLeft = this.host.scrollWidth; // the answer in sight
    this.picture.classList.remove("hl-plays");
    this.picture.setAttribute("aria-label", this.#inWords(edges, ways));
    const hasEstimates = edges.some(({ isExact }) => !isExact);
    this.legend.replaceChildren(
      ...legendOf(palette, hasEstimates).map((entry) => html("span", null, entry)),
    );
    this.#drawChosen(edges, graph.nodes);
    this.#drawLists(edges, ways);
  }

  /** Pixels that the picture may be high to be in sight whole. */
  get #height() {
    const free = roomInSight(this.host) - HEIGHT.foot;
    return Math.min(HEIGHT.most, Math.max(HEIGHT.least, Math.round(free)));
  }

  /**
   * The edges that are lit alone: those of the way, the part or the edge that is chosen.
   *
   * @param {DrawnEdge[]} edges
   * @param {Node[]} nodes
   * @param {DrawnEdge[][]} ways
   */
  #lit(edges, nodes, ways) {
    const { edge: id } = this.settings;
    if (ways[this.way]) return new Set(/** @type {Edge[]} */ (ways[this.way]));
    const edge = edges.find((one) => one.id === id);
    if (edge) return new Set(/** @type {Edge[]} */ ([edge]));
    const one = nodes.find((node) => node.id === id);
    return one
      ? new Set(/** @type {Edge[]} */ (Object.values(this.#edgesOf(one, edges)).flat()))
      : null;
  }

  /**
   * @param {Node} one
   * @param {DrawnEdge[]} edges
   */
  #edgesOf(one, edges) {
    const isIn = (/** @type {Node} */ { kind, layer, head, token }) =>
      kind === one.kind &&
      token === one.token &&
      head === one.head &&
      layer >= one.layer &&
      layer <= one.last;
    const [into, from] = [readerOf, writerOf].map((end) =>
      edges.filter(({ at }) => isIn(end(at, this.data))),
    );
    return { reads: into.sort(byEffect), writes: from.sort(byEffect) };
  }

  /** @param {Node} one */
  #pickNode(one) {
    if (one.last > one.layer) this.#unfolded.add(one.id);
    if (one.last > one.layer) this.redraw();
    else this.pick(one.id);
  }

  /**
   * @param {DrawnEdge[]} edges
   * @param {Node[]} nodes
   */
  #drawChosen(edges, nodes) {
    const { edge: id } = this.settings;
    const edge = edges.find((one) => one.id === id);
    const one = nodes.find((node) => node.id === id);
    this.chosen.hidden = !edge && !one;
    if (edge) {
      this.chosen.replaceChildren(this.panel.node);
      this.panel.show(edge);
    } else if (one) this.chosen.replaceChildren(...partWords(this, one, this.#edgesOf(one, edges)));
  }

  /**
   * @param {DrawnEdge[]} edges
   * @param {DrawnEdge[][]} ways
   */
  #drawLists(edges, ways) {
    const { correlation } = this.data;
    const rho =
      correlation === null
        ? ""
        : ` Rank correlation of estimate and exact: ${digits(correlation, 3)}.`;
    this.ways.replaceChildren(
      html("h3", null, "Strongest ways"),
      html(
        "p",
        { class: "hl-caption" },
        "A way is as strong as its weakest edge, given beside it.",
      ),
      wayList(this, ways),
    );
    this.list.replaceChildren(
      html("h3", null, `${edges.length} edges`),
      html("p", { class: "hl-caption" }, `What the answer loses without one.${rho}`),
      edgeList(this, [...edges].sort(byEffect)),
    );
  }

  /**
   * @param {DrawnEdge[]} edges
   * @param {DrawnEdge[][]} ways
   */
  #inWords(edges, ways) {
    const first = ways.length
      ? wayName(
          this.data,
          ways[0].map(({ at }) => at),
        )
      : "none is whole";
    return `Circuit of ${answerName(this.data)}: ${edges.length} edges, the strongest way: ${first}. All edges are in the list below.`;
  }

  /** What is drawn, by names. */
  read() {
    const { texts, says, curve, legend, picture, chosen, list, ways, panel } = this;
    const isEdge = chosen.contains(panel.node);
    const { radio: which, number, fold } = this.controls;
    return {
      ...wordsIn({ texts, says, curve, legend, picture, which, number, fold }),
      ...this.shown,
      edges: readRows(list),
      ways: readRows(ways),
      chosen: chosen.hidden ? null : isEdge ? panel.read() : readPart(chosen),
    };
  }
}

export default partOf("circuit", Circuit);
