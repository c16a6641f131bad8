// What is sent of a text while it is written.

/** @import { InstrumentData, Looks, SamplerSettings, SliderBounds } from "../../wire.js" */
/** @import { Decoded } from "../../arrays.js" */
/** @import { Numbers } from "../../maths.js" */

/**
 * What comes, or came, as one token of a text. `sampling` is what a written token was drawn with;
 * null where the sliders say how to draw.
 *
 * @typedef {object} ShownDistribution
 * @property {string} key new when the numbers are
 * @property {number} at the token's number in the whole text
 * @property {Float32Array} [logits] (vocabulary,) where they came with an answer; else an array of the part
 * @property {number[]} ids of the tokens shown by name: the leading ones, and the drawn one
 * @property {string[]} labels of the same
 * @property {string} signs what signs in them mean, or empty
 * @property {SamplerSettings | null} sampling
 * @property {number | null} drawn the id of the token that is there
 */

/**
 * How a new token was drawn.
 *
 * @typedef {object} StepAbout
 * @property {number} token_id
 * @property {number} rank from 0
 * @property {number} before its predicted probability
 * @property {number} prob the probability it was drawn with
 * @property {number} kept how many tokens could be drawn
 * @property {boolean} put whether a person put it there
 * @property {number} n_dropped tokens the context had let go of
 */

/**
 * And what the position before it attended to: weights of this head on the tokens still in the context,
 * and the mean of all heads.
 *
 * @typedef {StepAbout & {row: Numbers, mean: Numbers}} WritingStep
 */

/**
 * What changed before a new token, in words.
 *
 * @typedef {object} Mark
 * @property {number} at the new token, from 0
 * @property {string} text
 */

/**
 * What a person asks for: to put a token in a place of the whole text, or to write again from it; to
 * write on, or to stop.
 *
 * @typedef {{kind: "put" | "again" | "write" | "stop", at?: number, token?: number | null}} Act
 */

/**
 * The sliders, and `at`, the token of the whole text whose distribution is shown; null follows the
 * newest. `rests` counts how often a text came to rest, or did not come: the page runs again.
 *
 * @typedef {SamplerSettings & {at: number | null, averaged: boolean, rests: number}}
 *   WritingSettings
 */

/**
 * @typedef {object} WritingFields
 * @property {string} head its name
 * @property {string[]} labels of the prompt and all new tokens
 * @property {string[]} axis the same, short and escaped for Plotly
 * @property {Looks} looks of the prompt's tokens
 * @property {number} n_prompt
 * @property {StepAbout[]} steps
 * @property {Mark[]} marks
 * @property {boolean} running
 * @property {string} note what there is to say about the whole text
 * @property {boolean} greedy whether the most likely token is taken, whatever the sliders say
 * @property {boolean} alone whether no page is drawn again, nor has a button to write on
 * @property {ShownDistribution[]} shown of some places, the newest last
 * @property {number} vocab_size
 * @property {SliderBounds} bounds
 * @property {number} slack a cut that rounding alone would move
 * @property {WritingSettings} settings
 */

/**
 * With weights of the steps, and `given`, the probability predicted for each token of the prompt.
 *
 * @typedef {InstrumentData & Omit<WritingFields, "steps"> & {steps: WritingStep[], given: Numbers}}
 *   WritingData
 */

/**
 * What the browser asks between two runs of the page: how many new tokens it has, the sliders, and
 * the token whose distribution it shows; and what a person does.
 *
 * @typedef {{known: number, settings: SamplerSettings, at: number | null, act?: Act | null}} Question
 */

/**
 * What is new since the `known` new tokens; the rest is of the whole text.
 *
 * @typedef {object} More
 * @property {string} key of the text, as in the data of the page
 * @property {number} known
 * @property {StepAbout[]} steps
 * @property {string[]} labels of the new tokens
 * @property {string[]} axis
 * @property {Mark[]} marks
 * @property {boolean} running
 * @property {string} note
 * @property {ShownDistribution} shown
 * @property {Record<"logits" | "row" | "mean", Decoded>} arrays
 */

export {};
