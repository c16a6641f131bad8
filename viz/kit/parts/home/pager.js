// Which layers are in sight where not all are, and the way to those before and after.

import { html } from "../../dom.js";

/** @import { Flow, Page } from "./layout.js" */

export class Pager {
  /** @type {Page[]} */
  #pages = [];
  /** The one that is in sight. @type {Page} */
  #page = { from: 0, to: Infinity, files: 1 };

  /** @param {import("../home.js").Home} home */
  constructor(home) {
    this.home = home;
    this.before = this.#button("‹", "Layers before", -1);
    this.after = this.#button("›", "Layers after", 1);
    this.says = html("span", { role: "status" });
    const parts = [this.before, this.says, this.after];
    this.node = html("div", { class: "hl-home-pager", hidden: true }, parts);
  }

  /** @param {string} sign @param {string} name @param {number} step */
  #button(sign, name, step) {
    const onclick = () => {
      const page = this.#pages[this.#pages.indexOf(this.#page) + step];
      if (!page) return;
      this.home.film.pause();
      this.home.model.choose({ layers: page.from });
    };
    return html("button", { type: "button", "aria-label": name, onclick }, sign);
  }

  /** A column that is in sight: what is looked through, or what was chosen, or else what plays. */
  get sight() {
    const { focus, film, model } = this.home;
    return focus?.column ?? model.get("state").layers ?? film.time.column;
  }

  /** From now on the layers that play are in sight. */
  follow() {
    this.home.model.choose({ layers: null });
  }

  /** @param {number} column that is looked through: it stays in sight */
  bring(column) {
    if (!this.#has(column)) this.home.model.set("state", { layers: column });
    this.home.screen.turn();
  }

  /** Whether what is to be in sight is. */
  get isThere() {
    return this.#has(this.sight);
  }

  /** @param {number} column */
  #has(column) {
    return column >= this.#page.from && column < this.#page.to;
  }

  /**
   * @param {Flow} flow
   * @param {number} n layers
   */
  show({ pages, page }, n) {
    [this.#pages, this.#page] = [pages, page];
    this.node.hidden = pages.length < 2;
    this.says.textContent = `Layers ${page.from}–${page.to - 1} of ${n}`;
    this.before.ariaDisabled = String(page.from === 0); // it keeps the focus
    this.after.ariaDisabled = String(page.to === n);
  }
}
