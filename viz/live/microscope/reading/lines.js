// The view of lines, read back from its SVG: which line leads where, how strong it is, what stands beside
// the tokens. Nothing here is used to draw.

import { errorOfNumber, saysText } from "../../core/printed.js";
import { truthOfHead } from "./truth.js";

/** @import { Tally } from "../../core/tally.js" */
/** @import { Microscope } from "../microscope.js" */
/** @import { Truth } from "./truth.js" */

const STRENGTHS = 10; // of lines: opacity is the root of the middle of its tenth
const ROUNDING = 1e-5; // how far two runs may be apart in a share
const LEAST_TOLD = 0.005; // weight from which a number stands beside a token
const SLACK = 0.6; // pixels between a line's end and the middle of its label's row
const RISE = 4; // pixels from a label's foot to its middle

/** A token as it stands there. @typedef {{y: number, label: string, number: string, isStrong: boolean}} Label */
/** A line. @typedef {{from: number, to: number, low: number, high: number}} Line */

/**
 * @param {Microscope} scope
 * @param {{picture: SVGSVGElement, says: HTMLElement}} view
 * @param {Tally} tally
 */
export async function readLines(scope, { picture, says }, tally) {
  const { settings, between, group } = scope;
  const title = scope.title.textContent ?? "";
  const truth = await truthOfHead(scope, { title, isInWords: settings.words });
  if (!truth) return tally.hold(false, group.name);
  const isFirstOut = settings.hide_first && between.kind === "self";
  const left = open(truth, isFirstOut);
  const [queries, keys] = ["end", "start"].map((anchor) => labelsOf(picture, anchor));
  readLabels(tally, queries, truth.rows, truth.address);
  readLabels(tally, keys, truth.columns, truth.address);
  const focus = focusOf(queries, keys);
  readStrengths(tally, linesOf(picture, queries, keys), {
    truth,
    left,
    focus,
    mass: settings.mass,
  });
  readNumbers(tally, { queries, keys }, { truth, left, focus });
  readCaption(tally, says, { left, mass: settings.mass, address: truth.address });
}

/**
 * The share and the number of all lines, as the caption has them.
 *
 * @param {Tally} tally
 * @param {HTMLElement} says
 * @param {{left: number[][], mass: number, address: string}} of
 */
function readCaption(tally, says, { left, mass, address }) {
  /** @param {string} name */
  const printed = (name) => Number(says.querySelector(`[data-number=${name}]`)?.textContent);
  const must = left.flatMap((row) => leadingOf(row, mass));
  const least = must.filter((isIn) => isIn === true).length;
  const most = must.filter((isIn) => isIn !== false).length;
  const n = printed("lines");
  tally.hold(n >= least && n <= most, address);
  tally.hold(printed("mass") === Math.round(100 * mass), address);
}

/**
 * The weights that may be drawn; the rest is zero.
 *
 * @param {Truth} truth
 * @param {boolean} isFirstOut
 */
function open({ weights, open: isOpen }, isFirstOut) {
  return weights.map((row, i) =>
    row.map((p, j) => (isOpen[i][j] && !(isFirstOut && j === 0) ? p : 0)),
  );
}

/**
 * @param {SVGSVGElement} picture
 * @param {string} anchor
 * @returns {Label[]}
 */
function labelsOf(picture, anchor) {
  return Array.from(picture.querySelectorAll(`text[text-anchor=${anchor}]`), (node) => {
    const number = node.querySelector("tspan")?.textContent ?? "";
    const whole = node.textContent ?? "";
    return {
      y: Number(node.getAttribute("y")) - RISE,
      label: number ? whole.slice(0, -number.length).trimEnd() : whole,
      number,
      isStrong: node.classList.contains("hl-strong"),
    };
  });
}

/**
 * @param {Tally} tally
 * @param {Label[]} labels
 * @param {(string | null)[]} texts
 * @param {string} address
 */
function readLabels(tally, labels, texts, address) {
  tally.hold(labels.length === texts.length, address);
  labels.forEach(({ label }, i) => tally.hold(saysText(label, texts[i] ?? null), address));
}

/**
 * The token whose lines alone are drawn.
 *
 * @param {Label[]} queries
 * @param {Label[]} keys
 */
function focusOf(queries, keys) {
  const [query, key] = [queries, keys].map((side) => side.findIndex(({ isStrong }) => isStrong));
  return { query, key };
}

/**
 * @param {SVGSVGElement} picture
 * @param {Label[]} queries
 * @param {Label[]} keys
 * @returns {Line[]}
 */
function linesOf(picture, queries, keys) {
  /** @type {(side: Label[], y: number) => number} */
  const at = (side, y) => {
    const step = side.length > 1 ? side[1].y - side[0].y : 1;
    const i = Math.round((y - side[0].y) / step);
    return Math.abs((side[i]?.y ?? NaN) - y) <= SLACK ? i : -1;
  };
  return Array.from(picture.querySelectorAll("path")).flatMap((path) => {
    const strength = STRENGTHS * Number(path.getAttribute("stroke-opacity")) ** 2;
    const [low, high] = [strength - 0.5, strength + 0.5].map((tenth) => tenth / STRENGTHS);
    const ends = (path.getAttribute("d") ?? "").matchAll(/M\S+ (\S+?)L\S+? ([^M]+)/g);
    return Array.from(ends, ([, from, to]) => ({
      ...{ from: at(queries, Number(from)), to: at(keys, Number(to)) },
      ...{ low, high },
    }));
  });
}

/**
 * Every line that must be there is, no other is, and each is as strong as its weight.
 *
 * @param {Tally} tally
 * @param {Line[]} lines
 * @param {{truth: Truth, left: number[][], focus: {query: number, key: number}, mass: number}} of
 */
function readStrengths(tally, lines, { truth, left, focus, mass }) {
  const { address } = truth;
  const drawn = left.map(() => new Set());
  for (const { from, to, low, high } of lines) {
    const weight = left[from]?.[to] ?? NaN;
    const isTop = high > 1 - ROUNDING; // a weight of one is in the uppermost tenth
    tally.add(Math.max(0, low - weight, isTop ? 0 : weight - high), address);
    drawn[from]?.add(to);
  }
  left.forEach((row, i) => {
    const isShown = focus.query < 0 || focus.query === i;
    const must = leadingOf(row, mass);
    row.forEach((_, j) => {
      const isOf = isShown && (focus.key < 0 || focus.key === j);
      const isDrawn = drawn[i].has(j);
      if (isDrawn ? !isOf || must[j] === false : isOf && must[j] === true)
        tally.hold(false, address);
    });
  });
}

/**
 * Whether each key belongs to the fewest that together hold a share of a row's weight; null where two
 * runs may differ in that.
 *
 * @param {number[]} row
 * @param {number} mass
 */
function leadingOf(row, mass) {
  const order = row.map((_, j) => j).sort((a, b) => row[b] - row[a]);
  const wanted = mass * row.reduce((sum, p) => sum + p, 0);
  const before = [0];
  for (const j of order) before.push(before[before.length - 1] + row[j]);
  /** @type {(boolean | null)[]} */
  const found = row.map(() => null);
  let [above, below] = [0, 0]; // how many are surely larger, and how many may be
  order.forEach((j) => {
    while (row[order[above]] > row[j] + ROUNDING) above += 1;
    while (below < order.length && row[order[below]] >= row[j] - ROUNDING) below += 1;
    const [least, most] = [before[above], before[below] - row[j]];
    if (row[j] <= 0 || (above > 0 && least >= wanted + ROUNDING)) found[j] = false;
    else if (row[j] > ROUNDING && (below === 1 || most < wanted - ROUNDING)) found[j] = true;
  });
  return found;
}

/**
 * The weight between the token in focus and each of the other side.
 *
 * @param {Tally} tally
 * @param {{queries: Label[], keys: Label[]}} labels
 * @param {{truth: Truth, left: number[][], focus: {query: number, key: number}}} of
 */
function readNumbers(tally, { queries, keys }, { truth: { address }, left, focus }) {
  /** @type {(labels: Label[], weightOf: (i: number) => number) => void} */
  const read = (labels, weightOf) =>
    labels.forEach(({ number }, i) => {
      const weight = weightOf(i);
      if (number) tally.add(errorOfNumber(number, weight), address);
      else if (weight >= LEAST_TOLD + ROUNDING) tally.hold(false, address);
    });
  read(keys, (j) => (focus.query < 0 ? 0 : left[focus.query][j]));
  read(queries, (i) => (focus.key < 0 ? 0 : left[i][focus.key]));
}
