// One cell taken apart: the query and the key number by number, their products, the row it is in,
// and what flows from the value. Built once for a head's sizes; a hover only changes attributes.

import { colorAt, ramp } from "../../colors.js";
import { digits, html, svg } from "../../dom.js";
import { isUsualScale, rowOf } from "../../maths.js";
import { reach } from "../../measures.js";
import { COMES_LATER, isLater } from "../../patterns.js";
import { numberText, scaleText } from "./formulas.js";

/** @import { HeadArrays, Numbers, StepName, Steps } from "../../maths.js" */
/** @import { Drawing } from "../../patterns.js" */
/** @import { Palette, Stream } from "../../wire.js" */

const WIDTH = 400;
const STRIP = 16;
const BARS = 46;
const CAPTIONS = {
  query: "query q",
  key: "key k",
  products: "q × k, number by number; their sum is q·k",
  row: "softmax over the row; this cell marked",
  flow: "weight × value v: what flows from this key",
  given: "weight × value in this dimension, key by key; their sum is its z",
};

/** @typedef {{head: HeadArrays, steps: Steps, queries: Stream, keys: Stream}} Opened */

export class Operands {
  /** @type {Opened} */
  #opened;
  /** @type {Palette} */
  #palette;
  /** Colours of signed numbers. @type {ReturnType<typeof ramp>} */
  #signed;
  /** How far the numbers of q and k, and those of v, reach. */
  #vectorReach = 1;
  #valueReach = 1;
  /** @type {ReturnType<typeof makeParts>} */
  #parts;
  /** @type {Map<StepName, HTMLElement>} */
  #values = new Map();

  /**
   * @param {HTMLElement} host
   * @param {(words: string, isAloud: boolean) => void} say
   */
  constructor(host, say) {
    this.host = host;
    this.say = say;
    this.title = html("h3", { class: "hl-cell-title" });
    this.numbers = html("dl", { class: "hl-numbers" });
    this.maskTerm = html("dt", { "data-term": "masked" }, "mask");
    this.sinkTerm = html("dt", { "data-term": "sunk" });
    this.outputTerm = html("dt", { "data-term": "output" });
  }

  /**
   * Lay out the panel for a head.
   *
   * @param {Opened} opened
   * @param {Palette} palette
   */
  open(opened, palette) {
    const { head } = opened;
    this.#opened = opened;
    this.#palette = palette;
    this.#signed = ramp(palette.diverging);
    this.#vectorReach = Math.max(reach(head.q.values), reach(head.k.values));
    this.#valueReach = reach(head.v.values);
    this.#parts = makeParts(head);
    this.numbers.replaceChildren(...this.#terms().map((term) => this.#numberOf(...term)));
    const { query, key, products, row, flow, given } = this.#parts;
    this.host.replaceChildren(
      this.title,
      ...[figure("query", query), figure("key", key), figure("products", products)],
      this.numbers,
      ...[figure("row", row), figure("flow", flow), figure("given", given)],
    );
  }

  /** A line for each step of the head. @returns {[StepName, Element][]} */
  #terms() {
    const { head, steps } = this.#opened;
    const usual = `÷ √${head.q.columns}`;
    /** @type {(name: StepName, text: string) => [StepName, Element]} */
    const term = (name, text) => [name, html("dt", { "data-term": name }, text)];
    /** @type {[StepName, Element][]} */
    const terms = [
      term("product", "q·k"),
      term("scaled", isUsualScale(head) ? usual : `× ${scaleText(head)}`),
      term("biased", "+ bias"),
      term("capped", `cap ${numberText(head.softcap)}`),
      ["masked", this.maskTerm],
      ["sunk", this.sinkTerm],
      term("weights", "softmax"),
      ["output", this.outputTerm],
    ];
    return terms.filter(([name]) => name in steps);
  }

  /**
   * @param {StepName} name
   * @param {Element} term
   */
  #numberOf(name, term) {
    const value = html("dd", { "data-number": name });
    this.#values.set(name, value);
    return html("div", { "data-step": name }, term, value);
  }

  /**
   * Show the numbers of one cell.
   *
   * @param {number} query
   * @param {number} key
   * @param {{isPinned: boolean, stage: StepName, dimension: number}} how `dimension` is the one of z
   *   to spell out
   */
  show(query, key, { isPinned, stage, dimension }) {
    const { head, steps, queries, keys } = this.#opened;
    const at = query * head.k.rows + key;
    this.host.dataset.stage = stage;
    this.#paint(query, key, dimension);
    for (const [name, node] of this.#values) {
      node.textContent = digits(this.#valueOf(name, query, at, dimension));
      node.parentElement?.classList.toggle("hl-now", name === stage);
    }
    const shared = rowOf(steps.weights, query).reduce((sum, p) => sum + p, 0);
    this.sinkTerm.textContent = `sink’s score (share ${digits(1 - shared, 3)})`;
    this.outputTerm.textContent = `z[${dimension}]`;
    this.maskTerm.textContent = head.mask.values[at] ? "mask: open" : "mask: hidden";
    this.title.replaceChildren(
      html("bdi", null, queries.labels[query]),
      " → ",
      html("bdi", null, keys.labels[key]),
      html("small", null, `query ${query}, key ${key}${isPinned ? ", pinned" : ""}`),
    );
    this.#describe(query, key, at, isPinned);
  }

  /**
   * @param {StepName} name
   * @param {number} query
   * @param {number} at the cell, counted through
   * @param {number} dimension
   * @returns {number}
   */
  #valueOf(name, query, at, dimension) {
    const { head, steps } = this.#opened;
    if (name === "output") return rowOf(steps.output, query)[dimension];
    return (name === "sunk" ? head.sink?.values[0] : steps[name]?.values[at]) ?? NaN;
  }

  /**
   * @param {number} query
   * @param {number} key
   * @param {number} dimension
   */
  #paint(query, key, dimension) {
    const { head, steps } = this.#opened;
    const parts = this.#parts;
    const palette = this.#palette;
    const [q, k, v] = [rowOf(head.q, query), rowOf(head.k, key), rowOf(head.v, key)];
    const weights = rowOf(steps.weights, query);
    /** @type {(x: number, most: number) => string} */
    const within = (x, most) => colorAt(this.#signed, x, -most, most);
    parts.query.paint(q, (x) => within(x, this.#vectorReach));
    parts.key.paint(k, (x) => within(x, this.#vectorReach));
    const products = Float64Array.from(q, (x, i) => x * k[i]);
    parts.products.paint(products, palette);
    parts.row.paint(weights, palette, key);
    parts.flow.paint(v, (x) => within(weights[key] * x, this.#valueReach));
    const given = Float64Array.from(weights, (p, j) => p * rowOf(head.v, j)[dimension]);
    parts.given.paint(given, palette, key);
  }

  /**
   * @param {number} query
   * @param {number} key
   * @param {number} at
   * @param {boolean} isPinned
   */
  #describe(query, key, at, isPinned) {
    const { head, queries, keys } = this.#opened;
    const { product, scaled, weights } = this.#opened.steps;
    const scores =
      product && scaled
        ? `q·k ${digits(product.values[at])}, scaled ${digits(scaled.values[at])}, `
        : "";
    const { mask } = head;
    const why = isLater((i) => !mask.values[i], query, key, mask) ? COMES_LATER : "masked";
    const masked = mask.values[at] ? "" : `${why}, `;
    const weight = `${masked}weight ${digits(weights.values[at])}`;
    const pair = `${queries.labels[query]} attends to ${keys.labels[key]}`;
    this.say(`${pair}: ${scores}${weight}`, isPinned);
  }

  /**
   * The panel's drawings in sight, each with its caption, for export.
   *
   * @returns {Drawing[]}
   */
  drawings() {
    const figures = Object.entries(CAPTIONS).map(([name, caption]) => ({
      caption,
      drawing: this.#parts[/** @type {keyof typeof CAPTIONS} */ (name)].node,
    }));
    return figures.filter(({ drawing }) => drawing.getBoundingClientRect().height > 0);
  }
}

/**
 * The drawings of a panel, for a head's sizes.
 *
 * @param {HeadArrays} head
 */
function makeParts({ q, k, v }) {
  return {
    query: new Strip(q.columns),
    key: new Strip(q.columns),
    products: new Bars(q.columns, true),
    row: new Bars(k.rows, false),
    flow: new Strip(v.columns),
    given: new Bars(k.rows, true),
  };
}

/**
 * @param {keyof typeof CAPTIONS} name
 * @param {Strip | Bars} part
 */
function figure(name, { node }) {
  return html("figure", { "data-part": name }, html("figcaption", null, CAPTIONS[name]), node);
}

/**
 * @param {number} height
 * @param {Element[]} children
 */
function wide(height, ...children) {
  const look = { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", height };
  return svg("svg", { ...look, "aria-hidden": "true" }, children);
}

/** A vector as a row of coloured cells. */
class Strip {
  /** @param {number} size */
  constructor(size) {
    const width = WIDTH / size;
    this.cells = Array.from({ length: size }, (_, i) =>
      svg("rect", { x: i * width, y: 0, width: width + 0.3, height: STRIP }),
    );
    this.node = wide(STRIP, ...this.cells);
  }

  /**
   * @param {Numbers} values
   * @param {(value: number) => string} color
   */
  paint(values, color) {
    this.cells.forEach((cell, i) => cell.setAttribute("fill", color(values[i])));
  }
}

/** Numbers as bars, from a line in the middle when they are signed; drawn as one path each colour. */
class Bars {
  /**
   * @param {number} size how many
   * @param {boolean} signed
   */
  constructor(size, signed) {
    this.size = size;
    this.signed = signed;
    this.base = signed ? BARS / 2 : BARS;
    this.paths = { up: svg("path"), down: svg("path"), marked: svg("path") };
    const { base } = this;
    this.line = svg("line", { x1: 0, x2: WIDTH, y1: base, y2: base, "stroke-width": 1 });
    this.node = wide(BARS, ...Object.values(this.paths), this.line);
  }

  /**
   * @param {Numbers} values
   * @param {Palette} palette
   * @param {number} [marked] the bar to mark
   */
  paint(values, palette, marked = -1) {
    const drawn = this.#draw(values, marked);
    const high = palette.diverging.at(-1) ?? palette.accent;
    const [low] = palette.diverging;
    const fills = this.signed
      ? { up: high, down: low, marked: palette.frame }
      : { up: palette.muted, down: low, marked: palette.accent };
    for (const kind of /** @type {const} */ (["up", "down", "marked"])) {
      this.paths[kind].setAttribute("d", drawn[kind]);
      this.paths[kind].setAttribute("fill", fills[kind]);
    }
    this.line.setAttribute("stroke", palette.line);
  }

  /**
   * @param {Numbers} values
   * @param {number} marked
   */
  #draw(values, marked) {
    const drawn = { up: "", down: "", marked: "" };
    const most = this.signed ? reach(values) : 1;
    const room = this.signed ? BARS / 2 - 2 : BARS - 2;
    const width = WIDTH / this.size;
    for (let i = 0; i < this.size; i++) {
      const height = (values[i] / most) * room;
      const kind = i === marked ? "marked" : height < 0 ? "down" : "up";
      const least = i === marked && Math.abs(height) < 1.5 ? 1.5 : height;
      const x = i * width + width * 0.1;
      drawn[kind] +=
        `M${x.toFixed(2)} ${this.base}v${(-least).toFixed(2)}h${(width * 0.8).toFixed(2)}V${this.base}z`;
    }
    return drawn;
  }
}
