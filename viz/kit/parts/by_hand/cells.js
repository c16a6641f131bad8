// Matrices as one line of text, as they stand in the address and as Python reads them.

import { matrix } from "../../maths.js";

/** @import { Matrix } from "../../maths.js" */

/** @typedef {"q" | "k" | "v" | "out"} Name */
/** @typedef {Record<Name, string[][]>} Cells rows of cells as they are written; no rows of what is not there */

/** @type {Name[]} */
export const NAMES = ["q", "k", "v", "out"];

/**
 * @param {string} text
 * @returns {Cells}
 */
export function read(text) {
  const [q, k, v, out] = text.split("|").map((part) => (part ? part.split(";").map(cellsOf) : []));
  return { q, k, v, out };
}

/** @param {string} row */
function cellsOf(row) {
  return row.split(",");
}

/** @param {Cells} cells */
export function write(cells) {
  return NAMES.map((name) => cells[name].map((row) => row.join(",")).join(";")).join("|");
}

/**
 * The matrix of some rows of cells.
 *
 * @param {string[][]} rows
 * @returns {Matrix}
 */
export function numbersOf(rows) {
  return matrix(rows.length, rows[0]?.length ?? 0, Float64Array.from(rows.flat().map(Number)));
}

/**
 * The same in another size: what is new is 0.
 *
 * @param {string[][]} rows
 * @param {number} nRows
 * @param {number} nColumns
 */
export function resized(rows, nRows, nColumns) {
  return Array.from({ length: nRows }, (_, i) =>
    Array.from({ length: nColumns }, (_each, j) => rows[i]?.[j] ?? "0"),
  );
}

/**
 * Ones on the diagonal: a W_O that changes nothing.
 *
 * @param {number} n
 */
export function identity(n) {
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_each, j) => (i === j ? "1" : "0")),
  );
}

/**
 * A number as a person may type it; null for what is none that can be worked with.
 *
 * @param {string} typed
 * @param {number} largest
 */
export function numberIn(typed, largest) {
  const text = typed.trim().replace("−", "-").replace(",", ".");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return null;
  const value = Number(text);
  return Math.abs(value) <= largest ? String(value) : null;
}
