// What a model says at each row of a run: asked for once.

import { sortedTokens } from "../../sampling.js";

/** @typedef {import("../../sampling.js").Sorted & {query: number}} Sorted what follows a token */
/** @typedef {Sorted & import("../../sampling.js").Cut} Chance */

export class Following {
  /** @type {Map<number, Promise<Sorted | null>>} */
  #asked = new Map();
  /** What has arrived. @type {Map<number, Sorted>} */
  known = new Map();

  /** @param {(query: number) => Promise<{values: unknown}>} load logits after a token */
  constructor(load) {
    this.load = load;
  }

  /**
   * @param {number} query
   * @returns {Promise<Sorted | null>} null where it did not arrive
   */
  after(query) {
    const asked =
      this.#asked.get(query) ??
      this.load(query).then(
        ({ values }) => {
          const sorted = { query, ...sortedTokens(/** @type {Float32Array} */ (values)) };
          this.known.set(query, sorted);
          return sorted;
        },
        () => (this.#asked.delete(query), null),
      );
    this.#asked.set(query, asked);
    return asked;
  }
}
