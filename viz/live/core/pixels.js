// Pictures on the page, read back. Nothing here is used to draw.

import { Shades, channels } from "./shades.js";

/** @import { Tally } from "./tally.js" */
/** @import { Palette } from "./wire.js" */

const [ZERO, MOST] = [2, 255]; // the levels of a weight of zero and of one, by its root

/**
 * The pixels of a picture.
 *
 * @param {string} address
 */
export async function pixelsOf(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("this browser has no canvas");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}

/**
 * Every cell's colour is that of its weight, to the step that its root was rounded to, and of a masked
 * one that of masked cells. Gaps between tiles are clear: they say where a tile ends.
 *
 * @param {Tally} tally
 * @param {ImageData} pixels
 * @param {{values: ArrayLike<number>, name: string, rows: number, columns: number, n_heads: number,
 *   palette: Palette}} of
 */
export function readTiles(
  tally,
  { data, width, height },
  { values, name, rows, columns, n_heads, palette },
) {
  const size = rows * columns;
  const n_layers = values.length / size / n_heads;
  const [right, down] = [width / n_heads, height / n_layers];
  const [wide, high] = [opaque(data, right, 4), opaque(data, down, 4 * width)];
  const shades = new Shades(palette.sequential);
  const masked = channels(palette.masked);
  const address = `${name}.tiles`;
  tally.hold(Number.isInteger(right) && Number.isInteger(down), address);
  for (let i = 0; i < values.length; i++) {
    const [tile, cell] = [Math.floor(i / size), i % size];
    const x = (tile % n_heads) * right + (((cell % columns) + 0.5) * wide) / columns;
    const y =
      Math.floor(tile / n_heads) * down + ((Math.floor(cell / columns) + 0.5) * high) / rows;
    const at = 4 * (Math.floor(y) * width + Math.floor(x));
    const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
    const level = ZERO + Math.sqrt(Math.max(0, values[i])) * (MOST - ZERO);
    const isMasked = red === masked[0] && green === masked[1] && blue === masked[2];
    const ofMasked = isMasked ? 0 : NaN;
    const off = Number.isNaN(level) ? ofMasked : shades.errorOf(red, green, blue, level) / MOST;
    tally.add(off, off <= tally.allowed ? address : `${address}[${tile},${cell}]`);
  }
}

/**
 * How many pixels are opaque from the first on.
 *
 * @param {Uint8ClampedArray} data
 * @param {number} most
 * @param {number} step bytes from one to the next
 */
function opaque(data, most, step) {
  let n = 0;
  while (n < most && data[n * step + 3]) n += 1;
  return n;
}
