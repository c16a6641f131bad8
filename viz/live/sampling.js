// The filters over logits, as model/decoding.py has them, over the whole vocabulary.
//
// Every filter keeps the likeliest tokens and temperature changes no order, so on logits sorted once
// a distribution is described by how many lead: each step takes a count and gives a smaller one.

export const DEFAULT_ORDER = ["temperature", "top_k", "top_p", "min_p"];
export const SLACK = 1e-12; // a cut that rounding alone would move; as in model/decoding.py

/** Token ids from likeliest to least likely; of equals the lower id first. */
export function sortedIds(logits) {
  const ids = Uint32Array.from(logits.keys());
  return ids.sort((a, b) => logits[b] - logits[a] || a - b);
}

/** e^((ℓᵢ − ℓ₀)/T) of the leading `count` sorted logits, and their sum. */
export function powers(sorted, temperature, count = sorted.length) {
  const values = new Float64Array(count);
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += values[i] = Math.exp((sorted[i] - sorted[0]) / temperature);
  }
  return { values, total };
}

const FILTERS = {
  top_k: ({ top_k }, count) => (top_k ? Math.min(top_k, count) : count),
  top_p: ({ top_p }, count, { values, total }) => {
    if (top_p >= 1) return count;
    let before = 0;
    for (let i = 0; i < count; i++) {
      if (i && before / total >= top_p - SLACK) return i;
      before += values[i];
    }
    return count;
  },
  min_p: ({ min_p }, count, { values }) => {
    let kept = count;
    while (kept > 1 && values[kept - 1] < min_p - SLACK) kept -= 1;
    return kept;
  },
};

/**
 * Apply the steps in their order to sorted logits. Gives, for each, how many tokens are left and the
 * share of what it was handed that they hold; then the count and the temperature at the end.
 */
export function applied(sorted, sampling, order = DEFAULT_ORDER) {
  let count = sorted.length;
  let temperature = 1;
  let values = null; // over all tokens; they change with the temperature alone
  const steps = order.map((name) => {
    if (name === "temperature") {
      temperature = sampling.temperature;
      values = null;
      return { name, count, mass: 1 };
    }
    values ??= powers(sorted, temperature).values;
    const total = sumOf(values, count);
    count = FILTERS[name](sampling, count, { values, total });
    return { name, count, mass: sumOf(values, count) / total };
  });
  return { steps, count, temperature };
}

export function sumOf(values, count = values.length) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += values[i];
  return sum;
}

/** Probabilities of the leading `count` sorted logits at a temperature; they sum to one. */
export function probabilities(sorted, temperature, count = sorted.length) {
  const { values, total } = powers(sorted, temperature, count);
  for (let i = 0; i < count; i++) values[i] /= total;
  return values;
}

/** −Σ p ln p in nats. */
export function entropy(probs) {
  let sum = 0;
  for (const p of probs) if (p > 0) sum -= p * Math.log(p);
  return sum;
}
