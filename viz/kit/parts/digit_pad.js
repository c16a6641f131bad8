// The digit pad: a digit is drawn, and the model's answer and what it looks at follow the hand.

import { deflated, valuesOf } from "../arrays.js";
import { tileByte } from "../atlas.js";
import { button, check, digits, html, radios, wordsIn } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { TokenBars } from "../marks/bars.js";
import { Grid } from "../marks/grid.js";
import { matrix, softmaxRows } from "../maths.js";
import { argmax } from "../measures.js";
import { Pad } from "./digit_pad/pad.js";
import { Picture } from "./digit_pad/picture.js";
import { Shipped } from "./digit_pad/shipped.js";
import { headName } from "../names.js";

/** @import { Decoded } from "../arrays.js" */
/** @import { Place } from "../instrument.js" */
/** @import { Numbers } from "../maths.js" */
/** @import { InstrumentData } from "../wire.js" */
/** @import { ShippedData } from "./digit_pad/shipped.js" */

/**
 * What the model makes of a picture: logits (C,), and what the row that is looked at attends to, in
 * every head (L, H, T) and through all layers (T,).
 *
 * @typedef {Record<"logits" | "rows" | "rollout", Decoded>} Answer
 */

/**
 * What the digit pad is told: `size` and `side` are
 * the pixels and the patches of a side. `digit` is the number of the shipped picture, `drawing` a
 * drawn one as the address has it, or empty, `at` names the head, as encoder.attn.5.0.
 *
 * @typedef {object} DigitPadFields
 * @property {number} size
 * @property {number} side
 * @property {string} group
 * @property {Omit<ShippedData, "wrong">} shipped
 * @property {{name: string, text: string}[]} ways
 * @property {{digit: number, drawing: string, at: string, way: string}} settings
 */

/** @typedef {InstrumentData & DigitPadFields} DigitPadData */

const REST_MS = 350; // after the last stroke the page runs on what was drawn
const PITCH = 34; // pixels from one head to the next
const NOT_HERE =
  "No model runs here: what it says of another picture is shown where Headlight itself runs.";

/** @extends {Instrument<DigitPadData>} */
export class DigitPad extends Instrument {
  /** @override */
  static needs = ["pixels", "wrong"];
  /** The picture on screen. @type {Uint8Array} */
  #pixels = new Uint8Array();
  /** That of the run, of which all answers are there. */
  #given = new Uint8Array();
  /** @type {Record<keyof Answer, Numbers> | undefined} */
  #answer;
  #query = 0;
  #isAsking = false;
  #isStale = false; // another picture or row came while the last one was asked for
  #cancelRest = () => {};

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
    this.classes = new TokenBars();
    this.says = html("p", { class: "hl-digit-pad-answer", role: "status" });
    this.title = html("h2", { class: "hl-title" });
    this.line = html("p", { class: "hl-caption" });
    this.grid = new Grid(
      "hl-overview",
      { left: 28, top: 18, beside: 2 },
      {
        point: () => {},
        pick: ({ layer, head }) => this.#choose(layer, head),
        step: ([down, right]) => this.#choose(this.#head.layer + down, this.#head.head + right),
      },
    );
    this.ways = html("div");
    this.shipped = new Shipped((digit) => this.#take(digit));
    root.replaceChildren(html("div", { class: "hl-digit-pad" }, ...this.#panels()));
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
    const { isLive } = this.model;
    const ways = isLive
      ? [tools, this.shipped.node]
      : [html("p", { class: "hl-caption" }, NOT_HERE)];
    this.pad.node.inert = !isLive;
    return [
      panel("Draw", title(isLive ? "Draw a digit" : "The picture"), this.pad.node, ...ways),
      panel("What it looks at", this.title, this.ways, this.picture.node, this.line),
      panel("What it is", title("What is it?"), this.says, this.classes.node),
      panel("Heads", title("Every head, from the same row"), this.grid.node),
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
    const { shipped, ways, size } = this.data;
    this.pad.size = size;
    const wrong = Array.from(this.arrays.wrong.values);
    this.shipped.show({ ...shipped, wrong }, Boolean(this.settings.drawing));
    if (!this.ways.firstChild) this.ways.append(this.#waysOf(ways));
    this.#given = Uint8Array.from(this.arrays.pixels.values);
    const isSame = this.#given.every((value, i) => value === this.#pixels[i]);
    if (!isSame) this.pad.show(this.#given, !this.settings.drawing);
    this.#pixels = this.#given;
    this.#query = 0;
    this.#answer = undefined;
    this.#ask();
  }

  /** @param {DigitPadData["ways"]} ways */
  #waysOf(ways) {
    return radios("digit-pad-way", "Whose attention", ways, this.settings.way, (way) =>
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
  #ask() {
    this.#isStale = true;
    if (!this.#isAsking) this.lifetime.busy(this.#askAll());
  }

  async #askAll() {
    this.#isAsking = true;
    while (this.#isStale && !this.lifetime.isOver) {
      this.#isStale = false;
      const isGiven = this.#pixels === this.#given;
      const coming = isGiven ? this.#loaded(this.#query) : this.#asked(this.#pixels, this.#query);
      const answer = await coming.catch((error) => {
        this.says.textContent = `No answer: ${error.message}.`;
      });
      if (!answer || this.#isStale) continue;
      this.#answer = valuesOf(answer);
      this.redraw();
    }
    this.#isAsking = false;
  }

  /**
   * @param {Uint8Array} pixels
   * @param {number} query
   * @returns {Promise<Answer>}
   */
  async #asked(pixels, query) {
    const asked = { pixels: btoa(String.fromCharCode(...pixels)), query };
    return (await this.model.ask(asked)).arrays;
  }

  /** @param {number} query */
  async #loaded(query) {
    const { model } = this;
    const [logits, rows, rollout] = await Promise.all([
      model.load("logits"),
      model.load("rows", query),
      model.load("rollout", query),
    ]);
    return { logits, rows, rollout };
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
    const { logits, rows, rollout } = this.#answer;
    const weights = this.#row(rows, rollout);
    check(this.ways, this.settings.way);
    this.picture.show(this.#pixels, size, side);
    this.picture.weigh(this.#query, weights, this.palette);
    const probs = Array.from(softmaxRows(matrix(1, logits.length, logits)).values);
    const best = argmax(probs);
    const classes = probs.map((after, i) => {
      const number = digits(after, 3);
      return { label: String(i), before: 0, after, number, isDrawn: i === best };
    });
    this.classes.show(classes, "Probability of each digit");
    const isEmpty = !this.#pixels.some(Boolean);
    const answer = `${best}, p = ${digits(probs[best], 3)}`;
    this.says.textContent = isEmpty
      ? `An empty picture: draw a digit. Of nothing at all the model says ${answer}.`
      : `The model says ${answer}${this.shipped.verdict(best)}`;
    this.#showHeads(rows);
    this.#showTitle(weights);
  }

  get #head() {
    const [layer, head] = this.settings.at.split(".").slice(-2).map(Number);
    return { layer, head };
  }

  /**
   * @param {number | undefined} layer
   * @param {number | undefined} head
   */
  #choose(layer = -1, head = -1) {
    const { n_layers, n_heads } = this.#sizes;
    if (layer < 0 || head < 0 || layer >= n_layers || head >= n_heads) return;
    this.set({ at: `${this.data.group}.${layer}.${head}`, way: "head" });
  }

  get #sizes() {
    const [, n_layers, n_heads, n] = this.model.get("arrays").rows.shape;
    return { n_layers, n_heads, n };
  }

  /**
   * The weights of one head from the row that is looked at.
   *
   * @param {Numbers} rows of all heads
   * @param {number} layer
   * @param {number} head
   */
  #rowOf(rows, layer, head) {
    const { n_heads, n } = this.#sizes;
    const start = (layer * n_heads + head) * n;
    return rows.subarray(start, start + n);
  }

  /**
   * The weights that lie over the picture.
   *
   * @param {Numbers} rows
   * @param {Numbers} rollout
   */
  #row(rows, rollout) {
    const { layer, head } = this.#head;
    const { way } = this.settings;
    if (way === "rollout") return rollout;
    if (way === "head") return this.#rowOf(rows, layer, head);
    const { n_heads, n } = this.#sizes;
    return Float32Array.from({ length: n }, (_, i) => {
      let sum = 0;
      for (let h = 0; h < n_heads; h++) sum += this.#rowOf(rows, layer, h)[i];
      return sum / n_heads;
    });
  }

  /** @param {Numbers} weights that lie over the picture */
  #showTitle(weights) {
    const { layer, head } = this.#head;
    const { side } = this.data;
    const layers = { head: headName(layer, head), mean: `L${layer}, mean of its heads` };
    const { way } = this.settings;
    const name = way === "head" || way === "mean" ? layers[way] : "Rollout through all layers";
    const at = this.#query - 1;
    const row = at < 0 ? "[CLS]" : `patch ${Math.floor(at / side)},${at % side}`;
    this.title.textContent = `${name}, from ${row}`;
    const onClass = digits(weights[0], 3);
    this.line.textContent = `On [CLS] itself: ${onClass}. Point at a patch to see what it attends to.`;
  }

  /**
   * Every head's weights on the patches, as bytes of small maps.
   *
   * @param {Numbers} rows
   */
  #showHeads(rows) {
    const { n_layers, n_heads, n } = this.#sizes;
    const { side } = this.data;
    const n_all = n_layers * n_heads;
    const bytes = new Uint8Array(n_all * (n - 1));
    for (let i = 0; i < n_all; i++) {
      const weights = rows.subarray(i * n + 1, (i + 1) * n);
      bytes.set(Uint8Array.from(weights, tileByte), i * (n - 1));
    }
    const tiles = { shape: [n_all, side, side], bytes };
    const pitch = { x: PITCH, y: PITCH };
    this.grid.build({ tiles, n_layers, n_heads }, { masked: -1 }, this.palette, pitch);
    const { layer, head } = this.#head;
    this.grid.frame([layer, head]);
    const chosen = headName(layer, head);
    this.grid.node.ariaLabel = `${n_layers} layers and ${n_heads} heads as small maps; arrow keys choose one. Now ${chosen}.`;
  }

  /** What is on screen, by names. */
  read() {
    const { says, title, line, ways, shipped, picture, classes, grid } = this;
    const words = wordsIn({ says, title, line, way: ways.firstElementChild, digit: shipped.says });
    return { ...words, picture: picture.read(), classes: classes.read(), heads: grid.read() };
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

export default partOf("digit_pad", DigitPad);
