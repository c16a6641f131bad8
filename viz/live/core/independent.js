// Arrays of the independent run, which what is on screen is compared with: asked for by address, never
// used to draw.

import { decodeSafetensors } from "./arrays.js";

/** @import { Matrix } from "./maths.js" */

const KEPT = 36; // a view takes some six arrays, all heads at a glance ten
const AT_ONCE = 2; // a browser asks six things at once: most stay free for what is to be drawn

let asking = 0;
/** @type {((value: null) => void)[]} */
const waiting = [];

/** @type {Map<string, Promise<Matrix>>} */
const kept = new Map();

const AT_A_TIME = 24; // numbers of one question

/** @type {Map<string, Promise<(string | null)[]>>} */
const keptTexts = new Map();

/** @type {Map<string, Promise<((string | null)[] | null)[]>>} */
const keptWords = new Map();

/**
 * What ids stand for, or a row of a run's input, of which a translation has two; null for a part of
 * a character.
 *
 * @param {string} key of the run
 * @param {number[] | "first" | "last"} [of]
 */
export function independentTexts(key, of = "last") {
  const place = `live/independent/${key}/texts/${of}`;
  return keep(keptTexts, place, async () => (await (await get(place)).json()).texts);
}

/**
 * Single numbers of a run by their addresses; NaN where it has none.
 *
 * @param {string} key of the run
 * @param {string[]} addresses
 * @returns {Promise<Map<string, number>>}
 */
export async function independentNumbers(key, addresses) {
  const found = new Map();
  for (let start = 0; start < addresses.length; start += AT_A_TIME) {
    const some = addresses.slice(start, start + AT_A_TIME);
    const place = `live/independent/${key}/numbers/${some.join(";")}`;
    /** @type {{values: (number | null)[]}} */
    const answer = await (await get(place)).json();
    some.forEach((address, i) => found.set(address, answer.values[i] ?? NaN));
  }
  return found;
}

/**
 * What the ids at addresses stand for, all of each in one list: null for a part of a character, and
 * in the place of a list where there is none.
 *
 * @param {string} key of the run
 * @param {string[]} addresses
 * @returns {Promise<Map<string, (string | null)[] | null>>}
 */
export async function independentWords(key, addresses) {
  const found = new Map();
  for (let start = 0; start < addresses.length; start += AT_A_TIME) {
    const some = addresses.slice(start, start + AT_A_TIME);
    const place = `live/independent/${key}/words/${some.join(";")}`;
    const words = await keep(
      keptWords,
      place,
      async () =>
        /** @type {((string | null)[] | null)[]} */ ((await (await get(place)).json()).words),
    );
    some.forEach((address, i) => found.set(address, words[i]));
  }
  return found;
}

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
  return keep(
    kept,
    place,
    async () => decodeSafetensors(await (await get(place)).arrayBuffer()).value,
  );
}

/**
 * What is kept for a place, or else loaded now; the longest unasked for goes.
 *
 * @template T
 * @param {Map<string, Promise<T>>} all
 * @param {string} place
 * @param {() => Promise<T>} load
 */
function keep(all, place, load) {
  const found = all.get(place) ?? load();
  all.delete(place);
  all.set(place, found);
  found.catch(() => all.delete(place));
  const [oldest] = all.keys();
  if (all.size > KEPT) all.delete(oldest);
  return found;
}

/**
 * What the app says at a place, a few at a time.
 *
 * @param {string} place
 */
async function get(place) {
  if (asking >= AT_ONCE) await new Promise((resolve) => waiting.push(resolve));
  asking += 1;
  try {
    const response = await fetch(new URL(place, document.baseURI));
    if (!response.ok) throw new Error(`no independent run (${response.status})`);
    return response;
  } finally {
    asking -= 1;
    waiting.shift()?.(null);
  }
}
