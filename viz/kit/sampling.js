// The filters over logits, as model/decoding has them, over the whole vocabulary.
//
// Every filter keeps the most likely tokens and temperature changes no order, so on logits sorted
// once a distribution is described by how many lead: each step takes a count and gives a smaller one.

/** @typedef {"temperature" | "top_k" | "top_p" | "min_p"} StepName */

/**
 * How the next token is drawn; `top_k` null keeps all. `order` names the steps, the first one first.
 *
 * @typedef {object} SamplerSettings
 * @property {number} temperature
 * @property {number | null} top_k
 * @property {number} top_p
 * @property {number} min_p
 * @property {StepName[]} order
 */

/** @typedef {Float32Array | Float64Array} Floats */

const MOST_IDS = 2 ** 21; // behind 32 bits, all of it a whole number in float64

/**
 * Token ids from most to least likely; of equals the lower id first.
 *
 * A browser sorts bare numbers ten times as fast as by a function of ours, so each is its logit's bits,
 * which are in its order but for negative ones, followed by its id.
 *
 * @param {Float32Array} logits
 */
export function sortedIds(logits) {
  const bits = new Int32Array(logits.map((logit) => logit + 0).buffer); // −0 is 0
  const keys = Float64Array.from(bits, (b, id) => id - (b < 0 ? b ^ 0x7fffffff : b) * MOST_IDS);
  return Uint32Array.from(keys.sort(), (key) => key - Math.floor(key / MOST_IDS) * MOST_IDS);
}

/**
 * e^((ℓᵢ − ℓ₀)/T) of the leading `count` sorted logits, and their sum.
 *
 * @param {Floats} sorted
 * @param {number} temperature
 * @param {number} [count]
 */
export function powers(sorted, temperature, count = sorted.length) {
  const values = new Float64Array(count);
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += values[i] = Math.exp((sorted[i] - sorted[0]) / temperature);
  }
  return { values, total };
}

/**
 * What a filter is handed: how many tokens lead, their powers and the sum of these, and the slack.
 *
 * @typedef {{count: number, values: Float64Array, total: number, slack: number}} Handed
 */

/**
 * How many tokens each filter leaves.
 *
 * @type {Record<Exclude<StepName, "temperature">,
 *   (sampling: SamplerSettings, handed: Handed) => number>}
 */
const FILTERS = {
  top_k: ({ top_k }, { count }) => (top_k ? Math.min(top_k, count) : count),
  top_p: ({ top_p }, { count, values, total, slack }) => {
    if (top_p >= 1) return count;
    let before = 0;
    for (let i = 0; i < count; i++) {
      if (i && before / total >= top_p - slack) return i;
      before += values[i];
    }
    return count;
  },
  min_p: ({ min_p }, { count, values, slack }) => {
    let kept = count;
    while (kept > 1 && values[kept - 1] < min_p - slack) kept -= 1;
    return kept;
  },
};

/**
 * What a step did: how many tokens are left, and the share they hold of what it was handed.
 *
 * @typedef {{name: StepName, count: number, mass: number}} Step
 */

/**
 * Apply the steps in their order to sorted logits. Gives each step, and the count and the
 * temperature at the end.
 *
 * @param {Floats} sorted
 * @param {SamplerSettings} sampling
 * @param {number} slack a cut that rounding alone would move
 */
export function applied(sorted, sampling, slack) {
  let count = sorted.length;
  let temperature = 1;
  /** Over all tokens; they change with the temperature alone. @type {Float64Array | null} */
  let values = null;
  /** @param {StepName} name @returns {Step} */
  const apply = (name) => {
    if (name === "temperature") {
      temperature = sampling.temperature;
      values = null;
      return { name, count, mass: 1 };
    }
    values ??= powers(sorted, temperature).values;
    const total = sumOf(values, count);
    count = FILTERS[name](sampling, { count, values, total, slack });
    return { name, count, mass: sumOf(values, count) / total };
  };
  const steps = sampling.order.map(apply);
  return { steps, count, temperature };
}

/**
 * The sum of the first `count` values.
 *
 * @param {Floats} values
 * @param {number} [count]
 */
export function sumOf(values, count = values.length) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += values[i];
  return sum;
}

/**
 * Probabilities of the leading `count` sorted logits at a temperature; they sum to one.
 *
 * @param {Floats} sorted
 * @param {number} temperature
 * @param {number} [count]
 */
export function probabilities(sorted, temperature, count = sorted.length) {
  const { values, total } = powers(sorted, temperature, count);
  for (let i = 0; i < count; i++) values[i] /= total;
  return values;
}

/**
 * −Σ p ln p in nats.
 *
 * @param {Floats} probs
 */
export function entropy(probs) {
  let sum = 0;
  for (const p of probs) if (p > 0) sum -= p * Math.log(p);
  return sum;
}

/**
 * Places drawn by their probabilities, each by a random number from 0 to 1.
 *
 * @param {Float64Array} probs they sum to one
 * @param {number} n
 * @param {() => number} random
 */
export function draws(probs, n, random) {
  return Array.from({ length: n }, () => {
    let left = random();
    for (let i = 0; i < probs.length; i++) {
      left -= probs[i];
      if (left < 0) return i;
    }
    return probs.length - 1; // rounding left a little over
  });
}
