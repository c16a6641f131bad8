// A picture with the weights of one row of patches laid over it; the class token beside it.

import { weightShare } from "../../colors.js";
import { html, setAll, svg } from "../../dom.js";
import { cellAfter } from "../../keyboard.js";

/** @import { Numbers } from "../../maths.js" */

/** @import { Palette } from "../../wire.js" */

const UNIT = 12; // of the drawing, for a pixel

/**
 * A picture of bytes.
 *
 * @param {Uint8Array} pixels
 * @param {number} size
 */
export function canvasOf(pixels, size) {
  const data = new ImageData(size, size);
  pixels.forEach((value, i) => data.data.set([value, value, value, 255], 4 * i));
  const canvas = html("canvas", { width: size, height: size });
  canvas.getContext("2d")?.putImageData(data, 0, 0);
  return canvas;
}

export class Picture {
  /** @type {SVGRectElement[]} */
  #cells = [];
  #query = 0;
  /** What lies on each patch. @type {number[]} */
  #weights = [];
  /** Patches of a side. */
  #side = 0;

  /** @param {(query: number) => void} look called with a row: 0 is the class token */
  constructor(look) {
    this.look = look;
    this.image = svg("image", { style: "image-rendering: pixelated" });
    this.cells = svg("g");
    this.frame = svg("rect", { class: "hl-digit-pad-query", fill: "none" });
    this.node = svg(
      "svg",
      {
        class: "hl-digit-pad-picture",
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
    setAll(this.image, { href: canvasOf(pixels, size).toDataURL(), width, height: width });
    if (this.#side === side) return;
    this.#side = side;
    const patch = width / side;
    this.#cells = Array.from({ length: side * side }, (_, i) => {
      const place = { x: (i % side) * patch, y: Math.floor(i / side) * patch };
      return svg("rect", {
        ...place,
        width: patch,
        height: patch,
        class: "hl-digit-pad-patch",
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
   * @param {Numbers} row that on the class token first
   * @param {Palette} palette
   */
  weigh(query, row, palette) {
    this.#query = query;
    this.#weights = this.#cells.map((cell, i) => {
      const weight = row[i + 1];
      const opacity = 0.85 * weightShare(weight, palette);
      cell.setAttribute("fill-opacity", String(opacity));
      return weight;
    });
    this.frame.toggleAttribute("hidden", !query);
    const cell = this.#cells[query - 1];
    if (cell) setAll(this.frame, { x: cell.x.baseVal.value, y: cell.y.baseVal.value });
  }

  /** The weights that lie on the patches, and the row and the column of the framed one. */
  read() {
    const { x, y } = this.frame;
    const patch = this.frame.width.baseVal.value;
    const framed = [y, x].map((at) => Math.round(at.baseVal.value / patch));
    return { weights: this.#weights, framed: this.frame.checkVisibility() ? framed : null };
  }

  /** @param {number} query */
  #go(query) {
    if (query === this.#query) return;
    this.#query = query;
    this.look(query);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape") return this.#go(0);
    const side = this.#side;
    const at = this.#query ? this.#query - 1 : Math.floor((side * side) / 2);
    const to = cellAfter(event.key, [Math.floor(at / side), at % side], {
      rows: side,
      columns: side,
    });
    if (!to) return;
    event.preventDefault();
    this.#go(this.#query ? to[0] * side + to[1] + 1 : at + 1); // the first key leads to the middle
  }
}
