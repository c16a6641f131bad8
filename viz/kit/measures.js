// What is asked of a pattern: where it is strong, how it spreads, how far it is from another.

import { matrix, rowOf } from "./maths.js";

/** @import { Matrix, Numbers } from "./maths.js" */

/**
 * Entropy of each row of a pattern, in bits; a sink, which takes what is missing, is one key more.
 *
 * @param {Matrix} pattern
 * @param {boolean} [hasSink]
 */
export function rowEntropies(pattern, hasSink = false) {
  /** @param {number} p */
  const bits = (p) => (p > 0 ? -p * Math.log2(p) : 0);
  return Float64Array.from({ length: pattern.rows }, (_, i) => {
    const row = rowOf(pattern, i);
    const missing = hasSink ? row.reduce((rest, p) => rest - p, 1) : 0;
    return row.reduce((sum, p) => sum + bits(p), bits(missing));
  });
}

/**
 * Natural logarithm of the sum of e^score over a row, what softmax divides by.
 *
 * @param {Numbers} row
 * @returns {number}
 */
export function logSumExp(row) {
  const top = row.reduce((a, b) => Math.max(a, b), -Infinity);
  return top === -Infinity
    ? top
    : top + Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0));
}

/**
 * How much each column gets in all.
 *
 * @param {Matrix} m
 */
export function columnSums(m) {
  const sums = new Float64Array(m.columns);
  for (let i = 0; i < m.rows; i++) rowOf(m, i).forEach((value, j) => (sums[j] += value));
  return sums;
}

/** @param {Numbers | number[]} values */
export function mean(values) {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
}

/**
 * Share of all weight that lies on cells the mask forbids.
 *
 * @param {Matrix} pattern
 * @param {Numbers} mask
 */
export function leakedShare(pattern, mask) {
  let leaked = 0;
  let total = 0;
  for (let i = 0; i < pattern.values.length; i++) {
    total += pattern.values[i];
    if (!mask[i]) leaked += pattern.values[i];
  }
  return total ? leaked / total : 0;
}

/**
 * The fewest columns of a row that together hold a share of its weight, largest first.
 *
 * @param {Numbers} row
 * @param {number} mass the share
 */
export function leading(row, mass) {
  const order = Array.from(row.keys())
    .filter((j) => row[j] > 0)
    .sort((a, b) => row[b] - row[a] || a - b);
  const wanted = mass * row.reduce((a, b) => a + b, 0);
  const kept = [];
  let held = 0;
  for (const j of order) {
    if (kept.length && held >= wanted - 1e-12) break;
    kept.push(j);
    held += row[j];
  }
  return kept;
}

/**
 * A pattern between words: weights to the pieces of a word are summed, weights from them averaged
 * (Clark et al. 2019, §4.1). Rows still sum to one.
 *
 * @param {Matrix} pattern (Tq, Tk)
 * @param {number[]} rowGroups the word of each query
 * @param {number[]} columnGroups the word of each key
 * @returns {Matrix}
 */
export function mergedWords(pattern, rowGroups, columnGroups) {
  const result = matrix(countOf(rowGroups), countOf(columnGroups));
  const sizes = new Float64Array(result.rows);
  rowGroups.forEach((group) => sizes[group]++);
  for (let i = 0; i < pattern.rows; i++) {
    const to = rowOf(result, rowGroups[i]);
    rowOf(pattern, i).forEach((p, j) => (to[columnGroups[j]] += p / sizes[rowGroups[i]]));
  }
  return result;
}

/**
 * A mask between words: a word may attend to a word if any of its tokens may to any of the other.
 *
 * @param {Numbers} mask (Tq · Tk)
 * @param {number[]} rowGroups the word of each query
 * @param {number[]} columnGroups the word of each key
 */
export function mergedMask(mask, rowGroups, columnGroups) {
  const columns = columnGroups.length;
  const width = countOf(columnGroups);
  const result = new Uint8Array(countOf(rowGroups) * width);
  mask.forEach((allowed, i) => {
    const row = rowGroups[Math.floor(i / columns)];
    if (allowed) result[row * width + columnGroups[i % columns]] = 1;
  });
  return result;
}

/**
 * How many groups there are, when they are numbered in order.
 *
 * @param {number[]} groups
 */
function countOf(groups) {
  return (groups.at(-1) ?? -1) + 1;
}

/**
 * a − b on the rows and columns both have.
 *
 * @param {Matrix} a
 * @param {Matrix} b
 * @returns {Matrix}
 */
export function difference(a, b) {
  const result = matrix(Math.min(a.rows, b.rows), Math.min(a.columns, b.columns));
  for (let i = 0; i < result.rows; i++) {
    const to = rowOf(result, i);
    for (let j = 0; j < to.length; j++) to[j] = rowOf(a, i)[j] - rowOf(b, i)[j];
  }
  return result;
}

/**
 * @typedef {object} Pair
 * @property {number} query
 * @property {number} key
 * @property {number} weight
 */

/**
 * The n largest weights. In self-attention the first key, a sink for attention that has nowhere to
 * go, and the diagonal are passed over where something else is left, as in Python; in
 * cross-attention they are keys as all others.
 *
 * @param {Matrix} pattern
 * @param {number} n
 * @param {"self" | "cross"} [kind]
 * @returns {Pair[]}
 */
export function strongestPairs(pattern, n, kind = "self") {
  /** @type {Ranked[]} */
  const best = [];
  for (let query = 0; query < pattern.rows; query++) {
    for (let key = 0; key < pattern.columns; key++) {
      const weight = pattern.values[query * pattern.columns + key];
      if (!(weight > 0)) continue;
      const isLate = kind === "self" && !isInformative(query, key);
      if (best.length === n && !isBefore(isLate, weight, best[n - 1])) continue;
      const place = best.findIndex((other) => isBefore(isLate, weight, other));
      best.splice(place < 0 ? best.length : place, 0, { query, key, weight, isLate });
      if (best.length > n) best.pop();
    }
  }
  const isLate = best[0]?.isLate;
  const same = best.filter((pair) => pair.isLate === isLate);
  return same.map(({ query, key, weight }) => ({ query, key, weight }));
}

/** @typedef {Pair & {isLate: boolean}} Ranked */

/**
 * Whether a pair comes before another; of equal ones the first found does.
 *
 * @param {boolean} isLate
 * @param {number} weight
 * @param {Ranked} other
 */
function isBefore(isLate, weight, other) {
  return isLate === other.isLate ? weight > other.weight : other.isLate;
}

/**
 * Whether a pair of self-attention is neither with the first token nor of a token with itself.
 *
 * @param {number} query
 * @param {number} key
 */
export function isInformative(query, key) {
  return key !== 0 && key !== query;
}

/**
 * Where the largest of some values is.
 *
 * @param {Numbers | number[]} values
 */
export function argmax(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/**
 * Largest finite magnitude among the values, or 1 when there is none above 0.
 *
 * @param {Iterable<number>} values
 */
export function reach(values) {
  let most = 0;
  for (const value of values) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  return most || 1;
}
