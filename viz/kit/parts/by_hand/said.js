// One cell of a step in a line: what it was computed from, with the numbers.

import { digits } from "../../dom.js";
import { rowOf } from "../../maths.js";

/** @import { Matrix, Numbers } from "../../maths.js" */
/** @import { Worked } from "./worked.js" */

const MOST_TERMS = 6;

/** A cell that is spoken of. @typedef {{step: string, head: number, row: number, column: number}} Spot */

/** @type {Record<string, (worked: Worked, spot: Spot, d: number) => string>} */
const LINES = {
  products: (worked, { head, row, column }, d) =>
    `${vector("q", row)} · ${vector("k", column)} = ${sum(
      part(worked.given.q, row, head, d),
      part(worked.given.k, column, head, d),
    )}`,
  scores: ({ heads, scale }, { head, row, column }, d) =>
    scale === 1 && d > 1
      ? "not divided: the dot product as it is"
      : `${at(heads[head].products, row, column)} / √${d}`,
  masked: ({ mask, heads }, { head, row, column }) =>
    mask.values[row * mask.columns + column]
      ? `may attend: ${at(heads[head].scores, row, column)} + 0`
      : `may not attend: ${at(heads[head].scores, row, column)} + (−∞)`,
  weights: ({ heads }, { head, row, column }) =>
    softmaxLine(rowOf(heads[head].masked, row), column),
  z: ({ heads, given }, { head, row, column }, _d) =>
    sum(rowOf(heads[head].weights, row), columnOf(given.v, head * heads[head].z.columns + column)),
  output: ({ heads, given }, { row, column }) =>
    sum(
      heads.flatMap(({ z }) => Array.from(rowOf(z, row))),
      columnOf(given.out, column),
    ),
};

/**
 * The line of a cell, without its result.
 *
 * @param {Worked} worked
 * @param {Spot} spot
 */
export function lineOf(worked, spot) {
  return LINES[spot.step](worked, spot, worked.given.q.columns / worked.heads.length);
}

/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
function sum(a, b) {
  const terms = Array.from(a, (x, i) => `${bracketed(x)} × ${bracketed(b[i])}`);
  return terms.length > MOST_TERMS
    ? `${terms.slice(0, MOST_TERMS).join(" + ")} + …`
    : terms.join(" + ");
}

/**
 * @param {Numbers} row
 * @param {number} column
 */
function softmaxLine(row, column) {
  const powers = Array.from(row, (x) => (x === -Infinity ? "0" : `e^${bracketed(x)}`));
  if (powers.every((power) => power === "0")) return "every key is masked: nothing to share out";
  return `${powers[column]} / (${powers.join(" + ")})`;
}

/** @param {number} value */
function bracketed(value) {
  const text = digits(value, 3);
  return /^\d/.test(text) ? text : `(${text})`;
}

/**
 * @param {Matrix} m
 * @param {number} row
 * @param {number} column
 */
function at(m, row, column) {
  return bracketed(m.values[row * m.columns + column]);
}

/**
 * @param {Matrix} m
 * @param {number} row
 * @param {number} head
 * @param {number} width
 */
function part(m, row, head, width) {
  return rowOf(m, row).subarray(head * width, (head + 1) * width);
}

/**
 * @param {Matrix} m
 * @param {number} column
 */
function columnOf(m, column) {
  return Array.from({ length: m.rows }, (_, i) => m.values[i * m.columns + column]);
}

/**
 * @param {string} letter
 * @param {number} row
 */
function vector(letter, row) {
  return `${letter}${String.fromCharCode(0x2081 + row)}`;
}
