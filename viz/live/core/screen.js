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
/**
 * Who drew a figure last. One that is put in the place of another may come before that one goes, whose
 * last words are then of nothing that is on screen.
 *
 * @type {Map<string, object>}
 */
const owners = new Map();
/** @type {Set<() => void>} */
const listeners = new Set();

function notify() {
  for (const listener of listeners) listener();
}

/**
 * What is on screen is no longer what was read.
 *
 * @param {string} figure
 * @param {object} owner who draws it
 */
export function changes(figure, owner) {
  owners.set(figure, owner);
  readings.set(figure, null);
  notify();
}

/**
 * @param {Reading} reading
 * @param {object} owner who drew the figure
 */
export function wasRead(reading, owner) {
  if (isOfAnother(reading.figure, owner)) return;
  owners.set(reading.figure, owner);
  readings.set(reading.figure, reading);
  notify();
}

/**
 * A figure was taken off the page, or has nothing to be compared with.
 *
 * @param {string} figure
 * @param {object} owner who drew it
 */
export function isGone(figure, owner) {
  if (isOfAnother(figure, owner)) return;
  owners.delete(figure);
  if (readings.delete(figure)) notify();
}

/**
 * @param {string} figure
 * @param {object} owner
 */
function isOfAnother(figure, owner) {
  const last = owners.get(figure);
  return last !== undefined && last !== owner;
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
