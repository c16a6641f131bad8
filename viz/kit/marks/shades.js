// Words in shades of their weights, in lines as wide as there is room.

import { inkOn, weightColors } from "../colors.js";
import { digits, html, setAll, svg } from "../dom.js";
import { FIRST_ASIDE, WEIGHT_PAIRS, clipped } from "../patterns.js";

/** @import { Numbers } from "../maths.js" */
/** @import { Palette } from "../wire.js" */

const LEAST_WIDTH = 300;
const LEAST_WORD = 24; // pixels of a word's box
const BOX = 32; // pixels of its height: a finger finds it
const LINE = 52; // pixels from a line of words to the next
const GAP = 4;
const HATCH = 8; // pixels from a stroke to the next
const STRONG = 0.05; // weight from which a number stands below a word
const FONT = "15px system-ui, sans-serif"; // as in kit.css

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

/**
 * Draws each word in the shade of its weight, and says what was drawn.
 *
 * @param {SVGSVGElement} picture
 * @param {Shades} shades
 * @param {Palette} palette
 */
export function drawShades(picture, shades, palette) {
  const { labels, weights, isMasked, isBlank, chosen, pick } = shades;
  const colorOf = weightColors(palette);
  const top = strongest(shades);
  const width = Math.max(LEAST_WIDTH, (picture.parentElement?.clientWidth ?? 0) - 4);
  const { boxes, height } = placed(labels, width);
  const drawn = boxes.map((box, i) => {
    const weight = isBlank(i) ? 0 : weights[i];
    const color = colorOf(weight);
    const isStrong = weights[i] >= STRONG || (top.includes(i) && weights[i] > 0);
    const isOut = isBlank(i);
    const number = isStrong && !isOut ? digits(weights[i], weights[i] < 0.01 ? 3 : 2) : null;
    const is = { isOut, isMasked: isMasked(i), isChosen: i === chosen };
    const parts = word(box, { color, number, ...is }, palette);
    const node = svg("g", { class: "hl-word", onclick: () => pick(i) }, parts);
    return { node, says: { label: box.text, weight, number, ...is } };
  });
  setAll(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
  picture.replaceChildren(...drawn.map(({ node }) => node));
  return drawn.map(({ says }) => says);
}

/**
 * The places of the largest weights that are not hidden by choice, largest first.
 *
 * @param {Shades} shades
 */
export function strongest({ weights, isBlank }) {
  const order = Array.from(weights.keys()).filter((i) => !isBlank(i));
  return order.sort((a, b) => weights[b] - weights[a]).slice(0, WEIGHT_PAIRS);
}

/**
 * The weights that are not hidden by choice.
 *
 * @param {Shades} shades
 */
export function visible({ weights, isBlank }) {
  return Array.from(weights).filter((_, i) => !isBlank(i));
}

/**
 * What is left out where the largest is looked for.
 *
 * @param {Shades} shades
 */
export function asideOf({ weights, isBlank }) {
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
