// Vectors: as a strip of coloured cells, and as bars. Built once for a size; other numbers only change
// attributes.

import { setAll, svg } from "../dom.js";
import { reach } from "../measures.js";

/** @import { Numbers } from "../maths.js" */
/** @import { Palette } from "../wire.js" */

const WIDTH = 400;
const STRIP = 16;
const BARS = 46;

/**
 * @param {number} height
 * @param {Element[]} children
 */
function wide(height, ...children) {
  const look = { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", height };
  return svg("svg", { ...look, "aria-hidden": "true" }, children);
}

/** A vector as a row of coloured cells. */
export class Strip {
  /** @param {number} size */
  constructor(size) {
    const width = WIDTH / size;
    this.cells = Array.from({ length: size }, (_, i) =>
      svg("rect", { x: i * width, y: 0, width: width + 0.3, height: STRIP }),
    );
    this.node = wide(STRIP, ...this.cells);
    /** @type {number[]} */
    this.painted = [];
  }

  /**
   * @param {Numbers} values
   * @param {(value: number) => string} color
   */
  paint(values, color) {
    this.painted = this.cells.map((cell, i) => {
      cell.setAttribute("fill", color(values[i]));
      return values[i];
    });
  }

  /** The number of each cell's colour. */
  read() {
    return this.painted;
  }
}

/** Numbers as bars, from a line in the middle when they are signed; drawn as one path each colour. */
export class Bars {
  /**
   * @param {number} size how many
   * @param {boolean} signed
   */
  constructor(size, signed) {
    this.size = size;
    this.signed = signed;
    this.base = signed ? BARS / 2 : BARS;
    this.paths = { up: svg("path"), down: svg("path"), marked: svg("path") };
    const { base } = this;
    /** @type {(number | null)[]} */
    this.lengths = [];
    this.line = svg("line", { x1: 0, x2: WIDTH, y1: base, y2: base, "stroke-width": 1 });
    this.node = wide(BARS, ...Object.values(this.paths), this.line);
  }

  /**
   * @param {Numbers} values
   * @param {Palette} palette
   * @param {number} [marked] the bar to mark
   */
  paint(values, palette, marked = -1) {
    const { lengths, ...drawn } = this.#draw(values, marked);
    this.lengths = lengths;
    const high = palette.diverging.at(-1) ?? palette.accent;
    const [low] = palette.diverging;
    const fills = this.signed
      ? { up: high, down: low, marked: palette.frame }
      : { up: palette.muted, down: low, marked: palette.accent };
    for (const kind of /** @type {const} */ (["up", "down", "marked"])) {
      setAll(this.paths[kind], { d: drawn[kind], fill: fills[kind] });
    }
    this.line.setAttribute("stroke", palette.line);
  }

  /**
   * @param {Numbers} values
   * @param {number} marked
   */
  #draw(values, marked) {
    const drawn = { up: "", down: "", marked: "", lengths: Array(this.size).fill(null) };
    const most = this.signed ? reach(values) : 1;
    const room = this.signed ? BARS / 2 - 2 : BARS - 2;
    const width = WIDTH / this.size;
    for (let i = 0; i < this.size; i++) {
      const height = (values[i] / most) * room;
      if (!Number.isFinite(height)) continue;
      const kind = i === marked ? "marked" : height < 0 ? "down" : "up";
      const least = i === marked && Math.abs(height) < 1.5 ? 1.5 : height;
      const x = i * width + width * 0.1;
      drawn.lengths[i] = (least / room) * most;
      drawn[kind] +=
        `M${x.toFixed(2)} ${this.base}v${(-least).toFixed(2)}h${(width * 0.8).toFixed(2)}V${this.base}z`;
    }
    return drawn;
  }

  /** The number that each bar is as long as; null where there is none. */
  read() {
    return this.lengths;
  }
}
