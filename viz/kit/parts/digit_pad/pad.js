// The pad: a digit is drawn on it with mouse, pen or finger, or comes from a file.

import { html } from "../../dom.js";
import { lightOnDark, normalised } from "./normalise.js";
import { canvasOf } from "./picture.js";

/** @import { Lifetime } from "../../lifetime.js" */

const SIZE = 252; // pixels of the pad
const PEN = 18;
const MOST_BYTES = 30e6; // of a file
const MOST_SIDE = 400; // of an uploaded picture, before it is made small

export class Pad {
  #isDown = false;
  #isToBeReplaced = false; // by the first stroke
  /** @type {[number, number] | null} */
  #last = null;

  /**
   * @param {Lifetime} lifetime
   * @param {number} size pixels of a side of what it gives
   * @param {(pixels: Uint8Array) => void} drawn
   * @param {() => void} done after each stroke
   */
  constructor(lifetime, size, drawn, done) {
    this.size = size;
    this.drawn = drawn;
    this.done = done;
    this.node = html("canvas", {
      class: "hl-digit-pad-canvas",
      width: SIZE,
      height: SIZE,
      role: "img",
      "aria-label": "Draw a digit here with mouse, pen or finger",
      onpointerdown: (/** @type {PointerEvent} */ event) => this.#down(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.#move(event),
    });
    for (const type of ["pointerup", "pointercancel"])
      lifetime.listen(window, type, () => this.#up());
    this.context = /** @type {CanvasRenderingContext2D} */ (
      this.node.getContext("2d", { willReadFrequently: true })
    );
    this.clear();
  }

  clear() {
    this.#isToBeReplaced = false;
    this.context.fillStyle = "#000";
    this.context.fillRect(0, 0, SIZE, SIZE);
    Object.assign(this.context, { strokeStyle: "#fff", lineWidth: PEN });
    Object.assign(this.context, { lineCap: "round", lineJoin: "round" });
  }

  /**
   * Show a picture as it is.
   *
   * @param {Uint8Array} pixels
   * @param {boolean} [isReplaced] whether the first stroke begins another one; else it is drawn on
   */
  show(pixels, isReplaced = false) {
    this.#isToBeReplaced = isReplaced;
    this.context.drawImage(canvasOf(pixels, this.size), 0, 0, SIZE, SIZE);
  }

  /** @param {PointerEvent} event */
  #down(event) {
    event.preventDefault();
    if (this.#isToBeReplaced) this.clear();
    this.#isDown = true;
    this.#last = this.#place(event);
    this.#line(this.#last, this.#last);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.#isDown || !this.#last) return;
    const place = this.#place(event);
    this.#line(this.#last, place);
    this.#last = place;
  }

  #up() {
    if (!this.#isDown) return;
    this.#isDown = false;
    this.done();
  }

  /**
   * @param {PointerEvent} event
   * @returns {[number, number]}
   */
  #place({ clientX, clientY }) {
    const box = this.node.getBoundingClientRect();
    const scale = SIZE / box.width;
    return [(clientX - box.left) * scale, (clientY - box.top) * scale];
  }

  /**
   * @param {[number, number]} from
   * @param {[number, number]} to
   */
  #line(from, to) {
    this.context.beginPath();
    this.context.moveTo(...from);
    this.context.lineTo(to[0] + 0.01, to[1]); // a dot is a line too
    this.context.stroke();
    this.drawn(normalised(this.#grey(this.context), this.size));
  }

  /**
   * The red of each pixel: all is grey here.
   *
   * @param {CanvasRenderingContext2D} context
   */
  #grey(context) {
    const { width, height } = context.canvas;
    const { data } = context.getImageData(0, 0, width, height);
    return {
      width,
      height,
      values: Float32Array.from({ length: width * height }, (_, i) => data[4 * i]),
    };
  }

  /**
   * A picture from a file, made like those the model knows. Error in words where it is none.
   *
   * @param {File} file
   */
  async load(file) {
    if (file.size > MOST_BYTES)
      throw new Error(`The file has ${Math.round(file.size / 1e6)} MB; give one of at most 30 MB.`);
    const bitmap = await createImageBitmap(file).catch(() => {
      throw new Error(
        `${file.name} is not a picture that this browser can open, or one too large for it.`,
      );
    });
    const scale = Math.min(1, MOST_SIDE / Math.max(bitmap.width, bitmap.height));
    const [width, height] = [bitmap.width, bitmap.height].map((x) => Math.max(1, x * scale) | 0);
    const canvas = html("canvas", { width, height });
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.filter = "grayscale(1)";
    let pixels = new Uint8Array();
    for (const paper of ["#fff", "#000"]) {
      // white strokes on a transparent picture are seen on black alone
      context.fillStyle = paper;
      context.fillRect(0, 0, width, height);
      context.drawImage(bitmap, 0, 0, width, height);
      pixels = normalised(lightOnDark(this.#grey(context)), this.size);
      if (pixels.some(Boolean)) break;
    }
    bitmap.close();
    if (!pixels.some(Boolean))
      throw new Error(
        "Nothing stands on this picture: choose one with a digit on it, or draw one.",
      );
    this.show(pixels);
    this.drawn(pixels);
    this.done();
  }
}
