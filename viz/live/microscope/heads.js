// The heads of a microscope: how they are addressed and called, and what is computed of one.

import { headAddress } from "../../kit/arrays.js";
import { steps } from "../../kit/maths.js";

/** @import { Source } from "../../kit/arrays.js" */
/** @import { HeadArrays, Steps } from "../../kit/maths.js" */
/** @import { Between } from "../../kit/patterns.js" */
/** @import { Stream } from "../../kit/wire.js" */
/** @import { Group, MicroscopeData } from "./wire.js" */

/**
 * A head as the browser has it: its arrays and its steps.
 *
 * @typedef {{head: HeadArrays, steps: Steps}} LoadedHead
 */

/** So that a head seen again is not computed again. @type {WeakMap<HeadArrays, LoadedHead>} */
const computed = new WeakMap();

/**
 * One head of one run.
 *
 * @param {Source} library
 * @param {string} key of the run
 * @param {string} site
 * @param {number} number of the head
 * @returns {Promise<LoadedHead>}
 */
export async function loadHead(library, key, site, number) {
  const matrices = await library.fetch(headAddress(key, site, number));
  const head = /** @type {HeadArrays} */ (/** @type {unknown} */ (matrices));
  const known = computed.get(head);
  if (known) return known;
  const loaded = { head, steps: steps(head) };
  computed.set(head, loaded);
  return loaded;
}

/**
 * The group of heads a setting names, else the first.
 *
 * @param {MicroscopeData} data
 * @param {string | undefined} name
 * @returns {Group}
 */
export function groupOf(data, name) {
  return data.groups.find((group) => group.name === name) ?? data.groups[0];
}

/**
 * What a head is called: L2 H5, with its kind of attention where there are several.
 *
 * @param {{groups: Group[]}} data
 * @param {Group} group
 * @param {number} layer
 * @param {number} head
 */
export function headName({ groups }, group, layer, head) {
  const name = `L${layer} H${head}`;
  return groups.length > 1 ? `${group.title} ${name}` : name;
}

/**
 * What a person gave.
 *
 * @param {Record<string, Stream>} streams
 */
export function givenOf(streams) {
  return Object.values(streams).some(({ kind }) => kind === "patches") ? "picture" : "sentence";
}

/**
 * The streams that a group's attention is between, of this run or of another.
 *
 * @param {Record<string, Stream>} streams
 * @param {Group} group
 * @returns {Between}
 */
export function between(streams, { kind, queries, keys }) {
  const isCross = kind === "cross";
  return {
    kind,
    queries: streams[queries],
    keys: streams[keys],
    rowTitle: isCross ? `query (${queries})` : "query",
    columnTitle: isCross ? `key (${keys})` : "key",
  };
}
