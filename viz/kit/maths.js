// Attention, step by step, as model/attention.py computes it: the numbers behind every cell.
// Maps are (Tq, Tk): queries and keys may be of different streams. Sums run in float64.

/**
 * What the functions here need of a typed array, whichever kind it is.
 *
 * @typedef {Iterable<number> & {
 *   readonly length: number,
 *   [i: number]: number,
 *   subarray(from?: number, to?: number): Numbers,
 *   reduce<T>(fold: (sum: T, value: number, i: number) => T, start: T): T,
 *   forEach(act: (value: number, i: number) => void): void,
 *   map(change: (value: number, i: number) => number): Numbers,
 *   every(test: (value: number, i: number) => unknown): boolean,
 *   some(test: (value: number, i: number) => unknown): boolean,
 *   keys(): IterableIterator<number>,
 * }} Numbers
 */

/**
 * A matrix: its values row by row.
 *
 * @typedef {{rows: number, columns: number, values: Numbers}} Matrix
 */

/**
 * One head as it ran: its own numbers, and what the model made of them. `scale` is 1 × 1.
 *
 * @typedef {object} HeadArrays
 * @property {Matrix} q (Tq, Dh)
 * @property {Matrix} k (Tk, Dh)
 * @property {Matrix} v (Tk, Dh)
 * @property {Matrix} mask (Tq, Tk), 1 where attention is allowed
 * @property {Matrix} scale what q·kᵀ is multiplied with
 * @property {Matrix} [bias] (Tq, Tk), added to the scores
 * @property {Matrix} pattern (Tq, Tk)
 */

/**
 * What a head is computed from.
 *
 * @typedef {Pick<HeadArrays, "q" | "k" | "v" | "mask" | "scale" | "bias">} HeadInputs
 */

/**
 * The steps of a head by their names: q·kᵀ, scaled, biased, masked (Tq, Tk), weights (Tq, Tk), and
 * the output z (Tq, Dh).
 *
 * @typedef {"product" | "scaled" | "biased" | "masked" | "weights" | "output"} StepName
 * @typedef {Record<StepName, Matrix>} Steps
 */

/**
 * @param {number} rows
 * @param {number} columns
 * @param {Numbers} [values] zeros when left out
 * @returns {Matrix}
 */
export function matrix(rows, columns, values = new Float64Array(rows * columns)) {
  return { rows, columns, values };
}

/**
 * One row, without copying it.
 *
 * @param {Matrix} m
 * @param {number} row
 * @returns {Numbers}
 */
export function rowOf(m, row) {
  return m.values.subarray(row * m.columns, (row + 1) * m.columns);
}

/**
 * @param {Numbers} a
 * @param {Numbers} b as long as a
 */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * q·kᵀ.
 *
 * @param {Matrix} q (Tq, Dh)
 * @param {Matrix} k (Tk, Dh)
 * @returns {Matrix} (Tq, Tk)
 */
export function products(q, k) {
  const result = matrix(q.rows, k.rows);
  for (let i = 0; i < q.rows; i++) {
    const query = rowOf(q, i);
    for (let j = 0; j < k.rows; j++) result.values[i * k.rows + j] = dot(query, rowOf(k, j));
  }
  return result;
}

/**
 * A matrix with each value changed.
 *
 * @param {Matrix} m
 * @param {(value: number, i: number) => number} change
 * @returns {Matrix}
 */
export function mapped(m, change) {
  const result = matrix(m.rows, m.columns);
  for (let i = 0; i < m.values.length; i++) result.values[i] = change(m.values[i], i);
  return result;
}

/**
 * −∞ where `mask` is 0, the M of the formula.
 *
 * @param {Matrix} scores
 * @param {Numbers} mask
 */
export function masked(scores, mask) {
  return mapped(scores, (value, i) => (mask[i] ? value : -Infinity));
}

/**
 * Softmax of each row of scores / temperature; a row of −∞ alone gives zeros.
 *
 * @param {Matrix} scores
 * @param {number} [temperature]
 * @returns {Matrix}
 */
export function softmaxRows(scores, temperature = 1) {
  const result = matrix(scores.rows, scores.columns);
  for (let i = 0; i < scores.rows; i++) {
    const from = rowOf(scores, i);
    const to = rowOf(result, i);
    const top = from.reduce((a, b) => Math.max(a, b), -Infinity);
    if (top === -Infinity) continue;
    let total = 0;
    for (let j = 0; j < from.length; j++) total += to[j] = Math.exp((from[j] - top) / temperature);
    for (let j = 0; j < from.length; j++) to[j] /= total;
  }
  return result;
}

/**
 * pattern·v.
 *
 * @param {Matrix} pattern (Tq, Tk)
 * @param {Matrix} v (Tk, Dh)
 * @returns {Matrix} (Tq, Dh)
 */
export function weightedValues(pattern, v) {
  const result = matrix(pattern.rows, v.columns);
  for (let i = 0; i < pattern.rows; i++) {
    const weights = rowOf(pattern, i);
    const z = rowOf(result, i);
    for (let j = 0; j < weights.length; j++) {
      if (weights[j] === 0) continue;
      const value = rowOf(v, j);
      for (let d = 0; d < z.length; d++) z[d] += weights[j] * value[d];
    }
  }
  return result;
}

/**
 * Every step of one head. What can be changed: no scale, no mask, another temperature.
 *
 * @param {HeadInputs} head
 * @param {{scale?: boolean, mask?: boolean, temperature?: number}} [changes]
 * @returns {Steps}
 */
export function steps(head, { scale = true, mask = true, temperature = 1 } = {}) {
  const product = products(head.q, head.k);
  const factor = scale ? scaleOf(head) : 1;
  const scaled = mapped(product, (value) => value * factor);
  const { bias } = head;
  const biased = bias ? mapped(scaled, (value, i) => value + bias.values[i]) : scaled;
  const hidden = mask ? masked(biased, head.mask.values) : biased;
  const weights = softmaxRows(hidden, temperature);
  const output = weightedValues(weights, head.v);
  return { product, scaled, biased, masked: hidden, weights, output };
}

/**
 * What a head's q·kᵀ is multiplied with.
 *
 * @param {{scale: Matrix}} head
 */
export function scaleOf({ scale }) {
  return scale.values[0];
}

/**
 * Whether that is the usual 1/√d_head.
 *
 * @param {{scale: Matrix, q: Matrix}} head
 */
export function isUsualScale(head) {
  return Math.abs(scaleOf(head) * Math.sqrt(head.q.columns) - 1) < 1e-6;
}
