// What pickers are sent.

/** @import { InstrumentData, Option } from "../../wire.js" */

/**
 * One list to choose from.
 *
 * @typedef {object} Picker
 * @property {string} name of its setting
 * @property {string} label
 * @property {Option[]} options
 * @property {string | null} placeholder shown while nothing is chosen; null where something always is
 */

/**
 * @typedef {object} PickersFields
 * @property {Picker[]} pickers
 * @property {Record<string, string>} settings
 */

/** @typedef {InstrumentData & PickersFields} PickersData */

export {};
