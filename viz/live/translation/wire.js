// What the page of translations is sent.

/** @import { Bounds, Group, InstrumentData, Stream } from "../../kit/wire.js" */

/**
 * One of the most likely tokens of a step.
 *
 * @typedef {object} LeadingToken
 * @property {number} id
 * @property {string} label
 * @property {number} before the model's probability
 * @property {number} after the one it was drawn with
 */

/**
 * What the model said at one place of the target, and the token that came there; null where none did.
 *
 * @typedef {object} Step
 * @property {number | null} id
 * @property {string} label
 * @property {number | null} prob the model's probability of it
 * @property {number | null} rank how many tokens were more likely
 * @property {boolean} is_forced whether a person chose it, or fed it in
 * @property {LeadingToken[]} leading the most likely first
 * @property {number} n_others tokens of the vocabulary that are not among those
 */

/**
 * What is chosen. `at` is a head: its group, layer and number.
 *
 * @typedef {object} TranslationSettings
 * @property {string} at
 * @property {"head" | "layer" | "all"} shown_heads
 * @property {"output" | "input"} align_by which row of a map belongs to a German word
 * @property {number | null} target_token the German token whose distribution is shown
 * @property {string} decode
 * @property {number} temperature
 * @property {number} top_p
 * @property {number} beams
 * @property {number} seed
 * @property {number[]} forced ids the target begins with
 */

/**
 * @typedef {object} TranslationFields
 * @property {string} arrays_key under which maps are fetched
 * @property {Record<string, Stream>} streams
 * @property {Group[]} groups
 * @property {Step[]} steps one for each row of the target's stream
 * @property {number} n_written tokens of the target, its end included
 * @property {{decode: string[][], heads: string[][], rows: string[][]}} options names and texts
 * @property {Record<string, Bounds>} bounds
 * @property {Record<string, string>} arrays safetensors in base64, by address
 * @property {{masked: number}} tile_codes bytes of tiles that are no weight
 * @property {TranslationSettings} settings
 */

/** @typedef {InstrumentData & TranslationFields} TranslationData */

export {};
