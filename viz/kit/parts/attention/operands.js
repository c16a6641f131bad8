// One cell taken apart: the query and the key number by number, their products, the row it is in,
// and what flows from the value. Built once for a head's sizes; a hover only changes attributes.

import { colorAt, ramp } from "../../colors.js";
import { digits, html, wordsIn } from "../../dom.js";
import { drawingOf } from "../../export.js";
import { Bars, Strip } from "../../marks/strips.js";
import { isUsualScale, rowOf } from "../../maths.js";
import { lookInWords } from "../../looks.js";
import { reach } from "../../measures.js";
import { whyHidden } from "../../patterns.js";
import { short } from "./formulas.js";

/** @import { HeadArrays, StepName, Steps } from "../../maths.js" */
/** @import { Drawing } from "../../export.js" */
/** @import { Between } from "../../patterns.js" */
/** @import { Head } from "../../run.js" */
/** @import { Palette, Stream } from "../../wire.js" */

const CAPTIONS = {
  query: "query q",
  key: "key k",
  products: "q × k, number by number; their sum is q·k",
  row: "softmax over the row; this cell marked",
  flow: "weight × value v: what flows from this key",
  given: "weight × value in this dimension, key by key; their sum is its z",
};

/** @typedef {{head: HeadArrays, steps: Steps, queries: Stream, keys: Stream}} Opened */
/** @typedef {keyof typeof CAPTIONS} Name */
/** @typedef {{query: number, key: number, dimension: number}} At the cell, and a dimension of z */

export class Operands {
  /** @type {Head | undefined} */
  #loaded;
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
   * @param {Head} loaded
   * @param {Between} between
   * @param {Palette} palette
   * @returns {boolean} whether it was laid out for another head, or in other colours
   */
  open(loaded, between, palette) {
    if (this.#loaded === loaded && this.#palette === palette) return false;
    const { head } = loaded;
    this.#loaded = loaded;
    this.#opened = { ...loaded, ...between };
    this.#palette = palette;
    this.#signed = ramp(palette.diverging);
    this.#parts = makeParts(head);
    if (head.q) {
      this.#vectorReach = Math.max(reach(head.q.values), reach(head.k.values));
      this.#valueReach = reach(head.v.values);
    }
    this.numbers.replaceChildren(...this.#terms().map((term) => this.#numberOf(...term)));
    const figures = Object.entries(this.#parts).map(([name, { node }]) => {
      const caption = html("figcaption", null, CAPTIONS[/** @type {Name} */ (name)]);
      return html("figure", { "data-part": name }, caption, node);
    });
    const n = figures.length > 1 ? 3 : 0; // the numbers follow the vectors that they come from
    this.host.replaceChildren(
      this.title,
      ...figures.slice(0, n),
      this.numbers,
      ...figures.slice(n),
    );
    return true;
  }

  /** A line for each step of the head. @returns {[StepName, Element][]} */
  #terms() {
    const { head, steps } = this.#opened;
    const usual = `÷ √${head.q?.columns}`;
    /** @type {(name: StepName, text: string) => [StepName, Element]} */
    const term = (name, text) => [name, html("dt", { "data-term": name }, text)];
    /** @type {[StepName, Element][]} */
    const terms = [
      term("product", "q·k"),
      term("scaled", head.q && isUsualScale(head) ? usual : `× ${short(head.scale)}`),
      term("biased", "+ bias"),
      term("capped", `cap ${short(head.softcap)}`),
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
    const at = query * head.pattern.columns + key;
    this.host.dataset.stage = stage;
    this.#paint({ query, key, dimension });
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
      html(
        "small",
        null,
        `query ${placed(queries, query)}, key ${placed(keys, key)}${isPinned ? ", pinned" : ""}`,
      ),
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
    if (name === "sunk") return head.sink ?? NaN;
    const { values, columns } = steps[name] ?? steps.weights;
    return values[name === "output" ? query * columns + dimension : at];
  }

  /** @param {At} at */
  #paint({ query, key, dimension }) {
    const { head, steps } = this.#opened;
    const { row, ...vectors } = this.#parts;
    const weights = rowOf(steps.weights, query);
    row.paint(weights, this.#palette, key);
    if (!vectors.query) return;
    const [q, k, v] = [rowOf(head.q, query), rowOf(head.k, key), rowOf(head.v, key)];
    /** @type {(most: number, factor?: number) => (x: number) => string} */
    const within =
      (most, factor = 1) =>
      (x) =>
        colorAt(this.#signed, factor * x, -most, most);
    vectors.query.paint(q, within(this.#vectorReach));
    vectors.key.paint(k, within(this.#vectorReach));
    vectors.products.paint(
      Float64Array.from(q, (x, i) => x * k[i]),
      this.#palette,
    );
    vectors.flow.paint(v, within(this.#valueReach, weights[key]));
    const given = Float64Array.from(weights, (p, j) => p * rowOf(head.v, j)[dimension]);
    vectors.given.paint(given, this.#palette, key);
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
    const isHidden = (/** @type {number} */ i) => !mask.values[i];
    const masked = isHidden(at) ? `masked: ${whyHidden(isHidden, query, key, mask)}, ` : "";
    const weight = `${masked}weight ${digits(weights.values[at])}`;
    const pair = `${queries.labels[query]} attends to ${keys.labels[key]}`;
    this.say(`${pair}: ${scores}${weight}`, isPinned);
  }

  /** What is on screen, by names: the numbers of the cell, and what is drawn of its vectors. */
  read() {
    const figures = Object.entries(this.#parts).map(([name, part]) => [name, part.read()]);
    const terms = [...this.#values].map(([name, node]) => [name, node.previousElementSibling]);
    return {
      ...wordsIn({ title: this.title }),
      terms: wordsIn(Object.fromEntries(terms)),
      numbers: wordsIn(Object.fromEntries(this.#values)),
      parts: Object.fromEntries(figures),
    };
  }

  /**
   * The panel's drawings in sight, each with its caption, for export.
   *
   * @returns {Drawing[]}
   */
  drawings() {
    const all = Object.entries(this.#parts).map(([name, { node }]) => ({
      caption: CAPTIONS[/** @type {Name} */ (name)],
      node,
    }));
    return all
      .filter(({ node }) => node.checkVisibility())
      .map(({ caption, node }) => ({ caption, drawing: drawingOf(node) }));
  }
}

/**
 * A token's number, and who wrote it where that is known.
 *
 * @param {Stream} stream
 * @param {number} at
 */
function placed({ looks }, at) {
  const look = lookInWords(looks?.[at]);
  return look ? `${at} (${look})` : at;
}

/**
 * The drawings of a panel, for a head's sizes; of weights alone there is their row.
 *
 * @param {HeadArrays} head
 */
function makeParts({ q, v, pattern }) {
  const row = new Bars(pattern.columns, false);
  if (!q) return { row };
  return {
    query: new Strip(q.columns),
    key: new Strip(q.columns),
    products: new Bars(q.columns, true),
    row,
    flow: new Strip(v.columns),
    given: new Bars(pattern.columns, true),
  };
}
