// Arrays of the independent run, which what is on screen is compared with: asked for by address, never
// used to draw.

import { decodeSafetensors } from "./arrays.js";

/** @import { Matrix } from "./maths.js" */

const KEPT = 12;

/** @type {Map<string, Promise<Matrix>>} */
const kept = new Map();

/**
 * The array at an address of a run, such as decoder.blocks.2.attn.pattern[4]; a row alone is a matrix
 * of one row.
 *
 * @param {string} key of the run
 * @param {string} address
 * @returns {Promise<Matrix>}
 */
export function independent(key, address) {
  const place = `live/independent/${key}/${address}`;
  const found = kept.get(place) ?? load(place);
  kept.delete(place);
  kept.set(place, found);
  found.catch(() => kept.delete(place));
  const [oldest] = kept.keys();
  if (kept.size > KEPT) kept.delete(oldest);
  return found;
}

/**
 * @param {string} place
 * @returns {Promise<Matrix>}
 */
async function load(place) {
  const response = await fetch(new URL(place, document.baseURI));
  if (!response.ok) throw new Error(`no independent run (${response.status})`);
  return decodeSafetensors(await response.arrayBuffer()).value;
}
