// Matrices as one line of text, as they stand in the address and as Python reads them.

import { matrix } from "../../maths.js";

/** @import { Matrix } from "../../maths.js" */

/** @typedef {"q" | "k" | "v" | "out"} Name */
/** @typedef {Record<Name, string[][]>} Cells rows of cells as they are written; no rows of what is not there */

/**
 * Q, K, V and W_O in one line: cells by commas, rows by semicolons, matrices by bars; W_O may be
 * empty. `valid` counts the keys that may be attended to where `masking`, none, causal or valid, says
 * so; `scaled` says whether scores are divided by √d.
 *
 * @typedef {{cells: string, heads: number, masking: string, valid: number, scaled: boolean}}
 *   ByHandSettings
 */

/** @type {Name[]} */
export const NAMES = ["q", "k", "v", "out"];

/**
 * @param {string} text
 * @returns {Cells}
 */
export function read(text) {
  const [q, k, v, out] = text
    .split("|")
    .map((part) => (part ? part.split(";").map((row) => row.split(",")) : []));
  return { q, k, v, out };
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
 * Other numbers of tokens, columns and heads: what is new is 0. Heads share the columns evenly, and
 * W_O puts several together.
 *
 * @param {ByHandSettings} now
 * @param {{rows?: number, d?: number, dv?: number, heads?: number}} to
 * @returns {Partial<ByHandSettings>}
 */
export function resized(now, to) {
  const { q, k, v, out } = read(now.cells);
  const { rows = q.length, heads = now.heads } = to;
  const [d, dv] = [to.d ?? q[0].length, to.dv ?? v[0].length].map((n) => n + (n % heads));
  /** @type {(n: number, m: number, cell: (i: number, j: number) => string) => string[][]} */
  const grown = (n, m, cell) =>
    Array.from({ length: n }, (_, i) => Array.from({ length: m }, (_each, j) => cell(i, j)));
  const [q2, k2] = [q, k].map((from) => grown(rows, d, (i, j) => from[i]?.[j] ?? "0"));
  const whole =
    !to.heads && dv === out.length ? out : grown(dv, dv, (i, j) => (i === j ? "1" : "0")); // which changes nothing
  const cells = { q: q2, k: k2, v: grown(rows, dv, (i, j) => v[i]?.[j] ?? "0") };
  return {
    cells: write({ ...cells, out: (to.heads ? heads > 1 : out.length) ? whole : [] }),
    heads,
    valid: Math.min(now.valid, rows),
  };
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
