// Attention, step by step, as model/attention.py computes it: the numbers behind every cell.
//
// A matrix is {rows, columns, values}: `values` a flat typed array, row by row. Sums run in float64.

export function matrix(rows, columns, values = new Float64Array(rows * columns)) {
  return { rows, columns, values };
}

/** One row, without copying it. */
export function rowOf(m, row) {
  return m.values.subarray(row * m.columns, (row + 1) * m.columns);
}

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** q·kᵀ. q: (Tq, Dh), k: (Tk, Dh) → (Tq, Tk). */
export function products(q, k) {
  const result = matrix(q.rows, k.rows);
  for (let i = 0; i < q.rows; i++) {
    const query = rowOf(q, i);
    for (let j = 0; j < k.rows; j++) result.values[i * k.rows + j] = dot(query, rowOf(k, j));
  }
  return result;
}

export function mapped(m, change) {
  const result = matrix(m.rows, m.columns);
  for (let i = 0; i < m.values.length; i++) result.values[i] = change(m.values[i], i);
  return result;
}

/** −∞ where `mask` is 0, the M of the formula. */
export function masked(scores, mask) {
  return mapped(scores, (value, i) => (mask[i] ? value : -Infinity));
}

/** Softmax of each row of scores / temperature; a row of −∞ alone gives zeros. */
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

/** pattern·v. pattern: (Tq, Tk), v: (Tk, Dh) → (Tq, Dh). */
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

/** Every step of one head, each a matrix. Changes: no scale, no mask, another temperature. */
export function steps(head, { scale = true, mask = true, temperature = 1 } = {}) {
  const product = products(head.q, head.k);
  const divisor = scale ? Math.sqrt(head.q.columns) : 1;
  const scaled = mapped(product, (value) => value / divisor);
  const biased = head.bias ? mapped(scaled, (value, i) => value + head.bias.values[i]) : scaled;
  const hidden = mask ? masked(biased, head.mask.values) : biased;
  const weights = softmaxRows(hidden, temperature);
  return {
    product,
    scaled,
    biased,
    masked: hidden,
    weights,
    output: weightedValues(weights, head.v),
  };
}

/** Entropy of each row of a pattern, in bits. */
export function rowEntropies(pattern) {
  return Float64Array.from({ length: pattern.rows }, (_, i) =>
    rowOf(pattern, i).reduce((sum, p) => (p > 0 ? sum - p * Math.log2(p) : sum), 0),
  );
}

/** Natural logarithm of the sum of e^score over a row, what softmax divides by. */
export function logSumExp(row) {
  const top = row.reduce((a, b) => Math.max(a, b), -Infinity);
  return top === -Infinity
    ? top
    : top + Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0));
}

/** How much each column gets in all. */
export function columnSums(m) {
  const sums = new Float64Array(m.columns);
  for (let i = 0; i < m.rows; i++) rowOf(m, i).forEach((value, j) => (sums[j] += value));
  return sums;
}

export function mean(values) {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
}

/** Share of all weight that lies on cells the mask forbids. */
export function leakedShare(pattern, mask) {
  let leaked = 0;
  let total = 0;
  for (let i = 0; i < pattern.values.length; i++) {
    total += pattern.values[i];
    if (!mask[i]) leaked += pattern.values[i];
  }
  return total ? leaked / total : 0;
}

/** The fewest columns of a row that together hold `mass` of its weight, largest first. */
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
 * (Clark et al. 2019, §4.1). Groups give the word of each token. Rows still sum to one.
 */
export function mergedWords(pattern, rowGroups, columnGroups) {
  const result = matrix(rowGroups.at(-1) + 1, columnGroups.at(-1) + 1);
  const sizes = new Float64Array(result.rows);
  rowGroups.forEach((group) => sizes[group]++);
  for (let i = 0; i < pattern.rows; i++) {
    const to = rowOf(result, rowGroups[i]);
    rowOf(pattern, i).forEach((p, j) => (to[columnGroups[j]] += p / sizes[rowGroups[i]]));
  }
  return result;
}

/** Group masks likewise: a word may read a word if any piece may read any piece. */
export function mergedMask(mask, columns, rowGroups, columnGroups) {
  const width = columnGroups.at(-1) + 1;
  const result = new Uint8Array((rowGroups.at(-1) + 1) * width);
  mask.forEach((allowed, i) => {
    const row = rowGroups[Math.floor(i / columns)];
    if (allowed) result[row * width + columnGroups[i % columns]] = 1;
  });
  return result;
}

/** a − b on the rows and columns both have. */
export function difference(a, b) {
  const result = matrix(Math.min(a.rows, b.rows), Math.min(a.columns, b.columns));
  for (let i = 0; i < result.rows; i++) {
    const to = rowOf(result, i);
    for (let j = 0; j < to.length; j++) to[j] = rowOf(a, i)[j] - rowOf(b, i)[j];
  }
  return result;
}

/** Largest |a − b|, divided by the largest |b| where that is above one; as model/verify.py has it. */
export function relativeError(a, b) {
  let worst = 0;
  let largest = 1;
  for (let i = 0; i < b.length; i++) {
    const error = Math.abs(a[i] - b[i]);
    if (!Number.isFinite(error)) return NaN;
    worst = Math.max(worst, error);
    largest = Math.max(largest, Math.abs(b[i]));
  }
  return a.length === b.length ? worst / largest : NaN;
}

/**
 * The n largest weights as {query, key, weight}. The first key, a sink for attention that has
 * nowhere to go, and the diagonal come last, as in viz/figures/attention.py.
 */
export function strongestPairs(pattern, n) {
  const found = [];
  for (let query = 0; query < pattern.rows; query++) {
    for (let key = 0; key < pattern.columns; key++) {
      const weight = pattern.values[query * pattern.columns + key];
      if (!(weight > 0)) continue;
      found.push({ query, key, weight, plain: key === 0 || key === query });
    }
  }
  found.sort((a, b) => a.plain - b.plain || b.weight - a.weight);
  return found.slice(0, n);
}

/** Largest finite magnitude among the values, or 1 when there is none above 0. */
export function reach(values) {
  let most = 0;
  for (const value of values) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  return most || 1;
}
