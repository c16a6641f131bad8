// Arrays as pictures of a pixel for each number, painted once for each run and palette.

import { ramp, weightShare } from "../../colors.js";
import { reach } from "../../measures.js";
import { N_COLUMNS } from "./layout.js";

/** @import { Palette } from "../../wire.js" */
/** @import { Run } from "./numbers.js" */

/**
 * Small maps (heads to the right, columns down; masked cells are clear), one of each column before it
 * is known, strips of vectors, and the picture that was given, if one was.
 *
 * @typedef {{maps: OffscreenCanvas, unknown: OffscreenCanvas, embed: OffscreenCanvas, positions: OffscreenCanvas,
 *   ffn: OffscreenCanvas, last: OffscreenCanvas | null, image: OffscreenCanvas | null}} Pictures
 */

/**
 * @param {Run} run
 * @param {Palette} palette
 * @returns {Pictures}
 */
export function picturesOf(run, palette) {
  const { size: n, arrays, spec } = run;
  const { sequential, diverging } = palette;
  /** @param {number} weight */
  const level = (weight) => Math.round(255 * weightShare(weight, palette));
  const [weights, signs] = [ramp(sequential), ramp(diverging)];
  /** @param {import("../../maths.js").Numbers} values */
  const strip = (values) => {
    const most = reach(values);
    return painted(N_COLUMNS, values.length / N_COLUMNS, signs, (x, y) =>
      signed(values[y * N_COLUMNS + x] / most),
    );
  };
  const maps = painted(run.mostHeads * n, spec.columns.length * n, weights, (x, y) => {
    const [column, query, key] = [Math.floor(y / n), y % n, x % n];
    const value = run.weight(column, Math.floor(x / n), query, key);
    return run.isMasked(column, query, key) || !Number.isFinite(value) ? null : level(value);
  });
  return {
    maps,
    unknown: painted(n, spec.columns.length * n, weights, (x, y) =>
      run.isMasked(Math.floor(y / n), y % n, x) ? null : 0,
    ),
    embed: strip(arrays.embed),
    positions: strip(arrays.positions),
    ffn: strip(arrays.ffn),
    last: arrays.last ? strip(arrays.last) : null,
    image: arrays.pixels ? imageOf(arrays.pixels) : null,
  };
}

/**
 * A picture of one channel, from 0 to 1, as it was given: white on black.
 *
 * @param {import("../../maths.js").Numbers} pixels (S, S)
 */
function imageOf(pixels) {
  const side = Math.round(Math.sqrt(pixels.length));
  const greys = Uint8ClampedArray.from({ length: 3 * 256 }, (_, i) => Math.floor(i / 3));
  return painted(side, side, greys, (x, y) => Math.round(255 * pixels[y * side + x]));
}

/**
 * Which of 256 colours a number from −1 to 1 has.
 *
 * @param {number} value
 */
function signed(value) {
  return Math.round(127.5 + 127.5 * Math.min(Math.max(value, -1), 1));
}

/**
 * @param {number} width
 * @param {number} height
 * @param {Uint8ClampedArray} table
 * @param {(x: number, y: number) => number | null} at which colour a pixel has; null: none
 */
function painted(width, height, table, at) {
  const canvas = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
  const context = canvas.getContext("2d");
  const image = new ImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const colors = new Uint32Array(
    Uint8Array.from({ length: 4 * 256 }, (_, i) =>
      i % 4 < 3 ? table[3 * Math.floor(i / 4) + (i % 4)] : 255,
    ).buffer,
  );
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const i = at(x, y);
      if (i !== null) pixels[y * width + x] = colors[i];
    }
  context?.putImageData(image, 0, 0);
  return canvas;
}
