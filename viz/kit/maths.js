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
 * One head as it ran: its own numbers, and what the model made of them.
 *
 * @typedef {object} HeadArrays
 * @property {Matrix} q (Tq, Dh)
 * @property {Matrix} k (Tk, Dh)
 * @property {Matrix} v (Tk, Dh)
 * @property {Matrix} mask (Tq, Tk), 1 where attention is allowed
 * @property {number} scale what q·kᵀ is multiplied with
 * @property {Matrix} [bias] (Tq, Tk), added to the scores
 * @property {number} [softcap] beyond which scores are bent
 * @property {number} [sink] the score of one key more in each row, which has no value
 * @property {Matrix} pattern (Tq, Tk)
 * @property {string[]} stages how the pattern came about, as its record says: names of `STAGES`, in
 *   order, and of what nobody here can compute
 */

/**
 * What a head is computed from.
 *
 * @typedef {Omit<HeadArrays, "pattern">} HeadInputs
 */

/**
 * The steps of a head by their names, q·kᵀ, what its stages make of it, each (Tq, Tk), and the output
 * z (Tq, Dh). A head has the stages that it has; of one that cannot be computed the run's weights and
 * output are all there is; where its values are not known, its weights.
 *
 * @typedef {"product" | "scaled" | "biased" | "capped" | "masked" | "sunk" | "weights" | "output"} StepName
 * @typedef {Partial<Record<StepName, Matrix>> & {weights: Matrix}} Steps
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
 * @param {number} [sink] one score more in each row, whose share is left out
 * @returns {Matrix}
 */
export function softmaxRows(scores, temperature = 1, sink = -Infinity) {
  const result = matrix(scores.rows, scores.columns);
  for (let i = 0; i < scores.rows; i++) {
    const from = rowOf(scores, i);
    const to = rowOf(result, i);
    const top = from.reduce((a, b) => Math.max(a, b), sink);
    if (top === -Infinity) continue;
    let total = Math.exp((sink - top) / temperature);
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
 * What can be changed of a head: no scale, no mask, another temperature.
 *
 * @typedef {{scale?: boolean, mask?: boolean, temperature?: number}} Changes
 */

/**
 * What a stage makes of the scores before it, by its name in `model/worked_out.py`.
 *
 * @type {Record<string, (scores: Matrix, head: HeadInputs, changes: Changes) => Matrix>}
 */
const STAGES = {
  scaled: (scores, head, { scale = true }) => {
    const factor = scale ? head.scale : 1;
    return mapped(scores, (value) => value * factor);
  },
  biased: (scores, { bias }) => mapped(scores, (value, i) => value + (bias?.values[i] ?? NaN)),
  capped: (scores, { softcap }) => {
    const cap = softcap ?? NaN;
    return mapped(scores, (value) => cap * Math.tanh(value / cap));
  },
  masked: (scores, head, { mask = true }) => (mask ? masked(scores, head.mask.values) : scores),
  sunk: (scores) => scores, // no score changes: the sink joins the softmax
  weights: (scores, { sink }, { temperature }) => softmaxRows(scores, temperature, sink),
};

/**
 * Every step of one head, all of whose stages are known.
 *
 * @param {HeadInputs} head
 * @param {Changes} [changes]
 * @returns {Steps & {output: Matrix}}
 */
export function steps(head, changes = {}) {
  let scores = products(head.q, head.k);
  /** @type {Record<string, Matrix>} */
  const found = { product: scores };
  for (const name of head.stages) found[name] = scores = STAGES[name](scores, head, changes);
  const output = weightedValues(found.weights, head.v);
  return { ...found, weights: found.weights, output };
}

/**
 * The stages of a head that nobody here can compute.
 *
 * @param {{stages: string[]}} head
 */
export function unknownStages({ stages }) {
  return stages.filter((name) => !(name in STAGES));
}

/**
 * The largest difference of two matrices of one size; NaN on both sides is none.
 *
 * @param {Matrix} a
 * @param {Matrix} b
 */
export function furthest(a, b) {
  let most = 0;
  for (let i = 0; i < a.values.length; i++) {
    const apart = Math.abs(a.values[i] - b.values[i]);
    if (apart > most) most = apart;
    else if (Number.isNaN(a.values[i]) !== Number.isNaN(b.values[i])) return Infinity;
  }
  return most;
}

/**
 * Whether a head's q·kᵀ is multiplied with the usual 1/√d_head.
 *
 * @param {{scale: number, q: Matrix}} head
 */
export function isUsualScale(head) {
  return Math.abs(head.scale * Math.sqrt(head.q.columns) - 1) < 1e-6;
}
