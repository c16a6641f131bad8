// Heads of a translation: how they are spelled, called and fetched.

import { headAddress, summaryAddress } from "../../kit/arrays.js";

/** @import { Numbers } from "../../kit/maths.js" */
/** @import { Between } from "../../kit/patterns.js" */
/** @import { Chosen } from "../../kit/groups.js" */
/** @import { Group } from "../../kit/wire.js" */
/** @import { TranslationData, TranslationSettings } from "./wire.js" */

export const CROSS = "decoder.cross_attn";
/** What the streams are called on screen. @type {Record<string, string>} */
export const LANGUAGES = { encoder: "English", decoder: "German" };

/**
 * The head that the settings name.
 *
 * @param {TranslationData} data
 * @param {TranslationSettings} settings
 * @returns {Chosen}
 */
export function chosenHead({ groups }, { at, shown_heads: over }) {
  const parts = at.split(".");
  const [layer, head] = parts.slice(-2).map(Number);
  const name = parts.slice(0, -2).join(".");
  const group = groups.find((found) => found.name === name) ?? groups[groups.length - 1];
  return { group, layer, head, over };
}

/**
 * The heads whose weights are the lines between the words: the chosen ones where they attend from
 * German to English, else the mean of all that do.
 *
 * @param {TranslationData} data
 * @param {Chosen} chosen
 * @returns {Chosen}
 */
export function headsOfLines({ groups }, chosen) {
  if (chosen.group.name === CROSS) return chosen;
  const group = groups.find(({ name }) => name === CROSS) ?? chosen.group;
  return { group, layer: 0, head: 0, over: "all" };
}

/**
 * Where their map is fetched from, as `_address` in data.py.
 *
 * @param {string} key of the run
 * @param {Chosen} chosen
 */
export function addressOf(key, { group, layer, head, over }) {
  if (over === "head") return headAddress(key, group.sites[layer], head);
  return summaryAddress(key, group.name, "mean", over, over === "layer" ? layer : 0);
}

/**
 * The streams a group's attention is between.
 *
 * @param {TranslationData} data
 * @param {Group} group
 * @returns {Between}
 */
export function between({ streams }, { kind, queries, keys }) {
  return {
    kind,
    queries: streams[queries],
    keys: streams[keys],
    rowTitle: `query (${LANGUAGES[queries] ?? queries})`,
    columnTitle: `key (${LANGUAGES[keys] ?? keys})`,
  };
}

/**
 * The row of a cross-attention map that belongs to the n-th token of the target; null where it has
 * none: an end is never fed in.
 *
 * @param {number} n
 * @param {TranslationSettings["align_by"]} by
 * @param {number} rows
 */
export function rowOfToken(n, by, rows) {
  const row = by === "input" ? n + 1 : n;
  return row < rows ? row : null;
}

/**
 * The place of the largest weight of a row, the first of equal ones.
 *
 * @param {Numbers} row
 */
export function strongestIn(row) {
  return row.reduce((best, weight, i) => (weight > row[best] ? i : best), 0);
}
