// What the sampler is sent.

/** @import { Bounds, InstrumentData, PackedArray } from "../core/wire.js" */

/**
 * How the next token is drawn; `top_k` null keeps all. `order` names the steps, the first one first.
 *
 * @typedef {object} SamplerSettings
 * @property {number} temperature
 * @property {number | null} top_k
 * @property {number} top_p
 * @property {number} min_p
 * @property {StepName[]} order
 */

/** @typedef {"temperature" | "top_k" | "top_p" | "min_p"} StepName */

/**
 * @typedef {object} SamplerFields
 * @property {PackedArray} logits (vocabulary,) of one position
 * @property {string[]} labels of the leading tokens
 * @property {SamplerSettings} settings
 * @property {{temperature: Bounds, top_p: Bounds, min_p: Bounds}} bounds
 * @property {number} slack a cut that rounding alone would move
 */

/** @typedef {InstrumentData & SamplerFields} SamplerData */

export {};
