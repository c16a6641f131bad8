// One token against all others, as the sentence itself in shades.

import { colorAt, inkOn, ramp } from "../../core/colors.js";
import { digits, fillOnce, html, select, setAll, svg } from "../../core/dom.js";
import { rowOf } from "../../core/maths.js";
import { argmax } from "../../core/measures.js";
import { WEIGHT_PAIRS, clipped, patternTable } from "../../core/patterns.js";
import { View } from "../view.js";

/** @import { Numbers } from "../../core/maths.js" */
/** @import { Drawing, Shown } from "../../core/patterns.js" */
/** @import { Palette } from "../../core/wire.js" */
/** @import { Microscope } from "../microscope.js" */

const LEAST_WIDTH = 300;
const LEAST_WORD = 24; // pixels of a word's box
const BOX = 32; // pixels of its height: a finger finds it
const LINE = 52; // pixels from a line of words to the next
const GAP = 4;
const STRONG = 0.05; // weight from which a number stands below a word
const FONT = "15px system-ui, sans-serif"; // as in microscope.css

/**
 * Words in shades: a label and a weight each.
 *
 * @typedef {object} Shades
 * @property {string[]} labels
 * @property {Numbers} weights
 * @property {(i: number) => boolean} isMasked
 * @property {number} chosen the word with a frame, or −1
 * @property {(i: number) => void} pick
 */

/** What one token attends to, and what attends to it. */
export class SentenceView extends View {
  /** @type {Shown} */
  #shown;
  /** The query whose row is shown. */
  #token = 0;
  /** In cross-attention, the key whose column is shown; else that of the token. */
  #key = 0;

  /**
   * @param {Microscope} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    this.says = html("p", { class: "hl-caption" });
    this.tokens = html("div", { class: "hl-row" });
    this.parts = [0, 1].map(() => ({
      title: html("h3", { class: "hl-cell-title" }),
      picture: svg("svg", { class: "hl-sentence", role: "img" }),
    }));
    const wide = html("div", { class: "hl-wide" });
    wide.append(this.tokens, this.says);
    for (const { title, picture } of this.parts) wide.append(title, picture);
    host.append(wide);
  }

  /** @override */
  draw() {
    const { head, steps } = this.scope.loaded;
    this.#shown = this.shown(steps.weights, head.mask.values);
    const { kind, rows, values } = this.#shown;
    this.#token = this.#chosen(rows.length - 1);
    this.#key = kind === "self" ? this.#token : argmax(rowOf(values, this.#token));
    /** @type {[number, string][]} */
    const options = rows.map((label, i) => [i, `${i}: ${label}`]);
    fillOnce(this.tokens, options.join(), () => [
      select("Token", options, this.#token, (at) => this.scope.set({ token: Number(at) })),
    ]);
    const list = this.tokens.querySelector("select");
    if (list) list.value = String(this.#token);
    this.says.textContent =
      "Click a word to choose it. The shade is the weight, one scale for both lines; dashed words are masked. Numbers at the three largest and wherever it is at least 0.05.";
    this.#paint();
  }

  /**
   * The chosen token, else the query of the cell in view.
   *
   * @param {number} last
   */
  #chosen(last) {
    const { settings, between } = this.scope;
    if (settings.token != null) return Math.min(settings.token, last);
    const [query] = this.scope.cell();
    const itsWord = settings.words ? between.queries.words?.[query] : undefined;
    return Math.min(itsWord ?? query, last);
  }

  #paint() {
    const { kind, values, rows, columns, hidden } = this.#shown;
    const [token, key] = [this.#token, this.#key];
    /** @type {(i: number, j: number) => boolean} */
    const isMasked = (i, j) => Boolean(hidden[i * values.columns + j]);
    /** @type {(i: number, j: number) => number} */
    const weight = (i, j) => (isMasked(i, j) ? 0 : values.values[i * values.columns + j]);
    const row = Float64Array.from(columns, (_, j) => weight(token, j));
    const column = Float64Array.from(rows, (_, i) => weight(i, key));
    const high = Math.max(...row, ...column) || 1;
    const isSelf = kind === "self";
    /** @param {number} i */
    const choose = (i) => this.scope.set({ token: i });
    /** @param {number} j */
    const chooseKey = (j) => {
      this.#key = j;
      this.#paint();
    };
    this.#title(0, [html("bdi", null, rows[token]), " attends to: its row"], row);
    this.#title(1, ["What attends to ", html("bdi", null, columns[key]), ": its column"], column);
    const ofRow = { labels: columns, weights: row, chosen: isSelf ? token : key };
    const pickKey = { isMasked: (/** @type {number} */ j) => isMasked(token, j) };
    this.#draw(0, { ...ofRow, ...pickKey, pick: isSelf ? choose : chooseKey }, high);
    const ofColumn = { labels: rows, weights: column, chosen: token, pick: choose };
    this.#draw(1, { ...ofColumn, isMasked: (i) => isMasked(i, key) }, high);
    const names = [`${rows[token]} attends to`, `What attends to ${columns[key]}`];
    this.#describe(0, names[0], columns, row);
    this.#describe(1, names[1], rows, column);
  }

  /**
   * @param {number} part
   * @param {(Node | string)[]} words
   * @param {Float64Array} weights
   */
  #title(part, words, weights) {
    const largest = html("small", null, `largest ${digits(Math.max(...weights), 3)}`);
    this.parts[part].title.replaceChildren(...words, largest);
  }

  /**
   * Words in lines as wide as the page, each in the shade of its weight.
   *
   * @param {number} part
   * @param {Shades} shades
   * @param {number} high the weight of the strongest shade
   */
  #draw(part, shades, high) {
    const { palette } = this.scope;
    const { picture } = this.parts[part];
    const { labels, weights, isMasked, chosen, pick } = shades;
    const table = ramp(palette.sequential);
    const top = strongest(weights);
    const width = Math.max(LEAST_WIDTH, (picture.parentElement?.clientWidth ?? 0) - 4);
    const { boxes, height } = placed(labels, width);
    const nodes = boxes.map((box, i) => {
      const color = colorAt(table, weights[i], 0, high);
      const isStrong = weights[i] >= STRONG || (top.includes(i) && weights[i] > 0);
      const number = isStrong ? digits(weights[i], weights[i] < 0.01 ? 3 : 2) : null;
      const look = { color, number, isMasked: isMasked(i), isChosen: i === chosen };
      return svg("g", { class: "hl-word", onclick: () => pick(i) }, word(box, look, palette));
    });
    setAll(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    picture.replaceChildren(...nodes);
  }

  /**
   * @param {number} part
   * @param {string} words
   * @param {string[]} labels
   * @param {Float64Array} weights
   */
  #describe(part, words, labels, weights) {
    const named = strongest(weights).map((i) => `${labels[i]} ${digits(weights[i], 3)}`);
    this.parts[part].picture.setAttribute("aria-label", `${words}: ${named.join("; ")}.`);
  }

  /** @override */
  table() {
    return patternTable(this.#shown);
  }

  /**
   * @override
   * @returns {Drawing[]}
   */
  drawings() {
    return this.parts.map(({ title, picture }) => ({
      caption: title.textContent ?? "",
      drawing: picture,
    }));
  }
}

/**
 * The places of the largest weights, largest first.
 *
 * @param {Numbers} weights
 */
function strongest(weights) {
  const order = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a]);
  return order.slice(0, WEIGHT_PAIRS);
}

/** @typedef {{x: number, y: number, width: number, text: string}} Box */

/**
 * Where words stand, in lines of some width.
 *
 * @param {string[]} labels
 * @param {number} width
 */
function placed(labels, width) {
  let [x, y] = [2, 4];
  /** @type {Box[]} */
  const boxes = labels.map((label) => {
    const text = clipped(label);
    const wide = Math.max(LEAST_WORD, 10 + textWidth(text));
    if (x + wide > width) [x, y] = [2, y + LINE];
    const box = { x, y, width: wide, text };
    x += wide + GAP;
    return box;
  });
  return { boxes, height: y + LINE };
}

/**
 * A word in its box, with its weight below.
 *
 * @param {Box} box
 * @param {{color: string, number: string | null, isMasked: boolean, isChosen: boolean}} look
 * @param {Palette} palette
 */
function word({ x, y, width, text }, { color, number, isMasked, isChosen }, palette) {
  const middle = { x: x + width / 2, "text-anchor": "middle" };
  const line = isChosen
    ? { stroke: palette.frame, "stroke-width": 2.5 }
    : { stroke: palette.line, "stroke-width": 1 };
  const dashes = { "stroke-dasharray": isMasked ? "3 3" : null };
  const small = { class: "hl-small", fill: palette.muted };
  return [
    svg("rect", { x, y, width, height: BOX, rx: 4, fill: color, ...line, ...dashes }),
    svg("text", { ...middle, y: y + 21, fill: inkOn(color) }, text),
    number && svg("text", { ...middle, y: y + 44, ...small }, number),
  ];
}

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** @param {string} text */
function textWidth(text) {
  ruler ??= html("canvas").getContext("2d");
  if (!ruler) return 0;
  ruler.font = FONT;
  return ruler.measureText(text).width;
}
