// A colour on the page, read back as the stretch of a scale that it stands for. Nothing here is used to
// draw: the scale is worked out once more from its stops.

const LEVELS = 256;

export class Shades {
  /** @type {number[][]} */
  #levels;
  /** The levels that have a colour, lowest and highest. @type {Map<number, [number, number] | null>} */
  #known = new Map();

  /** @param {string[]} stops colours as #rrggbb, evenly spread */
  constructor(stops) {
    const ends = stops.map(channels);
    this.#levels = Array.from({ length: LEVELS }, (_, level) => {
      const at = (level * (ends.length - 1)) / (LEVELS - 1);
      const next = Math.min(Math.ceil(at), ends.length - 1);
      const share = next - at;
      return ends[next].map((c, i) => c * (1 - share) + ends[Math.max(next - 1, 0)][i] * share);
    });
  }

  /**
   * The lowest and the highest level, from 0 to 255, that have a colour; null where none has.
   *
   * @param {number} red
   * @param {number} green
   * @param {number} blue
   */
  levelsOf(red, green, blue) {
    const name = (red << 16) | (green << 8) | blue;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const rgb = [red, green, blue];
    const fits = this.#levels.map((level) => level.every((c, i) => Math.abs(c - rgb[i]) <= 0.501));
    const found = fits.includes(true) ? [fits.indexOf(true), fits.lastIndexOf(true)] : null;
    this.#known.set(name, /** @type {[number, number] | null} */ (found));
    return /** @type {[number, number] | null} */ (found);
  }

  /**
   * How many levels a colour is from a place on the scale, beyond the half that rounding takes.
   *
   * @param {number} red
   * @param {number} green
   * @param {number} blue
   * @param {number} level where it should be, from 0 to 255
   */
  errorOf(red, green, blue, level) {
    const found = this.levelsOf(red, green, blue);
    return found ? Math.max(0, found[0] - 0.5 - level, level - found[1] - 0.5) : NaN;
  }
}

/**
 * Red, green and blue of #rrggbb or rgb(r, g, b).
 *
 * @param {string} color
 */
export function channels(color) {
  const parts = color.startsWith("#") ? color.match(/[0-9a-f]{2}/gi) : color.match(/\d+/g);
  return (parts ?? [])
    .slice(0, 3)
    .map((part) => (color.startsWith("#") ? parseInt(part, 16) : Number(part)));
}
