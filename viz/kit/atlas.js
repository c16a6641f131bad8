// The small maps of a group in one picture.

import { ramp, rgb, weightShare } from "./colors.js";
import { html } from "./dom.js";

export const MASKED = 1; // the byte of a masked cell; viz/kit/tiles.py has what the bytes mean
const ZERO = 2; // that of a weight of 0
const LEAST_PIXELS = 24; // of a tile's side, so that the gap beside it is no wider than it should be

/** @import { Palette } from "./wire.js" */

/**
 * Small maps as bytes: (layers · heads, rows, columns).
 *
 * @typedef {{shape: number[], bytes: ArrayLike<number> & Iterable<number>}} Tiles
 */

/**
 * The tiles of a group as a picture's address: gap, masked, zero and weight each in its colour; of
 * those that are signed, changes from −1 to 1.
 *
 * @param {{tiles: Tiles, n_layers: number, n_heads: number}} group
 * @param {{masked: number, isSigned?: boolean}} codes bytes that are no weight
 * @param {Palette} palette
 * @param {{x: number, y: number}} gaps between tiles, as shares of a tile
 */
export function atlas({ tiles, n_layers, n_heads }, codes, palette, gaps) {
  const [, rows, columns] = tiles.shape;
  const [wide, high] = [columns, rows].map((cells) => Math.ceil(LEAST_PIXELS / cells));
  const right = columns * wide + Math.max(1, Math.round(columns * wide * gaps.x));
  const down = rows * high + Math.max(1, Math.round(rows * high * gaps.y));
  const canvas = html("canvas", { width: right * n_heads, height: down * n_layers });
  const context = canvas.getContext("2d");
  if (!context) return "";
  const image = context.createImageData(canvas.width, canvas.height);
  const table = byteColors(palette, codes);
  const pixels = new Uint32Array(image.data.buffer);
  const size = rows * columns;
  Array.from(tiles.bytes).forEach((level, i) => {
    const [tile, cell] = [Math.floor(i / size), i % size];
    const x = (tile % n_heads) * right + (cell % columns) * wide;
    const y = Math.floor(tile / n_heads) * down + Math.floor(cell / columns) * high;
    for (let row = y; row < y + high; row++)
      pixels.fill(table[level], row * canvas.width + x, row * canvas.width + x + wide);
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/**
 * The byte that stands for a weight in a small map.
 *
 * @param {number} weight
 */
export function tileByte(weight) {
  return ZERO + Math.round(Math.sqrt(Math.min(Math.max(weight, 0), 1)) * (255 - ZERO));
}

/**
 * The weight that a byte stands for.
 *
 * @param {number} byte
 */
export function tileWeight(byte) {
  return share(byte) ** 2;
}

/**
 * The byte that stands for a change of a weight, from −1 to 1.
 *
 * @param {number} change
 */
export function signedByte(change) {
  return ZERO + Math.round(((Math.min(Math.max(change, -1), 1) + 1) / 2) * (255 - ZERO));
}

/**
 * How far a byte is from that of 0 to the largest.
 *
 * @param {number} byte
 */
function share(byte) {
  return Math.max(byte - ZERO, 0) / (255 - ZERO);
}

/**
 * A little-endian RGBA word for each byte.
 *
 * @param {Palette} palette
 * @param {{masked: number, isSigned?: boolean}} codes
 */
function byteColors(palette, { masked, isSigned }) {
  const scale = ramp(isSigned ? palette.diverging : palette.sequential);
  const hidden = rgb(palette.masked);
  return Uint32Array.from({ length: 256 }, (_, level) => {
    const shown = isSigned ? share(level) : weightShare(tileWeight(level), palette);
    const at = 3 * Math.round(255 * shown);
    const [red, green, blue] = level === masked ? hidden : scale.subarray(at, at + 3);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}
