// What the microscope is sent, and what it sends back besides changed settings.

/** @import { Bounds, InstrumentData, Option, PackedArray, Palette, Stream } from "../../wire.js" */

/**
 * The heads of one stack and kind: one grid of the overview. `queries` and `keys` name streams.
 *
 * @typedef {object} Group
 * @property {string} name such as decoder.attn; the setting `attention`
 * @property {string} title as on screen
 * @property {string} stack
 * @property {"self" | "cross"} kind
 * @property {string} queries
 * @property {string} keys
 * @property {number} n_layers
 * @property {number} n_heads
 * @property {string[]} sites address of each layer's attention
 * @property {PackedArray} tiles (layers · heads, rows, columns) bytes
 * @property {(number | null)[][]} sharpness of each layer and head
 * @property {[number, number, number | null][][]} strongest query, key and weight of each
 * @property {(HeadRole | null)[][]} roles what each does most on this input, where it does one thing
 */

/**
 * The name of a role, the mean of its measure, and over how many queries.
 *
 * @typedef {[name: string, value: number, n_queries: number]} HeadRole
 */

/**
 * How a role is put: on a small map, in a list, in a sentence, and after its number.
 *
 * @typedef {object} RoleWords
 * @property {string} name
 * @property {string} chip
 * @property {string} text
 * @property {string} says
 * @property {string} of
 */

/**
 * Another input through the same model, to compare with.
 *
 * @typedef {object} Run
 * @property {string} key
 * @property {string} name as on screen
 * @property {Record<string, Stream>} streams
 */

/**
 * A step of attention that can be looked at.
 *
 * @typedef {object} Stage
 * @property {import("../../maths.js").StepName} name
 * @property {string} text
 * @property {string} says what it does, in a sentence
 */

/**
 * What is chosen. `attention` is a group's name; the first group when it is left out.
 *
 * @typedef {object} MicroscopeSettings
 * @property {string} [attention]
 * @property {number} layer
 * @property {number} head
 * @property {string} view
 * @property {import("../../maths.js").StepName} stage
 * @property {[number, number] | null} cell the pinned query and key
 * @property {number | null} token
 * @property {number} mass cumulative attention shown per row
 * @property {string} change
 * @property {number} tau attention temperature
 * @property {string} against
 * @property {[number, number] | null} other layer and head to compare with
 * @property {string} second text to compare with
 * @property {string} how
 * @property {"layer" | "head" | "all"} over
 * @property {boolean} hide_first
 * @property {boolean} words
 */

/**
 * @typedef {object} MicroscopeFields
 * @property {string} model
 * @property {Record<string, Stream>} streams
 * @property {Group[]} groups
 * @property {RoleWords[]} roles
 * @property {MicroscopeSettings} settings
 * @property {Record<string, string>} arrays safetensors in base64, by address
 * @property {Run[]} runs
 * @property {Option[]} views
 * @property {Stage[]} stages
 * @property {Option[]} changes
 * @property {Option[]} against
 * @property {Option[]} how
 * @property {{mass: Bounds, tau: Bounds}} bounds
 * @property {{masked: number}} tile_codes bytes of tiles that are no weight
 */

/** @typedef {InstrumentData & MicroscopeFields} MicroscopeData */

export {};
