// What was found when figures were read back: one place for the whole page, whoever drew them.
//
// A figure says that it has begun to change, and later what was found; who shows the verdict of the
// page listens. The newest word of a figure counts.

/**
 * What reading back one figure gave. `token` tells one drawing of it from another, `address` is the
 * first array that it is off, empty where all is well.
 *
 * @typedef {object} Reading
 * @property {string} figure
 * @property {string} token
 * @property {number} error relative, NaN where something is missing or no number
 * @property {number} n how many values
 * @property {string} address
 */

/** What each figure said last; null while it changes. @type {Map<string, Reading | null>} */
const readings = new Map();
/** @type {Set<() => void>} */
const listeners = new Set();

function notify() {
  for (const listener of listeners) listener();
}

/**
 * What is on screen is no longer what was read.
 *
 * @param {string} figure
 */
export function changes(figure) {
  readings.set(figure, null);
  notify();
}

/** @param {Reading} reading */
export function wasRead(reading) {
  readings.set(reading.figure, reading);
  notify();
}

/**
 * A figure was taken off the page, or has nothing to be compared with.
 *
 * @param {string} figure
 */
export function isGone(figure) {
  if (readings.delete(figure)) notify();
}

/** What all figures on the page said last. */
export function allReadings() {
  return [...readings.values()];
}

/**
 * @param {() => void} listener called after each word of a figure
 * @returns {() => void} what ends it
 */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
