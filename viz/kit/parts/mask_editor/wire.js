// What the editor is sent.

/** @import { InstrumentData, PackedArray, Stream } from "../../wire.js" */

/**
 * A token's probability under the mask as it was and under the edited one; a broken number is null.
 *
 * @typedef {object} EditorBar
 * @property {string} label
 * @property {number | null} before
 * @property {number | null} after
 */

/**
 * `edits` names the cells that differ from the mask as it was, query-key: 3-1.5-2. `edits_of` tells
 * which mask that was.
 *
 * @typedef {{edits: string, edits_of?: string}} EditorSettings
 */

/**
 * @typedef {object} EditorFields
 * @property {string} head its name
 * @property {Stream} stream the tokens on both sides
 * @property {PackedArray} pattern (T, T) under the edited mask
 * @property {PackedArray} mask (T, T) the edited mask
 * @property {PackedArray} base (T, T) the mask as it was
 * @property {EditorBar[]} bars
 * @property {string} bars_title
 * @property {EditorSettings} settings
 */

/** @typedef {InstrumentData & EditorFields} EditorData */

export {};
