// What is drawn of a picture, read back, against an independent run of the same picture.

import { independent } from "../core/independent.js";
import { errorOfNumber } from "../core/printed.js";
import { softmax } from "./classes.js";

/** @import { Reading } from "../core/screen.js" */

/**
 * What is on screen: the classes, the patches under the weights of a row, and whose weights they are.
 *
 * @typedef {object} OnScreen
 * @property {{share: number, number: string}[]} classes
 * @property {{density: number, number: string}[]} patches
 * @property {string[]} addresses the rows whose mean the weights are
 */

/**
 * @param {string} run
 * @param {OnScreen} screen
 * @param {number} allowed
 * @returns {Promise<Omit<Reading, "figure" | "token">>}
 */
export async function readBack(run, { classes, patches, addresses }, allowed) {
  const probs = softmax((await independent(run, "output")).values);
  const rows = await Promise.all(addresses.map((address) => independent(run, address)));
  const weights = Array.from(rows[0].values, (_, i) =>
    rows.reduce((sum, { values }) => sum + values[i] / rows.length, 0),
  ).slice(1);
  const most = Math.max(...weights);
  const ofClasses = worst(
    classes.map(({ share, number }, i) =>
      Math.max(Math.abs(share - probs[i]), errorOfNumber(number, probs[i])),
    ),
    probs.length,
  );
  const ofPatches = worst(
    patches.map(({ density, number }, i) =>
      Math.max(Math.abs(density - weights[i] / most), errorOfNumber(number, weights[i])),
    ),
    weights.length,
  );
  const error = Math.max(ofClasses, ofPatches);
  const address = ofClasses <= allowed ? addresses[0] : "output";
  const n = 2 * (classes.length + patches.length);
  return { error, n, address: error <= allowed ? "" : address };
}

/**
 * The largest error; NaN where there are not so many values.
 *
 * @param {number[]} errors
 * @param {number} n
 */
function worst(errors, n) {
  return errors.length === n ? Math.max(...errors) : NaN;
}
