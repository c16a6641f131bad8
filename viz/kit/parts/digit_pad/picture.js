// A picture with the weights of one row of patches laid over it; the class token beside it.

import { ramp, weightShare } from "../../colors.js";
import { digits, html, setAll, svg } from "../../dom.js";

/** @import { Palette } from "../../wire.js" */

const UNIT = 12; // of the drawing, for a pixel
const STEPS = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
});

/**
 * A picture of bytes as the address of an image.
 *
 * @param {Uint8Array} pixels
 * @param {number} size
 */
export function imageOf(pixels, size) {
  const data = new ImageData(size, size);
  pixels.forEach((value, i) => data.data.set([value, value, value, 255], 4 * i));
  const canvas = html("canvas", { width: size, height: size });
  canvas.getContext("2d")?.putImageData(data, 0, 0);
  return canvas.toDataURL();
}

export class Picture {
  /** @type {SVGRectElement[]} */
  #cells = [];
  #query = 0;
  /** Patches of a side. */
  #side = 0;

  /** @param {(query: number) => void} look called with a row: 0 is the class token */
  constructor(look) {
    this.look = look;
    this.image = svg("image", { style: "image-rendering: pixelated" });
    this.cells = svg("g");
    this.frame = svg("rect", { class: "hl-sketch-query", fill: "none" });
    this.node = svg(
      "svg",
      {
        class: "hl-sketch-picture",
        role: "img",
        "aria-label": "The picture under the weights of one row; arrow keys go from patch to patch",
        tabindex: "0",
        onpointerleave: () => this.#go(0),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      },
      this.image,
      this.cells,
      this.frame,
    );
  }

  /**
   * Another picture, cut into `side` × `side` patches.
   *
   * @param {Uint8Array} pixels
   * @param {number} size
   * @param {number} side
   */
  show(pixels, size, side) {
    const width = size * UNIT;
    setAll(this.node, { viewBox: `0 0 ${width} ${width}` });
    setAll(this.image, { href: imageOf(pixels, size), width, height: width });
    if (this.#side === side) return;
    this.#side = side;
    const patch = width / side;
    this.#cells = Array.from({ length: side * side }, (_, i) => {
      const place = { x: (i % side) * patch, y: Math.floor(i / side) * patch };
      return svg("rect", {
        ...place,
        width: patch,
        height: patch,
        class: "hl-sketch-patch",
        onpointerenter: () => this.#go(i + 1),
      });
    });
    this.cells.replaceChildren(...this.#cells);
    setAll(this.frame, { width: patch, height: patch });
  }

  /**
   * The weights of a row on the patches, denser where their colours are stronger.
   *
   * @param {number} query
   * @param {Float32Array} row that on the class token first
   * @param {Palette} palette
   */
  weigh(query, row, palette) {
    this.#query = query;
    this.#cells.forEach((cell, i) => {
      const weight = row[i + 1];
      const opacity = 0.85 * weightShare(weight, palette);
      setAll(cell, { "fill-opacity": opacity, "data-weight": digits(weight, 4) });
    });
    this.frame.toggleAttribute("hidden", !query);
    const cell = this.#cells[query - 1];
    if (cell) setAll(this.frame, { x: cell.x.baseVal.value, y: cell.y.baseVal.value });
  }

  /** @param {number} query */
  #go(query) {
    if (query === this.#query) return;
    this.#query = query;
    this.look(query);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = STEPS[event.key];
    if (event.key === "Escape") this.#go(0);
    const side = this.#side;
    if (!step || !side) return;
    event.preventDefault();
    const at = this.#query ? this.#query - 1 : Math.floor((side * side) / 2);
    const [row, column] = [Math.floor(at / side) + step[0], (at % side) + step[1]];
    if (Math.min(row, column) < 0 || Math.max(row, column) >= side) return;
    this.#go(this.#query ? row * side + column + 1 : at + 1);
  }
}

/**
 * A head's weights on the patches as a small picture.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} row that on the class token first
 * @param {Palette} palette
 */
export function drawThumbnail(canvas, row, palette) {
  const weights = row.subarray(1);
  const side = Math.round(Math.sqrt(weights.length));
  const table = ramp(palette.sequential);
  const image = new ImageData(side, side);
  weights.forEach((weight, i) => {
    const at = 3 * Math.round(255 * weightShare(weight, palette));
    image.data.set([...table.subarray(at, at + 3), 255], 4 * i);
  });
  Object.assign(canvas, { width: side, height: side });
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}
