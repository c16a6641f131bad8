// The list of next tokens, its sliders and buttons; what flows into it is drawn on the canvas.

import { button, html, inputOf, slider } from "../../dom.js";
import { percent, quoted } from "./caption.js";
import { NEEDLE } from "./chance.js";
import { goalOf } from "./goals.js";
import { N_NEXT } from "./layout.js";

/** @import { Flow } from "./layout.js" */
/** @import { HomeSpec } from "./numbers.js" */
/** @import { Scene } from "./scene.js" */

/** @type {["temperature" | "top_p", string][]} */
const SLIDERS = [
  ["temperature", "Temperature"],
  ["top_p", "Top-p"],
];

/**
 * @typedef {object} Actions
 * @property {(name: string, value: number) => void} set
 * @property {() => void} rest the hand is off a slider
 * @property {(place: number | null) => void} point
 * @property {(place: number) => void} choose
 * @property {() => void} generate
 * @property {() => void} step
 */

export class Next {
  /** What stands in each row. @type {string[]} */
  #told = [];
  /** @type {HTMLElement[]} */
  #sliders = [];
  #hint = ""; // what a click on a row does

  /** @param {Actions} act */
  constructor(act) {
    this.act = act;
    this.title = html("h2", { class: "hl-title" });
    this.list = html("ol");
    this.gives = html("p", { class: "hl-home-gives" });
    this.rows = Array.from({ length: N_NEXT + 1 }, (_, place) => {
      const on = { onpointerenter: () => act.point(place), onpointerleave: () => act.point(null) };
      const focus = { onfocus: () => act.point(place), onblur: () => act.point(null) };
      /** @param {KeyboardEvent} event */
      const onkeydown = ({ key }) => key === "Enter" && act.choose(place);
      const choose = { onclick: () => act.choose(place), onkeydown };
      const parts = [html("bdi"), html("small"), html("i"), html("u")];
      const row = html("li", { tabindex: 0, ...on, ...focus, ...choose }, ...parts);
      this.list.append(row);
      return row;
    });
    this.legend = html("p", { class: "hl-home-legend" }, "Line: before temperature and top-p");
    this.fields = html("div", { class: "hl-home-fields" });
    this.generate = button("Generate", act.generate, { class: "hl-button hl-primary" });
    this.step = button("Step", act.step);
    this.buttons = html("div", { class: "hl-row" }, this.generate, this.step);
    this.node = html(
      "section",
      { class: "hl-home-next" },
      ...[this.title, this.gives, this.list, this.legend, this.fields, this.buttons],
    );
    this.fields.addEventListener("change", act.rest);
  }

  /**
   * @param {HomeSpec} spec
   * @param {Record<string, any>} settings
   */
  build(spec, settings) {
    const { title, isSampled, canChoose, gives } = goalOf(spec);
    const { bounds } = spec;
    this.node.setAttribute("aria-label", title);
    this.list.hidden = gives !== null;
    this.gives.textContent = gives?.(spec) ?? "";
    this.legend.hidden = this.fields.hidden = !isSampled;
    this.node.classList.toggle("hl-plain", !isSampled);
    this.node.classList.toggle("hl-choice", canChoose);
    this.buttons.hidden = !canChoose; // else it is all written: the timeline plays it
    this.#hint = canChoose ? "; click: the text goes on with it" : "";
    if (!this.#sliders.length) {
      /** @param {number} x */
      const show = (x) => x.toFixed(2);
      this.#sliders = SLIDERS.map(([name, label]) => {
        const about = { bounds: bounds[name], value: settings[name], show };
        return slider(label, about, (value) => this.act.set(name, value));
      });
      this.fields.replaceChildren(...this.#sliders);
    }
    SLIDERS.forEach(([name], i) => {
      const input = inputOf(this.#sliders[i]);
      if (Number(input.value) === settings[name] || input.matches(":active")) return;
      input.value = String(settings[name]);
      const output = this.#sliders[i].querySelector("b");
      if (output) output.textContent = settings[name].toFixed(2);
    });
  }

  /**
   * @param {boolean} isWriting
   * @param {boolean} canGoOn
   */
  enable(isWriting, canGoOn) {
    this.generate.textContent = isWriting ? "Pause" : "Generate";
    this.generate.disabled = this.step.disabled = !canGoOn;
  }

  /** @param {Flow} flow */
  place({ next }) {
    this.node.style.cssText = next
      ? `position:absolute;left:${next.x}px;top:${next.y}px;width:${next.width}px;--pitch:${next.pitch}px`
      : "--pitch:38px";
  }

  /**
   * @param {Scene} scene
   * @param {(place: number) => string} label
   * @param {number} grown 0 to 1 while the probabilities come up
   */
  show({ run, chance, drawn, time }, label, grown) {
    const query = chance?.query ?? run.asked;
    this.#head(run.spec, query);
    this.gives.style.opacity = String(grown);
    if (!chance) return;
    const { probs, before, count } = chance;
    const isDrawn = drawn !== null && query === run.asked && time.at >= time.DRAW + NEEDLE;
    let [rest, restBefore] = [1, 1];
    for (let place = 0; place < N_NEXT; place++) {
      const p = probs[place] ?? 0;
      const isIt = isDrawn && drawn.place === place;
      this.#row(place, label(place), { p, p0: before[place], grown, isCut: place >= count, isIt });
      [rest, restBefore] = [rest - p, restBefore - before[place]];
    }
    const others = Math.max(0, count - N_NEXT);
    const isIt = isDrawn && drawn.place >= N_NEXT;
    const about = { p: others && Math.max(0, rest), p0: Math.max(0, restBefore) };
    this.#row(N_NEXT, othersOf(chance), { ...about, grown, isCut: !others, isIt });
  }

  /**
   * @param {HomeSpec} spec
   * @param {number} query
   */
  #head(spec, query) {
    const { title, from, gives } = goalOf(spec);
    const of = gives ? [] : [`${from} `, quoted(spec.labels[query])];
    this.title.replaceChildren(`${title} `, html("small", null, ...of));
  }

  /**
   * @param {number} i
   * @param {string} words
   * @param {{p: number, p0: number, grown: number, isCut: boolean, isIt: boolean}} about
   */
  #row(i, words, { p, p0, grown, isCut, isIt }) {
    const state = [words, p, p0, grown, isCut, isIt].join();
    if (this.#told[i] === state) return; // most frames change nothing here
    this.#told[i] = state;
    const item = this.rows[i];
    const [word, share] = item.children;
    word.textContent = words;
    share.textContent = isCut ? "cut" : percent(p);
    share.setAttribute("title", isCut ? "left out by top-p" : "");
    item.dataset.after = String(p);
    item.title = `model: ${percent(p0)}${i < N_NEXT ? this.#hint : ""}`;
    item.style.setProperty("--p", (p * grown).toFixed(4));
    item.style.setProperty("--before", p0.toFixed(4));
    item.style.opacity = String(grown);
    item.classList.toggle("hl-cut", isCut);
    item.classList.toggle("hl-drawn", isIt);
  }

  /**
   * Where the word of a row stands in a box.
   *
   * @param {number} place
   * @param {DOMRect} origin
   * @returns {[number, number]}
   */
  wordAt(place, origin) {
    const box = this.rows[Math.min(place, N_NEXT)].getBoundingClientRect();
    return [box.left - origin.left, box.top + box.height / 2 - origin.top];
  }
}

/**
 * How many tokens stand in no row, and how many of them were kept where others were cut.
 *
 * @param {NonNullable<Scene["chance"]>} chance
 */
function othersOf({ count, ids }) {
  const [others, kept] = [ids.length, count].map((n) => (n - N_NEXT).toLocaleString("en"));
  return `${count > N_NEXT && count < ids.length ? `${kept} of ` : ""}${others} others`;
}
