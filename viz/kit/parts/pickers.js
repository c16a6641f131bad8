// Pickers: lists side by side. Streamlit's own lists send their old choice with whatever else is sent
// before they have heard of a new one, and Python cannot tell that from a person's choice.

import { html, moveSlider, wordsIn, slider } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { Tokens } from "../marks/tokens.js";
import { same } from "../conversation.js";

/** @import { Place } from "../instrument.js" */
/** @import { InstrumentData, Option } from "../wire.js" */

/**
 * Options to choose from: a list, whose placeholder stands where nothing stays chosen, a slider, or a
 * row of tokens.
 *
 * @typedef {{name: string, label: string, options: Option[], placeholder: string | null,
 *   is_dragged: boolean, is_row: boolean}} Picker
 * @typedef {InstrumentData & {pickers: Picker[]}} PickersData
 */

const QUIET_MS = { list: 0, slider: 60 }; // a choice in a list is meant at once

/** @extends {Instrument<PickersData>} */
export class Pickers extends Instrument {
  /** What the controls were made of. @type {Picker[] | null} */
  #made = null;
  /** By their setting's name. @type {Map<string, HTMLSelectElement | HTMLLabelElement>} */
  #controls = new Map();
  /** @type {Map<string, Tokens>} */
  #rows = new Map();

  /** @param {Place} place */
  constructor(place) {
    super(place, QUIET_MS.list);
  }

  /** @override */
  redraw() {
    const { pickers } = this.data;
    if (!same(pickers, this.#made)) this.#make(pickers);
    for (const { name, options } of pickers) {
      const control = this.#controls.get(name);
      const chosen = (/** @type {Option} */ one) => one.name === this.settings[name];
      const row = this.#rows.get(name);
      row?.show(options.map((one) => ({ label: one.text, is: { chosen: chosen(one) } })));
      if (control instanceof HTMLSelectElement) control.value = this.settings[name];
      else if (control) {
        const at = options.findIndex((option) => option.name === this.settings[name]);
        moveSlider(control, at, { words: options[at]?.text, high: options.length - 1 });
      }
    }
  }

  /** @param {Picker[]} pickers */
  #make(pickers) {
    if (!same(pickers.map(shapeOf), this.#made?.map(shapeOf))) this.#place(pickers);
    for (const { name, options, placeholder } of pickers) {
      const control = this.#controls.get(name);
      if (!(control instanceof HTMLSelectElement)) continue;
      const all = options.map((option) => html("option", { value: option.name }, option.text));
      if (placeholder !== null)
        all.unshift(html("option", { value: "", hidden: true }, placeholder));
      control.replaceChildren(...all);
    }
    this.#made = pickers;
  }

  /** @param {Picker[]} pickers */
  #place(pickers) {
    this.#controls.clear();
    this.#rows.clear();
    const all = pickers.map((picker) => {
      const { name, is_dragged: isDragged, is_row: isRow } = picker;
      const made = isDragged
        ? [this.#slider(picker)]
        : isRow
          ? this.#row(picker)
          : this.#list(picker);
      return html("div", { class: "hl-picker", "data-setting": name }, made);
    });
    this.root.replaceChildren(...all);
  }

  /** @param {Picker} picker */
  #list({ name, label }) {
    const id = `hl-picker-${name}`;
    const choose = () => this.#choose(name, list.value, QUIET_MS.list);
    const list = html("select", { id, class: "hl-input", onchange: choose });
    this.#controls.set(name, list);
    return [html("label", { class: "hl-floating", for: id }, label), list];
  }

  /** @param {Picker} picker */
  #row({ name, label }) {
    const pick = (/** @type {number} */ at) => {
      const { name: option } = this.#optionsOf(name)[at];
      this.#choose(name, this.settings[name] === option ? "" : option, QUIET_MS.list);
    };
    const row = new Tokens("hl-picker-row", label, { pick, walks: true });
    this.lifetime.watchSize(row.node, () => (row.node.scrollTop = 0)); // read from its beginning
    this.#rows.set(name, row);
    return [html("span", { class: "hl-picker-label", "aria-hidden": "true" }, label), row.node];
  }

  /** @param {string} name */
  #optionsOf(name) {
    return this.data.pickers.find((picker) => picker.name === name)?.options ?? [];
  }

  /** @param {Picker} picker */
  #slider({ name, label, options }) {
    const optionAt = (/** @type {number} */ at) => this.#optionsOf(name)[at] ?? options[at];
    const bounds = { low: 0, high: options.length - 1, step: 1 };
    const show = (/** @type {number} */ at) => optionAt(at).text;
    const made = slider(label, { bounds, value: 0, show }, (at) =>
      this.#choose(name, optionAt(at).name, QUIET_MS.slider),
    );
    this.#controls.set(name, made);
    return made;
  }

  /**
   * @param {string} name
   * @param {string} option
   * @param {number} quiet
   */
  #choose(name, option, quiet) {
    this.conversation.quiet = quiet;
    this.set({ [name]: option });
  }

  /** What is chosen, by the names of settings. */
  read() {
    const rows = Object.fromEntries([...this.#rows].map(([name, row]) => [name, row.read()]));
    return { ...wordsIn(Object.fromEntries(this.#controls)), ...rows };
  }
}

/** @param {Picker} picker */
function shapeOf({ name, is_dragged, is_row }) {
  return [name, is_dragged, is_row];
}

export default partOf("pickers", Pickers);
