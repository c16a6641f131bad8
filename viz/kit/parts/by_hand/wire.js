// What attention by hand is sent.

/** @import { InstrumentData } from "../../wire.js" */

/**
 * Q, K, V and W_O in one line: cells by commas, rows by semicolons, matrices by bars; W_O may be
 * empty. `valid` counts the keys that may be attended to where the masking is "valid".
 *
 * @typedef {object} ByHandSettings
 * @property {string} cells
 * @property {number} heads
 * @property {string} masking none, causal or valid
 * @property {number} valid
 * @property {boolean} scaled whether scores are divided by √d
 */

/**
 * @typedef {object} ByHandFields
 * @property {{name: string, about: string, settings: ByHandSettings}[]} examples
 * @property {Record<string, string>} maskings what each is called
 * @property {{rows: number, columns: number, heads: number, size: number}} most
 * @property {ByHandSettings} settings
 */

/** @typedef {InstrumentData & ByHandFields} ByHandData */

export {};
