// The writer: a text as it was generated, and for each new token what it was drawn from and what was
// attended to.

import { drawBars } from "../core/bars.js";
import { colorAt, inkOn, ramp } from "../core/colors.js";
import { same } from "../core/conversation.js";
import { button, check, digits, html, radios, svg } from "../core/dom.js";
import { HeatMap } from "../core/heatmap.js";
import { Instrument } from "../core/instrument.js";
import { matrix } from "../core/maths.js";
import { argmax } from "../core/measures.js";

/** @import { Picture } from "../core/figure.js" */
/** @import { Receiver } from "../core/wire.js" */
/** @import { WriterData, WriterStep } from "./wire.js" */

const TICK_MS = 15;
const PATIENCE_MS = 2500;
const MAP_REST_MS = 600; // between two drawings of the map
const MAP_HEIGHT = 420;
const NAMED = 3; // leading tokens in words

/** @extends {Instrument<WriterData>} */
export class Writer extends Instrument {
  /** How often more was asked for. */
  #ticks = 0;
  #cancelTick = () => {};
  #cancelMap = () => {};
  /** When the map was drawn last. */
  #mapDrawn = -Infinity;
  /** What the map on screen shows. @type {unknown[]} */
  #mapped = [];

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver) {
    super(root, receiver);
    this.text = html("div", { class: "hl-text", role: "group", "aria-label": "Text" });
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.bars = svg("svg", { class: "hl-bars", role: "img" });
    this.map = html("div", { class: "hl-map", role: "img" });
    this.heatMap = new HeatMap(this.map, this.lifetime, {
      pick: (row) => this.go(row),
      most: MAP_HEIGHT,
    });
    this.scrubber = html("input", {
      ...{ type: "range", min: 0, step: 1, "aria-label": "Step" },
      oninput: () => this.go(Number(this.scrubber.value)),
    });
    const heads = [
      { value: "no", text: "this head" },
      { value: "yes", text: "mean of all heads" },
    ];
    this.averaged = radios("hl-averaged", "Attention of", heads, "no", (value) =>
      this.set({ averaged: value === "yes" }),
    );
    this.scrub = this.#buildScrub();
    this.detail = this.#buildDetail();
    root.replaceChildren(this.text, this.scrub, this.says, this.detail);
    this.lifetime.watchSize(root, () => {
      if (this.data) this.redraw();
    });
  }

  #buildScrub() {
    /** @type {(by: number, sign: string, words: string) => Element} */
    const move = (by, sign, words) =>
      button(sign, () => this.go(this.#at() + by), { "aria-label": words });
    const [back, on] = [move(-1, "◀", "Step back"), move(1, "▶", "Step forward")];
    const row = { class: "hl-row hl-scrub" };
    return html("div", row, back, this.scrubber, on, this.averaged);
  }

  #buildDetail() {
    /** @type {(title: string, name: string | null, content: Element) => Element} */
    const part = (title, name, content) =>
      html("section", { class: name, "aria-label": title }, html("h3", null, title), content);
    return html(
      "div",
      { class: "hl-view-map" },
      part("Attention of each new token", null, this.map),
      part("Drawn from", "hl-operands", this.bars),
    );
  }

  /** @override */
  update() {
    this.redraw();
    this.#askForMore();
  }

  /**
   * Ask for the next tokens once these are on screen: the text comes as fast as it can be shown, and
   * no faster. Asked again when no answer comes.
   */
  #askForMore(rest = TICK_MS) {
    this.#cancelTick();
    if (!this.data.running) return;
    this.#cancelTick = this.lifetime.timeout(() => {
      this.#ticks += 1;
      this.receiver.tick?.(this.#ticks);
      this.#askForMore(PATIENCE_MS);
    }, rest);
  }

  /** The step shown: the chosen one, or the newest when none is chosen. */
  #at() {
    const last = this.data.steps.length - 1;
    return Math.min(this.settings.step ?? last, last);
  }

  /**
   * Choose a step; at the newest the view follows what is written.
   *
   * @param {number} step
   */
  go(step) {
    const last = this.data.steps.length - 1;
    const wanted = Math.max(0, Math.min(step, last));
    this.set({ step: wanted === last ? null : wanted });
  }

  /** @override */
  redraw() {
    this.#cancelMap();
    const { steps, key } = this.data;
    const isEmpty = !steps.length;
    for (const node of [this.scrub, this.says, this.detail]) node.hidden = isEmpty;
    check(this.averaged, this.settings.averaged ? "yes" : "no");
    this.#showText();
    if (!isEmpty) this.#showStep(this.#at());
    this.root.dataset.drawn = `${key} writer ${steps.length} ${isEmpty ? "" : this.#at()}`;
  }

  /**
   * The weights a step is shown with.
   *
   * @param {WriterStep} step
   */
  #weights(step) {
    return this.settings.averaged ? step.mean : step.row;
  }

  // --- the text -----------------------------------------------------------------------------------

  /** The text: each token shaded by the attention it got from the position before the step. */
  #showText() {
    const { labels, n_prompt, steps } = this.data;
    const step = steps[this.#at()];
    const weights = step ? this.#weights(step) : [];
    const high = Math.max(...weights, 1e-9);
    const table = ramp(this.palette.sequential);
    const produced = n_prompt + this.#at();
    const tokens = labels.map((label, i) => {
      const look = step ? this.#shade(i, produced, step, table, high) : { classes: [] };
      const isNew = i >= n_prompt;
      const classes = ["hl-token-button", isNew ? "hl-new" : "", ...look.classes];
      const { style, title } = look;
      const act = { disabled: !isNew, onclick: () => this.go(i - n_prompt) };
      const attributes = { type: "button", class: classes.join(" "), style, title, ...act };
      return html("button", attributes, html("bdi", null, label));
    });
    this.text.replaceChildren(...tokens);
  }

  /**
   * How a token looks at a step.
   *
   * @param {number} i
   * @param {number} produced the place of the step's own token
   * @param {WriterStep} step
   * @param {Uint8ClampedArray} table
   * @param {number} high
   * @returns {{classes: string[], style?: string, title?: string}}
   */
  #shade(i, produced, step, table, high) {
    if (i < step.n_dropped) return { classes: ["hl-dropped"], title: "dropped from the context" };
    if (i >= produced) return { classes: i === produced ? ["hl-chosen"] : [] };
    const weight = this.#weights(step)[i - step.n_dropped] ?? 0;
    const color = colorAt(table, weight, 0, high);
    const style = `background:${color};color:${inkOn(color)}`;
    return { classes: [], style, title: `attended to with ${digits(weight)}` };
  }

  // --- one step -----------------------------------------------------------------------------------

  /** @param {number} at */
  #showStep(at) {
    const { steps, labels, n_prompt, head } = this.data;
    const step = steps[at];
    const label = labels[n_prompt + at];
    const place = `oken ${at + 1} of ${steps.length}: `;
    this.scrubber.max = String(steps.length - 1);
    this.scrubber.value = String(at);
    this.scrubber.setAttribute("aria-valuetext", `t${place}${label}`);
    const weights = this.#weights(step);
    const best = argmax(weights);
    const who = this.settings.averaged ? "All heads attend" : `${head} attends`;
    const dropped = step.n_dropped ? "; struck out: dropped from the context" : "";
    this.says.replaceChildren(
      `T${place}`,
      html("bdi", null, label),
      `, drawn with probability ${digits(step.prob)} (rank ${step.rank + 1}; p = ${digits(step.before)} before the filters). ${who} most to `,
      html("bdi", null, labels[step.n_dropped + best]),
      ` (${digits(weights[best], 3)}). Shade: attention from the previous position${dropped}.`,
    );
    this.#showBars(step);
    this.#showMapSoon(at);
  }

  /**
   * The leading tokens of the step's distribution, the chosen one marked.
   *
   * @param {WriterStep} step
   */
  #showBars({ leading, token_id, kept }) {
    const rows = leading.map(({ id, label, before, after }) => {
      const mark = id === token_id;
      return { label: mark ? `▸ ${label}` : label, before, after, mark };
    });
    drawBars(this.bars, rows, {
      palette: this.palette,
      width: Math.max(280, this.bars.parentElement?.clientWidth ?? 0),
      legend: `grey: predicted probability; colour: sampled from (left: ${kept.toLocaleString("en")})`,
    });
    const top = leading.slice(0, NAMED).map(({ label, after }) => `${label} ${digits(after, 3)}`);
    this.bars.setAttribute("aria-label", `Leading tokens: ${top.join("; ")}.`);
  }

  /**
   * The map takes longer than a token does, so while text streams in it is drawn now and then.
   *
   * @param {number} at
   */
  #showMapSoon(at) {
    const rest = this.#mapDrawn + MAP_REST_MS - performance.now();
    const draw = () => {
      this.#mapDrawn = performance.now();
      this.#showMap(at);
    };
    if (rest <= 0) draw();
    else this.#cancelMap = this.lifetime.timeout(draw, rest);
  }

  /**
   * One row per new token, one column per token of the text.
   *
   * @param {number} at
   */
  async #showMap(at) {
    const { key, steps, head } = this.data;
    this.map.setAttribute("aria-label", this.says.textContent ?? "");
    const { averaged } = this.settings;
    const wanted = [key, steps.length, averaged, head, this.palette.background];
    if (!same(this.#mapped, wanted)) await this.heatMap.draw(this.#picture(), this.palette);
    this.#mapped = wanted;
    const step = steps[at];
    this.heatMap.mark(at, step.n_dropped + argmax(this.#weights(step)));
  }

  /** @returns {Picture} */
  #picture() {
    const { steps, axis, n_prompt } = this.data;
    const columns = n_prompt + steps.length - 1;
    const values = matrix(steps.length, columns);
    const hidden = new Uint8Array(values.values.length).fill(1);
    let high = 0;
    steps.forEach((step, i) =>
      this.#weights(step).forEach((weight, j) => {
        const place = i * columns + step.n_dropped + j;
        values.values[place] = weight;
        hidden[place] = 0;
        high = Math.max(high, weight);
      }),
    );
    return {
      values,
      hidden,
      rowLabels: axis.slice(n_prompt),
      columnLabels: axis.slice(0, columns),
      rowTitle: "new token",
      columnTitle: "attends to",
      scale: { name: "weight", low: 0, high: high || 1 },
    };
  }
}
