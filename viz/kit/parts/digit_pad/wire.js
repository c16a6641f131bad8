// What the sketch is sent.

/** @import { InstrumentData, PackedArray } from "../../wire.js" */

/**
 * What the model makes of a picture: logits (C,), and what the row `query` attends to, in every head
 * (L, H, T) and through all layers (T,).
 *
 * @typedef {{query: number, logits: PackedArray, rows: PackedArray, rollout: PackedArray}} Answer
 */

/**
 * `digit` is the number of the shipped picture, `drawing` a drawn one as the address has it, or empty.
 * `at` names the head, as encoder.attn.5.0, `way` is one of `ways`.
 *
 * @typedef {{digit: number, drawing: string, at: string, way: string}} SketchSettings
 */

/**
 * @typedef {object} SketchFields
 * @property {number} size pixels of a side
 * @property {number} side patches of a side
 * @property {PackedArray} pixels (S · S,)
 * @property {Answer} answer
 * @property {string} group
 * @property {{chosen: number, label: number | null, n: number, wrong: number[]}} shipped the shipped
 *   pictures: which is shown and its class, how many there are, and those the model gets wrong
 * @property {{name: string, text: string}[]} ways
 * @property {SketchSettings} settings
 */

/** @typedef {InstrumentData & SketchFields} SketchData */

export {};
