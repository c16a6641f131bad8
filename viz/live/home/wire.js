// What Home is sent.

/** @import { Bounds, InstrumentData, PackedArray, Stream } from "../core/wire.js" */

/**
 * `n_tokens` is how many tokens the sentence has; one more asks for the next one.
 *
 * @typedef {{temperature: number, n_tokens: number}} HomeSettings
 */

/**
 * What the weights of the shown queries are computed from; Tk counts all tokens of the text.
 *
 * @typedef {object} HeadInputs
 * @property {PackedArray} q (T, Dh)
 * @property {PackedArray} k (Tk, Dh)
 * @property {PackedArray} mask (T, Tk) 1 where attention is allowed
 * @property {PackedArray | null} bias (T, Tk) added to the scores
 * @property {number} scale what q·kᵀ is multiplied with
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
 * @property {{run: string, sites: string[]}} independent the key of an independent run, empty where
 *   there is none, and the addresses of attention by layer
 * @property {Stream} stream the tokens that are shown, without words
 * @property {number} n_left_out tokens before those
 * @property {PackedArray} pattern (T, T) weights of the head
 * @property {PackedArray} mask (T, T) 1 where attention is allowed
 * @property {HeadInputs} inputs
 * @property {[number, number, number | null]} telling a query, the key it attends to, the weight
 * @property {PackedArray} logits (vocabulary,) after the last token
 * @property {LeadingToken[]} leading the most likely first
 * @property {string} signs what signs in their labels mean, or empty
 * @property {{temperature: Bounds}} bounds
 * @property {number} slack a cut that rounding alone would move
 * @property {number} allowed_error between what is shown and what is computed here
 * @property {string | null} why_no_more why the text cannot go on
 * @property {HomeSettings} settings
 */

/** @typedef {InstrumentData & HomeFields} HomeData */

/**
 * The check of what is on screen, sent as `checked`; a broken number is null.
 *
 * @typedef {object} Checked
 * @property {string} key
 * @property {number | null} error
 */

export {};
