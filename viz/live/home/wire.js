// What Home is sent.

/** @import { Bounds, InstrumentData, PackedArray, Stream } from "../../kit/wire.js" */

/**
 * `n_tokens` is how many tokens the sentence has; one more asks for the next one.
 *
 * @typedef {{temperature: number, n_tokens: number}} HomeSettings
 */

/**
 * One of the most likely tokens.
 *
 * @typedef {object} LeadingToken
 * @property {number} id
 * @property {string} label
 * @property {number} prob its probability as Python computed it, at temperature 1
 */

/**
 * @typedef {object} HomeFields
 * @property {string} head its name, as L2 H4
 * @property {Stream} stream the tokens that are shown, without words
 * @property {number} n_left_out tokens before those
 * @property {PackedArray} pattern (T, T) weights of the head
 * @property {PackedArray} mask (T, T) 1 where attention is allowed
 * @property {[number, number, number | null]} telling a query, the key it attends to, the weight
 * @property {PackedArray} logits (vocabulary,) after the last token
 * @property {LeadingToken[]} leading the most likely first
 * @property {string} signs what signs in their labels mean, or empty
 * @property {{temperature: Bounds}} bounds
 * @property {number} slack a cut that rounding alone would move
 * @property {string | null} why_no_more why the text cannot go on
 * @property {HomeSettings} settings
 */

/** @typedef {InstrumentData & HomeFields} HomeData */

export {};
