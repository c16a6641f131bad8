// Lines between tokens on the left and tokens on the right: the stronger, the larger the weight.

import { weightShare } from "../colors.js";
import { digits, setAll, svg } from "../dom.js";
import { roleColor, slant, stretchesOf } from "../looks.js";
import { clipped } from "../patterns.js";

/** @import { Matrix } from "../maths.js" */
/** @import { Shown } from "../patterns.js" */
/** @import { Palette } from "../wire.js" */

const MOST_WIDTH = 640;
const LABEL_ROOM = { least: 110, share: 0.27 }; // for labels on either side: pixels, of the width
const GAP = 8; // pixels between a label and its lines
const BAND = { from: 3, wide: 3 }; // in that gap
const STEPS = { usual: 22, small: 15 }; // pixels from a token to the next
const MANY = 120; // tokens from which the small step is taken
const LEAST_TOLD = 0.005; // weight beside a token
const STRENGTHS = 10;

/** A token on one side. @typedef {{side: "query" | "key", at: number}} Focus */

/**
 * What is drawn of a pattern: the keys of each query, the token whose lines alone are, if one is, and
 * whom the pointer on a token is told to.
 *
 * @typedef {object} Look
 * @property {number[][]} kept
 * @property {Focus | null} focus
 * @property {number} width of what there is room for
 * @property {Palette} palette
 * @property {(focus: Focus | null) => void} look
 */

/**
 * Draws it and says what was drawn: the query and the key of each line, each a tenth of its weight, and
 * the words of both sides.
 *
 * @param {SVGSVGElement} picture
 * @param {Shown} shown
 * @param {Look} how
 */
export function drawArcs(picture, shown, how) {
  const { rows, columns, values } = shown;
  const { kept, focus, palette } = how;
  const step = rows.length > MANY ? STEPS.small : STEPS.usual;
  /** @param {number} i */
  const y = (i) => 22 + i * step;
  const width = Math.min(MOST_WIDTH, how.width);
  const sides = sidesOf(width);
  /** @type {(i: number) => number} */
  const middle = (i) => y(i) - 4;
  const ends = { from: sides.query + GAP, to: sides.key - GAP, y: middle };
  const line = { fill: "none", stroke: palette.accent, "stroke-width": 1.6 };
  const height = y(Math.max(rows.length, columns.length)) + 4;
  setAll(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
  const { lines, paths } = linePaths(kept, values, focus, ends, palette);
  const queries = wordsOf(shown, "query", how, { x: sides.query, y });
  const keys = wordsOf(shown, "key", how, { x: sides.key, y });
  picture.replaceChildren(
    ...paths.map(({ d, opacity }) => svg("path", { d, ...line, "stroke-opacity": opacity })),
    ...[...queries, ...keys],
    ...bandsOf(shown.rowLooks, sides.query + BAND.from, step, palette),
    ...bandsOf(shown.columnLooks, sides.key - BAND.from - BAND.wide, step, palette),
  );
  const [left, right] = [queries, keys].map((words) => words.map((word) => word.textContent));
  const roles = Array.from(picture.querySelectorAll("rect"), ({ textContent }) => textContent);
  return { lines, queries: left, keys: right, roles };
}

/**
 * The labels of one side.
 *
 * @param {Shown} shown
 * @param {"query" | "key"} side
 * @param {Look} how
 * @param {{x: number, y: (i: number) => number}} place where they end or begin, and of each the height
 */
function wordsOf(shown, side, { focus, look }, { x, y }) {
  const [labels, looks] =
    side === "query" ? [shown.rows, shown.rowLooks] : [shown.columns, shown.columnLooks];
  const end = { x, "text-anchor": side === "query" ? "end" : "start" };
  return labels.map((label, at) => {
    const isFocus = focus && focus.side === side && focus.at === at;
    const acts = { onpointerenter: () => look({ side, at }), onpointerleave: () => look(null) };
    const names = `${isFocus ? "hl-strong" : ""}${slant(looks?.[at])}`;
    const attributes = { ...end, y: y(at), class: names.trim() || null, ...acts };
    return svg("text", attributes, clipped(label), weightOf(shown, focus, side, at));
  });
}

/**
 * Who wrote what, beside the labels of one side.
 *
 * @param {import("../wire.js").Looks | undefined} looks
 * @param {number} x
 * @param {number} step
 * @param {Palette} palette
 */
function bandsOf(looks, x, step, palette) {
  return stretchesOf(looks).map(({ role, from, to }) => {
    const place = { x, y: 7 + from * step, width: BAND.wide, height: (to - from + 1) * step };
    const words = `tokens ${from} to ${to}: ${role}`;
    return svg("rect", { ...place, fill: roleColor(palette, role) }, svg("title", null, words));
  });
}

/**
 * The weight between the token in focus and one of the other side, where there is one.
 *
 * @param {Shown} shown
 * @param {Focus | null} focus
 * @param {"query" | "key"} side
 * @param {number} i
 * @returns {(Node | string)[]}
 */
function weightOf({ values, hidden, blank }, focus, side, i) {
  if (!focus || focus.side === side) return [];
  const [row, column] = side === "key" ? [focus.at, i] : [i, focus.at];
  const at = row * values.columns + column;
  if (hidden[at] || blank[at] || values.values[at] < LEAST_TOLD) return [];
  return ["  ", svg("tspan", { "data-number": "weight" }, digits(values.values[at], 2))];
}

/**
 * Lines gathered into ten strengths, so that many lines are few elements.
 *
 * @param {number[][]} kept keys of each query
 * @param {Matrix} values
 * @param {Focus | null} token whose lines alone are drawn
 * @param {{from: number, to: number, y: (i: number) => number}} ends of the lines, in pixels
 * @param {Palette} palette
 */
function linePaths(kept, values, token, { from, to, y }, palette) {
  const strengths = Array.from({ length: STRENGTHS }, () => "");
  /** @type {[query: number, key: number, strength: number][]} */
  const lines = [];
  kept.forEach((keys, i) =>
    keys.forEach((j) => {
      if (token && token.at !== (token.side === "query" ? i : j)) return;
      const weight = values.values[i * values.columns + j];
      const strength = Math.min(STRENGTHS - 1, Math.floor(weight * STRENGTHS));
      strengths[strength] += `M${from} ${y(i)}L${to} ${y(j)}`;
      lines.push([i, j, strength / STRENGTHS]);
    }),
  );
  const paths = strengths
    .map((d, i) => ({ d, opacity: Math.max(0.06, weightShare((i + 0.5) / STRENGTHS, palette)) }))
    .filter(({ d }) => d);
  return { lines, paths };
}

/**
 * Where labels end on the side of the queries and begin on that of the keys.
 *
 * @param {number} width
 */
function sidesOf(width) {
  const room = Math.max(LABEL_ROOM.least, LABEL_ROOM.share * width);
  return { query: room, key: width - room };
}
