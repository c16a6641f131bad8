// What a chart is sent.

/**
 * The numbers of one property of one trace, and where an independent run has the same.
 *
 * @typedef {object} OriginPlace
 * @property {number} trace
 * @property {string} property x, y, z, text, hex, said and the number of a line, or ticks.x, ticks.y;
 *   bold: whether what is written is; after words. (words.text, words.x, words.said.1, words.ticks.x,
 *   words.title) words of tokens
 * @property {string} run its key
 * @property {string} address of numbers, of ids of words, or tokens
 * @property {number} size errors are relative to it where all numbers are smaller
 */

/**
 * @typedef {object} ChartData
 * @property {string} instrument
 * @property {string} key
 * @property {string} spec a Plotly figure, data and layout, as JSON
 * @property {number} height pixels
 * @property {string} alt what it shows, in words
 * @property {string} name of the file its camera saves
 * @property {"png" | "svg"} image_format
 * @property {OriginPlace[]} origin empty where there is nothing to compare with
 * @property {string} token which drawing of it, new when its numbers are
 * @property {number} allowed_error between what is drawn and the independent run
 * @property {boolean} is_clickable whether Python is told where a person clicked
 */

export {};
