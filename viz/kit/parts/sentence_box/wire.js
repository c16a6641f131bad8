// What the sentence box is sent.

/** @import { InstrumentData } from "../../wire.js" */

/** @typedef {{sentence: string}} SentenceBoxSettings */

/**
 * @typedef {object} SentenceBoxFields
 * @property {string} label what the text is called
 * @property {string} placeholder what stands there while there is no text
 * @property {boolean} has_caret whether it takes the keyboard when the page is opened
 * @property {SentenceBoxSettings} settings
 */

/** @typedef {InstrumentData & SentenceBoxFields} SentenceBoxData */

export {};
