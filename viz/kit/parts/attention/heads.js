// The heads of a microscope: how they are addressed and called, and what is computed of one.

import { headAddress } from "../../arrays.js";
import { digits } from "../../dom.js";
import { furthest, steps, unknownStages, weightedValues } from "../../maths.js";

/** @import { Matrices, Source } from "../../arrays.js" */
/** @import { HeadArrays, Steps } from "../../maths.js" */
/** @import { Between } from "../../patterns.js" */
/** @import { Stream } from "../../wire.js" */
/** @import { Group, MicroscopeData } from "./wire.js" */

const TOO_FAR = 1e-4;

/**
 * A head as the browser has it: its arrays and its steps. Its weights are the run's own. `error` is how
 * far they are from those that the steps lead to; where it `isOff`, or `unknown` names a stage that
 * cannot be computed, weights and output, as they ran, are the only steps.
 *
 * @typedef {{head: HeadArrays, steps: Steps, error: number, isOff: boolean, unknown: string[]}}
 *   LoadedHead
 */

/** So that a head seen again is not computed again. @type {WeakMap<Matrices, LoadedHead>} */
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
  const { matrices, stages } = await library.fetch(headAddress(key, site, number));
  const known = computed.get(matrices);
  if (known) return known;
  const head = /** @type {HeadArrays} */ (/** @type {unknown} */ ({ ...matrices, stages }));
  const loaded = compared(head);
  computed.set(matrices, loaded);
  return loaded;
}

/**
 * @param {HeadArrays} head
 * @returns {LoadedHead}
 */
function compared(head) {
  const ran = { weights: head.pattern, output: weightedValues(head.pattern, head.v) };
  const unknown = unknownStages(head);
  if (unknown.length) return { head, steps: ran, error: 0, isOff: false, unknown };
  const own = steps(head);
  const error = furthest(own.weights, head.pattern);
  const isOff = error > TOO_FAR;
  return { head, steps: isOff ? ran : { ...own, ...ran }, error, isOff, unknown };
}

/**
 * Why a head is shown without its steps, in words; empty where they are shown.
 *
 * @param {LoadedHead} loaded
 * @param {string} name
 */
export function whyWithoutSteps({ error, unknown, isOff }, name) {
  if (!isOff && !unknown.length) return "";
  const why = unknown.length
    ? `A step of ${name} is not known here (${unknown.join(", ")})`
    : `What follows from q and k of ${name} is off the run’s weights by ${digits(error)}`;
  return `${why}: the weights are shown as they ran, without steps.`;
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
