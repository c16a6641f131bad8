// What the rotor is sent.

/** @import { InstrumentData, PackedArray } from "../../wire.js" */

/**
 * Two positions, from 0 to `last_position`.
 *
 * @typedef {{first: number, second: number}} RotorSettings
 */

/**
 * @typedef {object} RotorFields
 * @property {"rope" | "wave"} kind rope pairs dimensions i and i + Dh/2, wave 2i and 2i + 1
 * @property {PackedArray} first (n_pairs, 2), x and y of each pair before rotation
 * @property {PackedArray} second
 * @property {number[]} frequencies (n_pairs,), radians per position
 * @property {number} divisor of the score
 * @property {number} last_position
 * @property {{first: string, second: string}} names
 * @property {{first: number, second: number, score: number} | null} actual what the model itself got
 * @property {RotorSettings} settings
 */

/** @typedef {InstrumentData & RotorFields} RotorData */

export {};
