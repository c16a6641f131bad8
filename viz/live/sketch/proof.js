// What is drawn of a picture, read back, against an independent run of the same picture. Nothing here
// is used to draw.

import { independent } from "../core/independent.js";
import { pixelsOf } from "../core/pixels.js";
import { errorOfNumber } from "../core/printed.js";
import { Shades } from "../core/shades.js";
import { Tally } from "../core/tally.js";

/** @import { Reading } from "../core/screen.js" */

const [BYTE, STEPS] = [255, 255]; // the largest of a pixel and of a scale of colours
const SHIPPED = /^test digit (\d+) of \d+: an? (\d+)$/;
const ON_CLASS = /^On \[CLS\] itself: (\S+|< \S+)\. /;
const SAYS = /^The model says (\d+), p = (\S+?)(?:\.|: (?:right|wrong, it is a (\d+))\.)$/;

/**
 * What is on screen: the picture, what is said of it, the classes, the patches under the weights of a
 * row, whose weights they are, and the small picture of each head with its colours.
 *
 * @typedef {object} OnScreen
 * @property {string} picture
 * @property {string} says
 * @property {string} line what the class token gets
 * @property {string} shipped which of the shipped pictures it is, and its class
 * @property {{share: number, number: string}[]} classes
 * @property {{density: number, number: string}[]} patches
 * @property {string[]} addresses the rows whose mean the weights are
 * @property {number} query
 * @property {HTMLCanvasElement[]} heads
 * @property {string[]} colors
 */

/**
 * @param {string} run
 * @param {OnScreen} screen
 * @param {number} allowed
 * @returns {Promise<Omit<Reading, "figure" | "token">>}
 */
export async function readBack(run, screen, allowed) {
  const tally = new Tally(allowed);
  await readPicture(tally, run, screen.picture);
  await readClasses(tally, run, screen);
  await readShipped(tally, run, screen);
  await readPatches(tally, run, screen);
  await readHeads(tally, run, screen);
  return tally.found;
}

/**
 * @param {Tally} tally
 * @param {string} run
 * @param {string} picture
 */
async function readPicture(tally, run, picture) {
  const { values, rows, columns } = await independent(run, "encoder.pixels");
  const { data, width, height } = await pixelsOf(picture);
  tally.hold(width === columns && height === rows, "encoder.pixels");
  for (let i = 0; i < values.length; i++)
    tally.add(Math.abs(data[4 * i] / BYTE - values[i]), "encoder.pixels");
}

/**
 * Bars and numbers of the classes, and the sentence that names the most likely one.
 *
 * @param {Tally} tally
 * @param {string} run
 * @param {OnScreen} screen
 */
async function readClasses(tally, run, { classes, says }) {
  const probs = Array.from((await independent(run, "classes")).values);
  tally.hold(classes.length === probs.length, "classes");
  classes.forEach(({ share, number }, i) => {
    tally.add(Math.abs(share - probs[i]), `classes[${i}]`);
    tally.add(errorOfNumber(number, probs[i]), `classes[${i}]`);
  });
  const [, best, number, label] = SAYS.exec(says) ?? [];
  tally.add(errorOfNumber(number ?? "", Math.max(...probs)), "classes");
  tally.add(Math.max(...probs) - (probs[Number(best)] ?? NaN), "classes");
  tally.hold(label !== best, "classes");
}

/**
 * The class that a shipped picture has, and whether the model is said to be right about it.
 *
 * @param {Tally} tally
 * @param {string} run
 * @param {OnScreen} screen
 */
async function readShipped(tally, run, { says, shipped }) {
  const [, place, label] = SHIPPED.exec(shipped) ?? [];
  if (!place) return; // a picture of one's own has no class
  const address = `shipped.class.${Number(place) - 1}`;
  const { values } = await independent(run, address);
  const [, best, , other] = SAYS.exec(says) ?? [];
  tally.hold(Number(label) === values[0], address);
  if (best) tally.hold(Number(other ?? best) === values[0], address);
}

/**
 * The stronger the weight, the denser the colour; each patch says its own.
 *
 * @param {Tally} tally
 * @param {string} run
 * @param {OnScreen} screen
 */
async function readPatches(tally, run, { patches, addresses, line }) {
  const rows = await Promise.all(addresses.map((address) => independent(run, address)));
  const [onClass, ...weights] = Array.from(rows[0].values, (_, i) =>
    rows.reduce((sum, { values }) => sum + values[i] / rows.length, 0),
  );
  tally.add(errorOfNumber(ON_CLASS.exec(line)?.[1] ?? "", onClass), addresses[0]);
  const most = Math.max(...weights);
  tally.hold(patches.length === weights.length, addresses[0]);
  patches.forEach(({ density, number }, i) => {
    tally.add(Math.abs(density - weights[i] / most), addresses[0]);
    tally.add(errorOfNumber(number, weights[i]), addresses[0]);
  });
}

/**
 * Each small picture has the colours of its head's weights, to the step that their roots were rounded
 * to; its strongest patch has the last colour.
 *
 * @param {Tally} tally
 * @param {string} run
 * @param {OnScreen} screen
 */
async function readHeads(tally, run, { query, heads, colors }) {
  const address = `rows[${query}]`;
  const { values } = await independent(run, address);
  const n = values.length / heads.length;
  const shades = new Shades(colors);
  heads.forEach((canvas, head) => {
    const weights = Array.from(values).slice(head * n + 1, (head + 1) * n);
    const most = Math.max(...weights);
    const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
    tally.hold(pixels?.data.length === 4 * weights.length, address);
    weights.forEach((weight, i) => {
      const [red, green, blue] = pixels?.data.slice(4 * i, 4 * i + 3) ?? [];
      const level = Math.sqrt(weight / most) * STEPS;
      tally.add(shades.errorOf(red, green, blue, level) / STEPS, address);
    });
  });
}
