// The numbers of one run that Home draws. A token is a row of the run: where words are folded, row 0
// stands for all of them, and is no query.

import { applied, probabilities, sortedIds, sumOf } from "../../sampling.js";

/** @import { Numbers } from "../../maths.js" */

/**
 * A head.
 *
 * @typedef {{layer: number, head: number}} Head
 */

/**
 * What Python says of a run.
 *
 * @typedef {object} HomeSpec
 * @property {string} key another one when the numbers are
 * @property {string[]} labels of the rows
 * @property {string[]} axis the same, short and escaped for Plotly
 * @property {number} n_folded tokens that row 0 stands for
 * @property {number} n_tokens of the whole text
 * @property {number} n_layers
 * @property {number} n_heads
 * @property {number} d_model
 * @property {number} vocab_size
 * @property {string} position the scheme, in words
 * @property {boolean} has_positions whether vectors are added to the embeddings
 * @property {boolean} has_stream whether lengths and vectors of the residual stream are known
 * @property {string | null} why_no_more why the text cannot go on
 * @property {[number, number] | null} refused a drawn token that cannot stand there
 * @property {[number, number] | null} after its length before, and the token it went on with
 * @property {string} opens an address of a head's own page, with {layer} and {head} in it
 * @property {number} slack a cut that rounding alone would move
 * @property {Record<string, {low: number, high: number, step: number}>} bounds of the sliders
 */

/**
 * @typedef {object} HomeArrays
 * @property {Numbers} pattern (L, H, N, N)
 * @property {Numbers} mask (L, N, N), 1 where any head of a layer may attend
 * @property {Numbers} norms (2 L + 1, N), lengths of the residual stream: before, between, after
 * @property {Numbers} embed (N, 24) of each vector some numbers
 * @property {Numbers} positions (N, 24)
 * @property {Numbers} ffn (L, N, 24), what each MLP adds
 */

export class Run {
  /**
   * @param {HomeSpec} spec
   * @param {HomeArrays} arrays
   */
  constructor(spec, arrays) {
    this.spec = spec;
    this.arrays = arrays;
    this.n = spec.labels.length;
    this.first = spec.n_folded ? 1 : 0; // the first row that is a token
    this.mostNorm = largest(arrays.norms);
    this.mostAdded = largest(arrays.ffn);
    this.mostEmbedded = largest(arrays.embed);
    this.mostPositioned = largest(arrays.positions);
  }

  /**
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   * @param {number} key
   */
  weight(layer, head, query, key) {
    const { n } = this;
    return this.arrays.pattern[((layer * this.spec.n_heads + head) * n + query) * n + key];
  }

  /**
   * @param {number} layer
   * @param {number} query
   * @param {number} key
   */
  isMasked(layer, query, key) {
    return !this.arrays.mask[(layer * this.n + query) * this.n + key];
  }

  /**
   * What a query attends to in a head, or on average in all of a layer, or in all there are.
   *
   * @param {number} query
   * @param {Partial<Head> | null} focus
   * @returns {number[]}
   */
  row(query, focus) {
    const { n_layers, n_heads } = this.spec;
    const layers =
      focus?.layer === undefined ? Array.from({ length: n_layers }, (_, i) => i) : [focus.layer];
    const heads =
      focus?.head === undefined ? Array.from({ length: n_heads }, (_, i) => i) : [focus.head];
    const mean = Array.from({ length: this.n }, () => 0);
    for (const layer of layers)
      for (const head of heads)
        for (let key = 0; key < this.n; key++)
          mean[key] += this.weight(layer, head, query, key) / (layers.length * heads.length);
    return mean;
  }

  /**
   * The length of a token's vector after so many half layers, from 0 to 1 of the longest.
   *
   * @param {number} place
   * @param {number} token
   */
  length(place, token) {
    return this.spec.has_stream ? this.arrays.norms[place * this.n + token] / this.mostNorm : 0.3;
  }

  /**
   * The strongest attention of a query in one head, in the layers up to one.
   *
   * @param {number} last
   * @param {number} query
   */
  sharpest(last, query) {
    let best = { layer: 0, head: 0, key: 0, value: -1 };
    for (let layer = 0; layer <= last; layer++)
      for (let head = 0; head < this.spec.n_heads; head++)
        for (let key = 0; key < this.n; key++) {
          const value = this.weight(layer, head, query, key);
          if (value > best.value) best = { layer, head, key, value };
        }
    return best;
  }
}

/** @param {Numbers} values */
function largest(values) {
  return values.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-9);
}

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

const ARRAYS = /** @type {const} */ (["pattern", "mask", "norms", "embed", "positions", "ffn"]);

/**
 * A run, what follows its last token, and what each id of the vocabulary is called.
 *
 * @param {import("../../model.js").Model} model
 * @param {HomeSpec} spec
 */
export async function loadRun(model, spec) {
  const last = spec.labels.length - 1;
  const names = ["vocabulary", ...ARRAYS].map((name) => model.load(name));
  const [vocabulary, ...arrays] = await Promise.all(names);
  const logits = await model.load("logits", last);
  const found = Object.fromEntries(ARRAYS.map((name, i) => [name, arrays[i].values]));
  const run = new Run(spec, /** @type {HomeArrays} */ (/** @type {unknown} */ (found)));
  const words = new TextDecoder().decode(/** @type {Uint8Array} */ (vocabulary.values));
  const sorted = sortedAfter(last, /** @type {Float32Array} */ (logits.values));
  return { run, sorted, vocabulary: /** @type {string[]} */ (JSON.parse(words)) };
}

/** What follows each token of a run: asked for once. */
export class Following {
  /** @type {Map<number, Sorted>} */
  #known = new Map();

  /**
   * @param {(query: number) => Promise<{values: unknown}>} load logits after a token
   * @param {Sorted} last
   */
  constructor(load, last) {
    this.load = load;
    this.#known.set(last.query, last);
  }

  /**
   * @param {number} query
   * @returns {Promise<Sorted | null>} null where it did not arrive
   */
  async after(query) {
    const known = this.#known.get(query);
    if (known) return known;
    const found = await this.load(query).catch(() => null);
    if (!found) return null;
    const sorted = sortedAfter(query, /** @type {Float32Array} */ (found.values));
    this.#known.set(query, sorted);
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
