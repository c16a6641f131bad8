// What a run says at a row: all that is possible, the most likely first, and what is drawn from.

import { applied, probabilities, sortedIds, sumOf } from "../../sampling.js";

/**
 * What follows a token, most likely first: ids, logits, and what the model says of each.
 *
 * @typedef {{query: number, ids: Uint32Array, logits: Float32Array, before: Float64Array}} Sorted
 */

/**
 * @param {number} query
 * @param {Float32Array} logits (V,)
 * @returns {Sorted}
 */
export function sortedAfter(query, logits) {
  const ids = sortedIds(logits);
  const sorted = Float32Array.from(ids, (id) => logits[id]);
  return { query, ids, logits: sorted, before: probabilities(sorted, 1) };
}

/** What the model says at each row of a run: asked for once. */
export class Following {
  /** @type {Map<number, Promise<Sorted | null>>} */
  #asked = new Map();
  /** What has arrived. @type {Map<number, Sorted>} */
  known = new Map();

  /** @param {(query: number) => Promise<{values: unknown} | null>} load logits after a token */
  constructor(load) {
    this.load = load;
  }

  /**
   * @param {number} query
   * @returns {Promise<Sorted | null>} null where it did not arrive
   */
  after(query) {
    const asked = this.#asked.get(query) ?? this.#ask(query);
    this.#asked.set(query, asked);
    return asked;
  }

  /** @param {number} query */
  async #ask(query) {
    const found = await this.load(query).catch(() => null);
    if (!found) this.#asked.delete(query);
    if (!found) return null;
    const sorted = sortedAfter(query, /** @type {Float32Array} */ (found.values));
    this.known.set(query, sorted);
    return sorted;
  }
}

/**
 * What is drawn from: probabilities of the leading `count`, all others cut, and what these had.
 *
 * @typedef {Sorted & {probs: Float64Array, count: number, cut: number}} Chance
 */

/**
 * @param {Sorted} sorted
 * @param {{temperature: number, top_p: number}} settings
 * @param {number} slack
 * @returns {Chance}
 */
export function chanceOf(sorted, { temperature, top_p }, slack) {
  /** @type {import("../../sampling.js").StepName[]} */
  const order = ["temperature", "top_k", "top_p", "min_p"];
  const sampling = { temperature, top_k: null, top_p, min_p: 0, order };
  const { count } = applied(sorted.logits, sampling, slack);
  const all = probabilities(sorted.logits, temperature);
  const probs = probabilities(sorted.logits, temperature, count);
  const cut = count === all.length ? 0 : 1 - sumOf(all, count);
  return { ...sorted, probs, count, cut };
}

/**
 * The place in the sorted list that a number from 0 to 1 falls on.
 *
 * @param {Chance} chance
 * @param {number} at
 */
export function placeAt({ probs, count }, at) {
  let sum = 0;
  for (let i = 0; i < count; i++) if (at < (sum += probs[i])) return i;
  return count - 1;
}
