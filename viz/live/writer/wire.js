// What the writer is sent.

/** @import { InstrumentData } from "../core/wire.js" */

/**
 * A token that was among the most likely.
 *
 * @typedef {object} Candidate
 * @property {number} id
 * @property {string} label
 * @property {number} before the predicted probability
 * @property {number} after the one drawn from
 */

/**
 * One new token, what it was drawn from, and what the position before it attended to.
 *
 * @typedef {object} WriterStep
 * @property {number} token_id
 * @property {number} rank from 0
 * @property {number} before its predicted probability
 * @property {number} prob the probability it was drawn with
 * @property {number} kept how many tokens could be drawn
 * @property {number} n_dropped tokens the context had let go of
 * @property {number[]} row weights of this head on the tokens still in the context
 * @property {number[]} mean the same, mean of all heads
 * @property {Candidate[]} leading
 */

/**
 * `step` is the one to show, null the newest.
 *
 * @typedef {{step: number | null, averaged: boolean}} WriterSettings
 */

/**
 * @typedef {object} WriterFields
 * @property {string} head its name
 * @property {string[]} labels of the prompt and all new tokens
 * @property {string[]} axis the same, short and escaped for Plotly
 * @property {number} n_prompt
 * @property {WriterStep[]} steps
 * @property {boolean} running
 * @property {WriterSettings} settings
 */

/** @typedef {InstrumentData & WriterFields} WriterData */

export {};
