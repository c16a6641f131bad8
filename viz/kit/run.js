// A run in the browser: its streams, its kinds of attention, and each of its heads as it ran.

import { digits } from "./dom.js";
import { furthest, matrix, steps, unknownStages, weightedValues } from "./maths.js";
import { headName } from "./names.js";

/** @import { HeadArrays, Matrix, Steps } from "./maths.js" */
/** @import { Decoded } from "./arrays.js" */
/** @import { Model } from "./model.js" */
/** @import { Between } from "./patterns.js" */
/** @import { Stream } from "./wire.js" */

const TOO_FAR = 1e-4;
const GIVEN = "given"; // weights that came from elsewhere, as in kit/run.py

/**
 * How the weights of a layer came about: the stages of its record, and what they need.
 *
 * @typedef {object} Site
 * @property {string} address of the layer's attention: decoder.blocks.3.attn
 * @property {string[]} stages
 * @property {number | null} scale
 * @property {number | null} softcap
 * @property {number[] | null} sinks of each head
 */

/**
 * The name of a role, the mean of its measure, and over how many queries.
 *
 * @typedef {[name: string, value: number, n_queries: number]} HeadRole
 */

/**
 * All layers of one kind of attention in one stack. `queries` and `keys` name streams.
 *
 * @typedef {object} Group
 * @property {string} name such as decoder.cross_attn
 * @property {string} title as on screen
 * @property {"self" | "cross"} kind
 * @property {string} queries
 * @property {string} keys
 * @property {number} n_layers
 * @property {number} n_heads
 * @property {Site[]} sites
 * @property {(number | null)[][]} sharpness of each layer and head
 * @property {[number, number, number | null][][]} strongest query, key and weight of each
 * @property {(HeadRole | null)[][]} roles what each does most on this input, where it does one thing
 */

/**
 * What Python says of a run; `prefix` stands before the names of its arrays.
 *
 * @typedef {object} RunAbout
 * @property {string} key new when the numbers are
 * @property {Record<string, Stream>} streams
 * @property {Group[]} groups
 * @property {number} masked the byte of a masked cell in small maps
 * @property {string} [prefix]
 * @property {string} [name] of another run, as on screen
 */

/**
 * A head as the browser has it: its arrays and its steps. Its weights are the run's own. `error` is how
 * far they are from those that the steps lead to; where it `isOff`, or `unknown` names a stage that
 * cannot be computed, weights and output, as they ran, are the only steps.
 *
 * @typedef {object} Head
 * @property {HeadArrays} head
 * @property {Steps} steps
 * @property {number} error
 * @property {boolean} isOff
 * @property {string[]} unknown
 */

/**
 * So that a head seen again is not computed again: by its queries or, where it has none, its weights,
 * with all that it was computed from. Arrays that are alike are loaded once.
 *
 * @type {WeakMap<Decoded, {from: (Decoded | null)[], head: Head}>}
 */
const computed = new WeakMap();

export class Run {
  /**
   * @param {Model} model whose arrays it loads
   * @param {RunAbout} about
   */
  constructor(model, about) {
    this.model = model;
    this.about = about;
    this.prefix = about.prefix ?? "";
  }

  /**
   * The group of a name, else the first.
   *
   * @param {string | undefined} name
   */
  group(name) {
    const { groups } = this.about;
    return groups.find((group) => group.name === name) ?? groups[0];
  }

  /**
   * What a head is called: L2 H5, with its kind of attention where there are several.
   *
   * @param {Group} group
   * @param {number} layer
   * @param {number} head
   */
  nameOf(group, layer, head) {
    const name = headName(layer, head);
    return this.about.groups.length > 1 ? `${group.title} ${name}` : name;
  }

  /** What a person gave. */
  get given() {
    const streams = Object.values(this.about.streams);
    return streams.some(({ kind }) => kind === "patches") ? "picture" : "sentence";
  }

  /**
   * The streams that a group's attention is between.
   *
   * @param {Group} group
   * @returns {Between}
   */
  between({ kind, queries, keys }) {
    const { streams } = this.about;
    const isCross = kind === "cross";
    return {
      kind,
      queries: streams[queries],
      keys: streams[keys],
      rowTitle: isCross ? `query (${queries})` : "query",
      columnTitle: isCross ? `key (${keys})` : "key",
    };
  }

  /**
   * Small maps of all heads of a group.
   *
   * @param {Group} group
   */
  async tiles({ name }) {
    const { values, shape } = await this.model.load(`${this.prefix}${name}.tiles`);
    return { shape: shape.slice(1), bytes: values };
  }

  /**
   * One head as it ran, and what its stages make of q and k.
   *
   * @param {Group} group
   * @param {number} layer
   * @param {number} head
   * @returns {Promise<Head>}
   */
  async head({ sites, n_heads }, layer, head) {
    const site = sites[layer];
    /** @type {(name: string) => Promise<Decoded | null>} */
    const load = (name) => {
      const about = this.#about(site, name);
      if (!about) return Promise.resolve(null);
      const n = about.shape[0]; // all heads share one mask; several of them a key and a value
      return this.model.load(this.#named(site, name), Math.floor((head * n) / n_heads));
    };
    const names = ["pattern", "mask", "q", "k", "v", "bias"];
    const from = await Promise.all(names.map(load));
    const [pattern, , q] = from;
    if (!pattern) throw new Error(`there is no head ${head} of ${site.address}`);
    const known = computed.get(q ?? pattern);
    if (known?.from.every((array, i) => array === from[i])) return known.head;
    const found = compared(arraysOf(site, head, from));
    computed.set(q ?? pattern, { from, head: found });
    return found;
  }

  /**
   * Many heads in one map, and the cells that any of them may attend to.
   *
   * @param {Group} group
   * @param {string} how mean or maximum
   * @param {"layer" | "head" | "all"} over
   * @param {number} index which layer or head
   * @returns {Promise<{pattern: Matrix, mask: Matrix}>}
   */
  async summary({ name, sites }, how, over, index) {
    const pattern = matrixOf(await this.model.load(`${this.prefix}${name}.${how}.${over}`, index));
    const masks = (over === "layer" ? [sites[index]] : sites).flatMap((site) => {
      const [n] = this.#about(site, "mask").shape;
      const which = over === "head" && n > 1 ? [index] : Array.from({ length: n }, (_, i) => i);
      return which.map((i) => this.model.load(this.#named(site, "mask"), i));
    });
    const open = new Set((await Promise.all(masks)).map(({ values }) => values)); // most are one
    const any = new Uint8Array(pattern.values.length);
    for (const mask of open) mask.forEach((isOpen, i) => (any[i] |= isOpen));
    return { pattern, mask: matrix(pattern.rows, pattern.columns, any) };
  }

  /**
   * @param {Site} site
   * @param {string} name
   */
  #named({ address }, name) {
    return `${this.prefix}${address}.${name}`;
  }

  /**
   * @param {Site} site
   * @param {string} name
   */
  #about(site, name) {
    return this.model.get("arrays")[this.#named(site, name)];
  }
}

/** @param {Decoded} array of two axes */
function matrixOf({ values, shape }) {
  return matrix(shape[0], shape[1], values);
}

/**
 * @param {Site} site
 * @param {number} head
 * @param {(Decoded | null)[]} loaded pattern, mask, q, k, v and bias; what there is none of is null
 * @returns {HeadArrays}
 */
function arraysOf({ stages, scale, softcap, sinks }, head, loaded) {
  const [pattern, mask, q, k, v, bias] = loaded.map((array) => array && matrixOf(array));
  const arrays = { pattern, mask, q, k, v, bias, stages, scale, softcap, sink: sinks?.[head] };
  const there = Object.entries(arrays).filter(([, value]) => value != null);
  return /** @type {HeadArrays} */ (Object.fromEntries(there));
}

/**
 * @param {HeadArrays} head
 * @returns {Head}
 */
function compared(head) {
  const { pattern, v } = head;
  /** @type {Steps} */
  const ran = { weights: pattern, ...(v && { output: weightedValues(pattern, v) }) };
  const unknown = unknownStages(head);
  if (unknown.length) return { head, steps: ran, error: 0, isOff: false, unknown };
  const own = steps(head);
  const error = furthest(own.weights, pattern);
  const isOff = error > TOO_FAR;
  return { head, steps: isOff ? ran : { ...own, ...ran }, error, isOff, unknown };
}

/**
 * Why a head is shown without its steps, in words; empty where they are shown, or there are none.
 *
 * @param {Head} loaded
 * @param {string} name
 */
export function whyWithoutSteps({ error, unknown, isOff }, name) {
  if ((!isOff && !unknown.length) || unknown.includes(GIVEN)) return "";
  const why = unknown.length
    ? `A step of ${name} is not known here (${unknown.join(", ")})`
    : `What follows from q and k of ${name} is off the run’s weights by ${digits(error)}`;
  return `${why}: the weights are shown as they ran, without steps.`;
}
