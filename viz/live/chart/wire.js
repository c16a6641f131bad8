// What a chart is sent.

/**
 * @typedef {object} ChartData
 * @property {string} instrument
 * @property {string} key
 * @property {string} spec a Plotly figure, data and layout, as JSON
 * @property {number} height pixels
 * @property {string} alt what it shows, in words
 * @property {string} name of the file its camera saves
 * @property {"png" | "svg"} image_format
 * @property {boolean} is_clickable whether Python is told where a person clicked
 */

export {};
