// Pickers: lists side by side. Streamlit's own lists send their old choice with whatever else is sent
// before they have heard of a new one, and Python cannot tell that from a person's choice.

import { html } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { same } from "../conversation.js";

/** @import { Place } from "../instrument.js" */
/** @import { InstrumentData, Option } from "../wire.js" */

/**
 * One list to choose from; its placeholder stands where nothing stays chosen.
 *
 * @typedef {{name: string, label: string, options: Option[], placeholder: string | null}} Picker
 * @typedef {InstrumentData & {pickers: Picker[]}} PickersData
 */

const QUIET_MS = 0; // a choice is meant at once

/** @extends {Instrument<PickersData>} */
export class Pickers extends Instrument {
  /** What the lists were made of. @type {Picker[] | null} */
  #made = null;
  /** @type {Map<string, HTMLSelectElement>} */
  #lists = new Map();

  /** @param {Place} place */
  constructor(place) {
    super(place, QUIET_MS);
  }

  /** @override */
  redraw() {
    const { pickers } = this.data;
    if (!same(pickers, this.#made)) this.#make(pickers);
    for (const [name, list] of this.#lists) list.value = this.settings[name];
  }

  /** @param {Picker[]} pickers */
  #make(pickers) {
    const names = pickers.map(({ name }) => name);
    if (!same(names, [...this.#lists.keys()])) this.#place(pickers);
    for (const { name, options, placeholder } of pickers) {
      const all = options.map((option) => html("option", { value: option.name }, option.text));
      if (placeholder !== null)
        all.unshift(html("option", { value: "", hidden: true }, placeholder));
      this.#lists.get(name)?.replaceChildren(...all);
    }
    this.#made = pickers;
  }

  /** @param {Picker[]} pickers */
  #place(pickers) {
    this.#lists.clear();
    const all = pickers.map(({ name, label }) => {
      const id = `hl-picker-${name}`;
      const list = html("select", { id, onchange: () => this.set({ [name]: list.value }) });
      this.#lists.set(name, list);
      const title = html("label", { class: "hl-floating", for: id }, label);
      return html("div", { class: "hl-picker", "data-setting": name }, title, list);
    });
    this.root.replaceChildren(...all);
  }
}

export default partOf("pickers", Pickers);
