// The filters over logits, as model/decoding has them, over the whole vocabulary.
//
// Every filter keeps the most likely tokens and temperature changes no order, so on logits sorted
// once a distribution is described by how many lead: each step takes a count and gives a smaller one.

import { share } from "./dom.js";

/** @import { SamplerSettings, StepName } from "./wire.js" */

/** @typedef {Float32Array | Float64Array} Floats */

const MOST_IDS = 2 ** 21; // behind 32 bits, all of it a whole number in float64

/**
 * How a token is drawn, out of all that is chosen.
 *
 * @param {Record<string, any>} settings
 * @param {StepName[]} [order] the steps that are taken
 * @returns {SamplerSettings}
 */
export function samplingOf(settings, order = settings.order) {
  /** @type {any} */
  const steps = Object.fromEntries(order.map((name) => [name, settings[name]]));
  return { ...steps, order };
}

/**
 * Token ids from most to least likely; of equals the lower id first.
 *
 * A browser sorts bare numbers ten times as fast as by a function of ours, so each is its logit's bits,
 * which are in its order but for negative ones, followed by its id.
 *
 * @param {Float32Array} logits
 */
function sortedIds(logits) {
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
function probabilities(sorted, temperature, count = sorted.length) {
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
 * The place that a number from 0 to 1 falls on.
 *
 * @param {ArrayLike<number>} probs they sum to one
 * @param {number} at
 */
export function placeAt(probs, at) {
  let sum = 0;
  for (let i = 0; i < probs.length; i++) if (at < (sum += probs[i])) return i;
  return probs.length - 1; // rounding left a little over
}

/**
 * All tokens, the most likely first: ids, logits, and what the model says of each.
 *
 * @typedef {{ids: Uint32Array, logits: Float32Array, before: Float64Array}} Sorted
 */

/**
 * @param {Float32Array} logits (V,)
 * @returns {Sorted}
 */
export function sortedTokens(logits) {
  const ids = sortedIds(logits);
  const sorted = Float32Array.from(ids, (id) => logits[id]);
  return { ids, logits: sorted, before: probabilities(sorted, 1) };
}

/**
 * What is drawn from: probabilities of the leading `count`; `tempered` is of all, before any is cut.
 *
 * @typedef {{steps: Step[], count: number, tempered: Float64Array, probs: Float64Array}} Cut
 * @typedef {Sorted & Cut} Chance
 */

/**
 * Apply the steps in their order.
 *
 * @template {Sorted} Of
 * @param {Of} sorted
 * @param {Partial<SamplerSettings> & Pick<SamplerSettings, "temperature" | "order">} given
 * @param {number} slack a cut that rounding alone would move
 * @returns {Of & Cut}
 */
export function chanceOf(sorted, given, slack) {
  const sampling = { top_k: null, top_p: 1, min_p: 0, ...given };
  const { logits } = sorted;
  let count = logits.length;
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
    values ??= powers(logits, temperature).values;
    const total = sumOf(values, count);
    count = FILTERS[name](sampling, { count, values, total, slack });
    return { name, count, mass: sumOf(values, count) / total };
  };
  const steps = sampling.order.map(apply);
  const tempered = probabilities(logits, temperature);
  return { ...sorted, steps, count, tempered, probs: probabilities(logits, temperature, count) };
}

/**
 * How many tokens are left, and what share of the probability they hold at this temperature.
 *
 * @param {Cut} chance
 */
export function leftInWords({ tempered, count }) {
  const [all, some] = [tempered.length, count].map((n) => n.toLocaleString("en"));
  if (count === tempered.length) return `all ${all} tokens left`;
  return `${some} of ${all} tokens left, ${share(sumOf(tempered, count))}`;
}

/**
 * A token's bars.
 *
 * @param {Chance} chance
 * @param {number} place
 */
export function barsAt({ before, probs, tempered, count }, place) {
  const isCut = place >= count;
  const after = probs[place] ?? 0;
  return { before: before[place], after, lost: isCut ? tempered[place] : 0, isCut };
}
