// What the page of blanks is sent.

/** @import { Bounds, Group, InstrumentData, PackedArray, Stream } from "../../kit/wire.js" */

/**
 * A token of the vocabulary, and what it is on screen.
 *
 * @typedef {object} NamedToken
 * @property {number} id
 * @property {string} label
 */

/**
 * What was predicted in one blank. A broken number is null.
 *
 * @typedef {object} Found
 * @property {number} place
 * @property {number} id the token that stood there
 * @property {string} label of that
 * @property {number | null} prob of that
 * @property {number | null} nats −ln of that
 * @property {number} rank how many tokens were more likely
 * @property {NamedToken} best the most likely token
 * @property {number | null} best_prob
 */

/**
 * The distribution of one blank.
 *
 * @typedef {object} ShownBlank
 * @property {number} place
 * @property {number} id the token that stood there
 * @property {PackedArray} logits of the whole vocabulary
 * @property {NamedToken[]} named the most likely first; the true one last where it is not among them
 */

/**
 * What is chosen. `at` is a head: its group, layer and number.
 *
 * @typedef {object} ClozeSettings
 * @property {number[]} blanks places that are hidden
 * @property {number} blank the one whose distribution is shown, −1 for none
 * @property {boolean} causal whether the causal mask is put on
 * @property {string} at
 * @property {number} temperature
 * @property {number} top_p
 */

/**
 * @typedef {object} ClozeFields
 * @property {string} arrays_key under which maps are fetched
 * @property {string[]} labels of the sentence with nothing hidden
 * @property {number[]} words the word each token belongs to
 * @property {Stream} stream the tokens as the model was given them
 * @property {Group[]} groups
 * @property {Found[]} found one for each blank
 * @property {number} hardest the word that is found least when it is hidden, −1 for none
 * @property {ShownBlank | null} shown
 * @property {Record<string, string>} arrays safetensors in base64, by address
 * @property {{masked: number}} tile_codes bytes of tiles that are no weight
 * @property {Record<string, Bounds>} bounds
 * @property {number} slack a cut of top-p that rounding alone would move
 * @property {ClozeSettings} settings
 */

/** @typedef {InstrumentData & ClozeFields} ClozeData */

export {};
