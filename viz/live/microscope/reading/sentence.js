// The view of one token, read back from its SVG: the shade of each word, the numbers below them, which
// are masked, and the largest of each line. Nothing here is used to draw.

import { errorOfNumber, saysText } from "../../core/printed.js";
import { Shades, channels } from "../../core/shades.js";
import { truthOfHead } from "./truth.js";

/** @import { Tally } from "../../core/tally.js" */
/** @import { Microscope } from "../microscope.js" */

const STRONG = 0.05; // weight from which a number must stand below a word
const ROUNDING = 1e-5; // how far two runs may be apart in a weight
const LEVELS = 255;
const CHOSEN = 2; // pixels of a frame from which it is that of the chosen word

/**
 * A line of words, and what must be seen on them; `isOut` are hidden by choice.
 *
 * @typedef {object} Line
 * @property {Word[]} words
 * @property {string} largest as it is printed
 * @property {number[]} weights
 * @property {boolean[]} open
 * @property {boolean[]} isOut
 * @property {(string | null)[]} texts
 */

/** @typedef {{box: SVGRectElement, texts: string[], isHatched: boolean}} Word */

/**
 * @param {Microscope} scope
 * @param {{title: HTMLElement, picture: SVGSVGElement}[]} parts what a token attends to, and what
 *   attends to it
 * @param {Tally} tally
 */
export async function readSentence(scope, parts, tally) {
  const { settings, between, palette, group } = scope;
  const title = scope.title.textContent ?? "";
  const truth = await truthOfHead(scope, { title, isInWords: settings.words });
  if (!truth) return tally.hold(false, group.name);
  const { address, weights, open, rows, columns } = truth;
  const [ofRow, ofColumn] = parts.map(({ picture }) => wordsOf(picture));
  const [key, query] = [ofRow, ofColumn].map(chosenIn);
  const isThere = Boolean(weights[query]) && key >= 0 && key < columns.length;
  tally.hold(
    isThere && ofRow.length === columns.length && ofColumn.length === rows.length,
    address,
  );
  if (Number.isNaN(tally.error)) return;
  const isFirstOut = settings.hide_first && between.kind === "self";
  const named = parts.map(({ title: node }) => node.querySelector("bdi")?.textContent ?? "");
  tally.hold(saysText(named[0], rows[query]) && saysText(named[1], columns[key]), address);
  const [first, second] = parts.map(({ title: node }) => largestIn(node));
  /** @type {Line} */
  const row = {
    ...{ words: ofRow, largest: first, texts: columns },
    weights: weights[query].map((p, j) => (open[query][j] ? p : 0)),
    open: open[query],
    isOut: columns.map((_, j) => isFirstOut && j === 0),
  };
  /** @type {Line} */
  const column = {
    ...{ words: ofColumn, largest: second, texts: rows },
    weights: weights.map((from, i) => (open[i][key] ? from[key] : 0)),
    open: open.map((from) => from[key]),
    isOut: rows.map(() => isFirstOut && key === 0),
  };
  const high = Math.max(0, ...seen(row), ...seen(column)) || 1;
  const shades = new Shades(palette.sequential);
  for (const line of [row, column]) readLine(tally, line, { shades, high, address });
}

/**
 * The weights that are not hidden by choice.
 *
 * @param {Pick<Line, "weights" | "isOut">} line
 */
function seen({ weights, isOut }) {
  return weights.filter((_, i) => !isOut[i]);
}

/**
 * @param {SVGSVGElement} picture
 * @returns {Word[]}
 */
function wordsOf(picture) {
  return Array.from(picture.querySelectorAll(".hl-word"), (node) => ({
    box: /** @type {SVGRectElement} */ (node.querySelector("rect")),
    texts: Array.from(node.querySelectorAll("text"), ({ textContent }) => textContent ?? ""),
    isHatched: node.querySelector("path") !== null,
  }));
}

/** @param {Word[]} words */
function chosenIn(words) {
  return words.findIndex(({ box }) => Number(box.getAttribute("stroke-width")) > CHOSEN);
}

/** @param {HTMLElement} title */
function largestIn(title) {
  return title.querySelector("[data-number=largest]")?.textContent ?? "";
}

/**
 * @param {Tally} tally
 * @param {Line} line
 * @param {{shades: Shades, high: number, address: string}} of
 */
function readLine(tally, line, { shades, high, address }) {
  const { words, largest, weights, open, isOut, texts } = line;
  words.forEach(({ box, texts: [label = "", number = ""], isHatched }, i) => {
    const level = isOut[i] ? 0 : (LEVELS * weights[i]) / high;
    const [red, green, blue] = channels(box.getAttribute("fill") ?? "");
    const off = shades.errorOf(red, green, blue, level);
    tally.add((off / LEVELS) * high, address);
    tally.hold(box.hasAttribute("stroke-dasharray") !== open[i], address);
    tally.hold(isHatched === isOut[i] && saysText(label, texts[i]), address);
    const isMissing = !number && !isOut[i] && weights[i] >= STRONG + ROUNDING;
    tally.add(number ? errorOfNumber(number, weights[i]) : isMissing ? NaN : 0, address);
  });
  const all = seen(line);
  if (all.length) tally.add(errorOfNumber(largest, Math.max(...all)), address);
}
