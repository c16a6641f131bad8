// Every step of every head, from the cells; what the page computes at each key.

import { matrix, products, rowOf, steps } from "../../maths.js";
import { numbersOf, read } from "./cells.js";

/** @import { Matrix, Steps } from "../../maths.js" */
/** @import { ByHandSettings } from "./wire.js" */

/** @typedef {"products" | "scores" | "masked" | "weights" | "z"} StepName */
/** @typedef {Record<StepName, Matrix>} Head */

const STAGES = ["scaled", "masked", "weights"]; // that every head has here

/**
 * @typedef {object} Worked
 * @property {Record<"q" | "k" | "v" | "out", Matrix>} given
 * @property {Head[]} heads
 * @property {Matrix} mask (T, T), 1 where a query may attend to a key
 * @property {Matrix | null} output (T, Dm), where there is a W_O
 * @property {number} scale what products are multiplied with
 */

/**
 * @param {ByHandSettings} settings
 * @returns {Worked}
 */
export function workOut(settings) {
  const cells = read(settings.cells);
  const [q, k, v, out] = [cells.q, cells.k, cells.v, cells.out].map(numbersOf);
  const mask = maskOf(settings, q.rows);
  const scale = settings.scaled ? 1 / Math.sqrt(q.columns / settings.heads) : 1;
  const heads = Array.from({ length: settings.heads }, (_, h) => {
    const of = { q: columnsOf(q, h, settings), k: columnsOf(k, h, settings) };
    const given = { v: columnsOf(v, h, settings), mask, scale, stages: STAGES };
    const found = /** @type {Required<Steps>} */ (steps({ ...of, ...given }));
    const { product, scaled, masked, weights, output } = found;
    return { products: product, scores: scaled, masked, weights, z: output };
  });
  const joined = sideBySide(heads.map(({ z }) => z));
  const output = out.rows ? products(joined, transposed(out)) : null;
  return { given: { q, k, v, out }, heads, mask, output, scale };
}

/**
 * @param {ByHandSettings} settings
 * @param {number} n
 */
function maskOf({ masking, valid }, n) {
  const mask = matrix(n, n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const isOpen = masking === "causal" ? j <= i : masking !== "valid" || j < valid;
      mask.values[i * n + j] = Number(isOpen);
    }
  return mask;
}

/**
 * What a head has of a matrix.
 *
 * @param {Matrix} m
 * @param {number} head
 * @param {ByHandSettings} settings
 */
function columnsOf(m, head, { heads }) {
  const width = m.columns / heads;
  const result = matrix(m.rows, width);
  for (let i = 0; i < m.rows; i++)
    for (let j = 0; j < width; j++)
      result.values[i * width + j] = m.values[i * m.columns + head * width + j];
  return result;
}

/**
 * Matrices of as many rows, one beside the other.
 *
 * @param {Matrix[]} parts
 */
export function sideBySide(parts) {
  const columns = parts.reduce((sum, part) => sum + part.columns, 0);
  const result = matrix(parts[0].rows, columns);
  for (let i = 0; i < result.rows; i++) {
    const row = parts.flatMap((part) => Array.from(rowOf(part, i)));
    row.forEach((value, j) => (result.values[i * columns + j] = value));
  }
  return result;
}

/** @param {Matrix} m */
function transposed(m) {
  const result = matrix(m.columns, m.rows);
  for (let i = 0; i < m.rows; i++)
    for (let j = 0; j < m.columns; j++) result.values[j * m.rows + i] = m.values[i * m.columns + j];
  return result;
}
