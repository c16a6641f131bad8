// One token against all others, as the sentence itself in shades.

import { colorAt, inkOn, ramp } from "../../../colors.js";
import { digits, fillOnce, html, select, setAll, svg, numbered } from "../../../dom.js";
import { rowOf } from "../../../maths.js";
import { argmax } from "../../../measures.js";
import {
  FIRST_ASIDE,
  FIRST_HIDDEN,
  WEIGHT_PAIRS,
  clipped,
  patternTable,
} from "../../../patterns.js";
import { View } from "../view.js";

/** @import { Numbers } from "../../../maths.js" */
/** @import { Drawing, Shown } from "../../../patterns.js" */
/** @import { Palette } from "../../../wire.js" */
/** @import { Attention } from "../../attention.js" */

const LEAST_WIDTH = 300;
const LEAST_WORD = 24; // pixels of a word's box
const BOX = 32; // pixels of its height: a finger finds it
const LINE = 52; // pixels from a line of words to the next
const GAP = 4;
const HATCH = 8; // pixels from a stroke to the next
const STRONG = 0.05; // weight from which a number stands below a word
const FONT = "15px system-ui, sans-serif"; // as in microscope.css

const SAYS =
  "Click a word to choose it. The shade is the weight, one scale for both lines; dashed words are masked. Numbers at the three largest and wherever it is at least 0.05.";

/**
 * Words in shades: a label and a weight each.
 *
 * @typedef {object} Shades
 * @property {string[]} labels
 * @property {Numbers} weights
 * @property {(i: number) => boolean} isMasked
 * @property {(i: number) => boolean} isBlank hidden by choice
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
   * @param {Attention} scope
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
    this.says.textContent = SAYS + (this.#shown.blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "");
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
    const { kind, values, rows, columns, hidden, blank } = this.#shown;
    const [token, key] = [this.#token, this.#key];
    /** @type {(i: number, j: number) => boolean} */
    const isMasked = (i, j) => Boolean(hidden[i * values.columns + j]);
    /** @type {(i: number, j: number) => boolean} */
    const isBlank = (i, j) => Boolean(blank[i * values.columns + j]);
    /** @type {(i: number, j: number) => number} */
    const weight = (i, j) => (isMasked(i, j) ? 0 : values.values[i * values.columns + j]);
    const row = Float64Array.from(columns, (_, j) => weight(token, j));
    const column = Float64Array.from(rows, (_, i) => weight(i, key));
    const isSelf = kind === "self";
    /** @param {number} i */
    const choose = (i) => this.scope.set({ token: i });
    /** @param {number} j */
    const chooseKey = (j) => {
      this.#key = j;
      this.#paint();
    };
    /** @type {Shades} */
    const ofRow = {
      ...{ labels: columns, weights: row, chosen: isSelf ? token : key },
      isMasked: (j) => isMasked(token, j),
      isBlank: (j) => isBlank(token, j),
      pick: isSelf ? choose : chooseKey,
    };
    /** @type {Shades} */
    const ofColumn = {
      ...{ labels: rows, weights: column, chosen: token, pick: choose },
      isMasked: (i) => isMasked(i, key),
      isBlank: (i) => isBlank(i, key),
    };
    const high = Math.max(0, ...visible(ofRow), ...visible(ofColumn)) || 1;
    this.#title(0, [html("bdi", null, rows[token]), " attends to: its row"], ofRow);
    const ofKey = ["What attends to ", html("bdi", null, columns[key]), ": its column"];
    this.#title(1, ofKey, ofColumn);
    this.#draw(0, ofRow, high);
    this.#draw(1, ofColumn, high);
    this.#describe(0, `${rows[token]} attends to`, ofRow);
    this.#describe(1, `What attends to ${columns[key]}`, ofColumn);
  }

  /**
   * @param {number} part
   * @param {(Node | string)[]} words
   * @param {Shades} shades
   */
  #title(part, words, shades) {
    const most = Math.max(...visible(shades));
    const isHidden = most === -Infinity; // the column of the hidden token
    const said = isHidden
      ? ["hidden by choice"]
      : [`largest${asideOf(shades)} `, numbered(most, "largest", 3)];
    const largest = html("small", null, said);
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
    const { labels, weights, isMasked, isBlank, chosen, pick } = shades;
    const table = ramp(palette.sequential);
    const top = strongest(shades);
    const width = Math.max(LEAST_WIDTH, (picture.parentElement?.clientWidth ?? 0) - 4);
    const { boxes, height } = placed(labels, width);
    const nodes = boxes.map((box, i) => {
      const color = colorAt(table, isBlank(i) ? 0 : weights[i], 0, high);
      const isStrong = weights[i] >= STRONG || (top.includes(i) && weights[i] > 0);
      const isOut = isBlank(i);
      const number = isStrong && !isOut ? digits(weights[i], weights[i] < 0.01 ? 3 : 2) : null;
      const marks = { isOut, isMasked: isMasked(i), isChosen: i === chosen };
      const look = { color, number, ...marks };
      return svg("g", { class: "hl-word", onclick: () => pick(i) }, word(box, look, palette));
    });
    setAll(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    picture.replaceChildren(...nodes);
  }

  /**
   * @param {number} part
   * @param {string} words
   * @param {Shades} shades
   */
  #describe(part, words, shades) {
    const { labels, weights, isMasked } = shades;
    const named = strongest(shades).map(
      (i) => `${labels[i]} ${isMasked(i) ? "masked" : digits(weights[i], 3)}`,
    );
    const said = named.length ? named.join("; ") : "hidden by choice";
    this.parts[part].picture.setAttribute("aria-label", `${words}${asideOf(shades)}: ${said}.`);
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
 * The places of the largest weights that are not hidden by choice, largest first.
 *
 * @param {Shades} shades
 */
function strongest({ weights, isBlank }) {
  const order = Array.from(weights.keys()).filter((i) => !isBlank(i));
  return order.sort((a, b) => weights[b] - weights[a]).slice(0, WEIGHT_PAIRS);
}

/**
 * The weights that are not hidden by choice.
 *
 * @param {Shades} shades
 */
function visible({ weights, isBlank }) {
  return Array.from(weights).filter((_, i) => !isBlank(i));
}

/**
 * What is left out where the largest is looked for.
 *
 * @param {Shades} shades
 */
function asideOf({ weights, isBlank }) {
  const n = Array.from(weights).filter((_, i) => isBlank(i)).length;
  return n && n < weights.length ? FIRST_ASIDE : "";
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
 * @param {{color: string, number: string | null, isMasked: boolean, isOut: boolean,
 *   isChosen: boolean}} look
 * @param {Palette} palette
 */
function word({ x, y, width, text }, look, palette) {
  const { color, number, isMasked, isOut, isChosen } = look;
  const from = { "data-number": "weight" };
  const middle = { x: x + width / 2, "text-anchor": "middle" };
  const line = isChosen
    ? { stroke: palette.frame, "stroke-width": 2.5 }
    : { stroke: palette.line, "stroke-width": 1 };
  const dashes = { "stroke-dasharray": isMasked ? "3 3" : null };
  const small = { class: "hl-small", fill: palette.muted };
  return [
    svg("rect", { x, y, width, height: BOX, rx: 4, fill: color, ...line, ...dashes }),
    isOut ? svg("path", { d: hatchOf(x, y, width), stroke: palette.hatch }) : null,
    svg("text", { ...middle, y: y + 21, fill: inkOn(color) }, text),
    number && svg("text", { ...middle, y: y + 44, ...small, ...from }, number),
  ];
}

/**
 * Strokes across a box.
 *
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
function hatchOf(x, y, width) {
  let path = "";
  for (let at = HATCH - BOX; at < width; at += HATCH) {
    const [left, right] = [Math.max(at, 0), Math.min(at + BOX, width)];
    path += `M${x + left} ${y + BOX - left + at}L${x + right} ${y + BOX - right + at}`;
  }
  return path;
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
