// What the verdict on the page's figures is sent, and sends.

/**
 * @typedef {object} ScreenData
 * @property {string} instrument
 * @property {string} key
 * @property {string} run the key of the page's run; empty where it has no independent one
 * @property {string} numbers which numbers stand in lines and tables; empty where there are none
 * @property {number} allowed_error
 */

/**
 * A figure that is not the model's, sent in a list as `found`; a broken number is null.
 *
 * @typedef {object} Failure
 * @property {string} figure
 * @property {string} token which drawing of it
 * @property {string} address the first array it is off
 * @property {number | null} error
 */

export {};
