// The sketch: a digit is drawn, and the model's answer and what it looks at follow the hand.

import { bytesOf, deflated, floatsOf } from "../arrays.js";
import { button, check, digits, html, radios } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { Classes } from "./digit_pad/classes.js";
import { Pad } from "./digit_pad/pad.js";
import { Picture, drawThumbnail } from "./digit_pad/picture.js";
import { Shipped } from "./digit_pad/shipped.js";

/** @import { Place } from "../instrument.js" */
/** @import { Answer, SketchData } from "./digit_pad/wire.js" */

const REST_MS = 350; // after the last stroke the page runs on what was drawn

/** @extends {Instrument<SketchData>} */
export class Sketch extends Instrument {
  /** The picture on screen. @type {Uint8Array} */
  #pixels = new Uint8Array();
  /** @type {{logits: Float32Array, rows: Float32Array, rollout: Float32Array}} */
  #answer;
  #query = 0;
  #isAsking = false;
  #isStale = false; // another picture or row came while the last one was asked for
  #cancelRest = () => {};
  /** @type {HTMLButtonElement[]} */
  #heads = [];

  /** @param {Place} place */
  constructor(place) {
    super(place);
    const { root } = this;
    this.pad = new Pad(
      this.lifetime,
      28,
      (pixels) => this.#draw(pixels),
      () => this.#rest(),
    );
    this.picture = new Picture((query) => this.#look(query));
    this.classes = new Classes();
    this.says = html("p", { class: "hl-sketch-answer", role: "status" });
    this.title = html("h2", { class: "hl-title" });
    this.line = html("p", { class: "hl-caption" });
    this.grid = html("div", { class: "hl-sketch-heads", role: "group", "aria-label": "Heads" });
    this.ways = html("div");
    this.shipped = new Shipped((digit) => this.#take(digit));
    root.replaceChildren(html("div", { class: "hl-sketch" }, ...this.#panels()));
  }

  #panels() {
    const file = html("input", {
      type: "file",
      accept: "image/*",
      "aria-label": "A picture of a digit",
      class: "hl-hidden",
      onchange: () => this.#upload(file),
    });
    const tools = html(
      "div",
      { class: "hl-row" },
      button("Clear", () => this.#clear()),
      button("Upload a picture", () => file.click()),
      file,
    );
    /** @type {(name: string, ...children: (Node | string)[]) => HTMLElement} */
    const panel = (name, ...children) =>
      html("section", { class: "hl-panel", "aria-label": name }, ...children);
    const title = (/** @type {string} */ text) => html("h2", { class: "hl-title" }, text);
    return [
      panel("Draw", title("Draw a digit"), this.pad.node, tools, this.shipped.node),
      panel("What it looks at", this.title, this.ways, this.picture.node, this.line),
      panel("What it is", title("What is it?"), this.says, this.classes.node),
      panel("Heads", title("Every head, from the same row"), this.grid),
    ];
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    if (isNew) this.#open();
    this.redraw();
  }

  /** Another run: its picture, unless a person is drawing another one already. */
  #open() {
    const { pixels, answer, shipped, ways, size } = this.data;
    this.pad.size = size;
    this.shipped.show(shipped, Boolean(this.settings.drawing));
    if (!this.ways.firstChild) this.ways.append(this.#waysOf(ways));
    const given = bytesOf(pixels.bdata);
    const isSame = given.every((value, i) => value === this.#pixels[i]);
    if (!isSame) this.pad.show(given, !this.settings.drawing);
    this.#pixels = given;
    this.#query = 0;
    this.#receive(answer);
  }

  /** @param {SketchData["ways"]} ways */
  #waysOf(ways) {
    const options = ways.map(({ name, text }) => ({ value: name, text }));
    return radios("sketch-way", "Whose attention", options, this.settings.way, (way) =>
      this.set({ way }),
    );
  }

  // --- the picture --------------------------------------------------------------------------------

  /** @param {Uint8Array} pixels */
  #draw(pixels) {
    this.#cancelRest();
    this.shipped.replace();
    this.#pixels = pixels;
    this.#query = 0;
    this.#ask();
  }

  /** A stroke has ended: after a moment the page runs on the drawing. */
  #rest() {
    this.#cancelRest = this.lifetime.timeout(async () => {
      const pixels = this.#pixels;
      const drawing = await addressOf(pixels.slice());
      if (pixels === this.#pixels) this.setQuietly({ drawing });
    }, REST_MS);
  }

  #clear() {
    this.pad.clear();
    this.#draw(new Uint8Array(this.data.size ** 2));
    this.#rest();
  }

  /** @param {number} digit */
  #take(digit) {
    this.#cancelRest();
    this.pad.clear();
    this.setQuietly({ digit, drawing: "" });
  }

  /** @param {HTMLInputElement} input */
  async #upload(input) {
    const [file] = Array.from(input.files ?? []);
    input.value = "";
    if (!file) return;
    await this.pad.load(file).catch((error) => {
      this.says.textContent = error.message;
    });
  }

  // --- the answer ---------------------------------------------------------------------------------

  /** Ask for the picture and the row on screen; one question at a time, the newest counts. */
  async #ask() {
    this.#isStale = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#isStale && !this.lifetime.isOver) {
      this.#isStale = false;
      const answer = await this.#asked(this.#pixels, this.#query).catch((error) => {
        this.says.textContent = `No answer: ${error.message}.`;
      });
      if (answer && !this.#isStale) this.#receive(answer);
    }
    this.#isAsking = false;
  }

  /**
   * @param {Uint8Array} pixels
   * @param {number} query
   * @returns {Promise<Answer>}
   */
  async #asked(pixels, query) {
    const body = JSON.stringify({ pixels: btoa(String.fromCharCode(...pixels)), query });
    const place = new URL(`live/texts/${this.data.asks}`, document.baseURI);
    const response = await fetch(place, { method: "POST", body });
    if (!response.ok) throw new Error(`the app did not answer (${response.status})`);
    return response.json();
  }

  /** @param {Answer} answer */
  #receive({ logits, rows, rollout }) {
    this.#answer = { logits: floatsOf(logits), rows: floatsOf(rows), rollout: floatsOf(rollout) };
    this.redraw();
  }

  /** @param {number} query */
  #look(query) {
    this.#query = query;
    this.#ask();
  }

  // --- drawing ------------------------------------------------------------------------------------

  /** @override */
  redraw() {
    if (!this.#answer) return;
    const { size, side } = this.data;
    check(this.ways, this.settings.way);
    this.picture.show(this.#pixels, size, side);
    this.picture.weigh(this.#query, this.#row(), this.palette);
    const { best, probability } = this.classes.show(this.#answer.logits);
    const isEmpty = !this.#pixels.some(Boolean);
    const answer = `${best}, p = ${digits(probability, 3)}`;
    this.says.textContent = isEmpty
      ? `An empty picture: draw a digit. Of nothing at all the model says ${answer}.`
      : `The model says ${answer}${this.shipped.verdict(best)}`;
    this.#showHeads();
    this.#showTitle();
    this.root.dataset.drawn = `${this.data.key} sketch`;
  }

  get #head() {
    const [layer, head] = this.settings.at.split(".").slice(-2).map(Number);
    return { layer, head };
  }

  get #sizes() {
    const [n_layers, n_heads, n] = this.data.answer.rows.shape;
    return { n_layers, n_heads, n };
  }

  /**
   * The weights of one head from the row that is looked at.
   *
   * @param {number} layer
   * @param {number} head
   */
  #rowOf(layer, head) {
    const { n_heads, n } = this.#sizes;
    const start = (layer * n_heads + head) * n;
    return this.#answer.rows.subarray(start, start + n);
  }

  /** The weights that lie over the picture. */
  #row() {
    const { layer, head } = this.#head;
    const { way } = this.settings;
    if (way === "rollout") return this.#answer.rollout;
    if (way === "head") return this.#rowOf(layer, head);
    const { n_heads, n } = this.#sizes;
    return Float32Array.from({ length: n }, (_, i) => {
      let sum = 0;
      for (let h = 0; h < n_heads; h++) sum += this.#rowOf(layer, h)[i];
      return sum / n_heads;
    });
  }

  #showTitle() {
    const { layer, head } = this.#head;
    const { side } = this.data;
    const layers = { head: `L${layer} H${head}`, mean: `L${layer}, mean of its heads` };
    const { way } = this.settings;
    const name = way === "head" || way === "mean" ? layers[way] : "Rollout through all layers";
    const at = this.#query - 1;
    const row = at < 0 ? "[CLS]" : `patch ${Math.floor(at / side)},${at % side}`;
    this.title.textContent = `${name}, from ${row}`;
    const onClass = digits(this.#row()[0], 3);
    this.line.textContent = `On [CLS] itself: ${onClass}. Point at a patch to see what it attends to.`;
  }

  #showHeads() {
    const { n_layers, n_heads } = this.#sizes;
    if (this.#heads.length !== n_layers * n_heads) this.#buildHeads(n_layers, n_heads);
    const chosen = this.#head;
    this.#heads.forEach((node, i) => {
      const [layer, head] = [Math.floor(i / n_heads), i % n_heads];
      const canvas = /** @type {HTMLCanvasElement} */ (node.firstChild);
      drawThumbnail(canvas, this.#rowOf(layer, head), this.palette);
      node.ariaPressed = String(layer === chosen.layer && head === chosen.head);
    });
  }

  /**
   * @param {number} n_layers
   * @param {number} n_heads
   */
  #buildHeads(n_layers, n_heads) {
    this.grid.style.setProperty("--heads", String(n_heads));
    this.#heads = Array.from({ length: n_layers * n_heads }, (_, i) => {
      const name = `L${Math.floor(i / n_heads)} H${i % n_heads}`;
      const at = `${this.data.group}.${Math.floor(i / n_heads)}.${i % n_heads}`;
      const pick = () => this.set({ at, way: "head" });
      return html(
        "button",
        { type: "button", "aria-label": name, title: name, onclick: pick },
        html("canvas"),
      );
    });
    const names = Array.from({ length: n_heads }, (_, h) => html("span", null, `H${h}`));
    const rows = this.#heads.flatMap((node, i) =>
      i % n_heads ? [node] : [html("span", null, `L${i / n_heads}`), node],
    );
    this.grid.replaceChildren(html("span"), ...names, ...rows);
  }
}

/**
 * A picture as text for an address: compressed, in base64 without signs that an address gives a
 * meaning.
 *
 * @param {Uint8Array<ArrayBuffer>} pixels
 */
async function addressOf(pixels) {
  return (await deflated(pixels)).replaceAll("+", "-").replaceAll("/", "_");
}

export default partOf("digit_pad", Sketch);
