// What the model said at one place of the target: its most likely tokens as bars, each to be chosen.

import { button, digits, html } from "../../kit/dom.js";

/** @import { LeadingToken, Step } from "./wire.js" */

const FEW = 10; // that are listed at once

/**
 * What is shown.
 *
 * @typedef {object} Shown
 * @property {Step} step
 * @property {string} before the word before it, empty at the beginning
 * @property {boolean} isDrawn whether tokens are drawn with other probabilities than the model's
 */

export class Candidates {
  #isLong = false;
  /** @type {Shown | undefined} */
  #shown;

  /**
   * @param {HTMLElement} host
   * @param {(id: number) => void} choose
   */
  constructor(host, choose) {
    this.choose = choose;
    this.title = html("h3");
    this.list = html("ol", { class: "hl-tr-list" });
    this.rest = html("p", { class: "hl-caption hl-tr-rest" });
    this.more = button("more", () => this.#toggle(), { class: "hl-button hl-tr-more" });
    host.append(this.title, this.list, html("div", { class: "hl-tr-foot" }, this.rest, this.more));
  }

  #toggle() {
    this.#isLong = !this.#isLong;
    if (this.#shown) this.draw(this.#shown);
  }

  /** How many tokens are listed. */
  get n() {
    return this.#isLong ? (this.#shown?.step.leading.length ?? 0) : FEW;
  }

  /** @param {Shown} shown */
  draw(shown) {
    this.#shown = shown;
    const { step, before, isDrawn } = shown;
    const named = html("bdi", { class: "hl-tr-named" }, before);
    this.title.replaceChildren(...(before ? ["After ", named] : ["At the beginning"]));
    const rows = step.leading.slice(0, this.n);
    const most = Math.max(...rows.map((row) => Math.max(row.before, row.after)), 1e-9);
    const items = rows.map((row) => this.#item(row, step, most, isDrawn));
    const isListed = step.id === null || rows.some(({ id }) => id === step.id);
    if (!isListed) items.push(chosenBelow(step));
    this.list.replaceChildren(...items);
    const rest = Math.max(0, 1 - rows.reduce((sum, row) => sum + row.before, 0));
    const count = step.n_others + step.leading.length - rows.length;
    this.rest.textContent = `${count.toLocaleString("en")} others: ${digits(rest, 3)}`;
    this.more.textContent = this.#isLong ? "fewer" : "more";
    this.more.hidden = step.leading.length <= FEW;
  }

  /**
   * @param {LeadingToken} row
   * @param {Step} step
   * @param {number} most
   * @param {boolean} isDrawn
   */
  #item({ id, label, before, after }, step, most, isDrawn) {
    const bars = [html("i", { class: "hl-tr-before", style: `width:${(100 * before) / most}%` })];
    if (isDrawn)
      bars.push(html("i", { class: "hl-tr-after", style: `width:${(100 * after) / most}%` }));
    const isHere = id === step.id;
    const value = digits(isDrawn ? after : before, 3);
    const choice = html(
      "button",
      {
        type: "button",
        class: isHere ? "hl-tr-option hl-looked" : "hl-tr-option",
        "aria-pressed": String(isHere),
        title: isHere ? "This token stands here" : "Put this token here; the rest is written again",
        onclick: () => this.choose(id),
      },
      html("bdi", null, label),
      html("span", { class: "hl-tr-bars" }, ...bars),
      html("small", null, value),
    );
    return html("li", null, choice);
  }
}

/**
 * The token that stands here, where it is not among those that are listed.
 *
 * @param {Step} step
 */
function chosenBelow({ label, prob, rank }) {
  const place = `rank ${((rank ?? 0) + 1).toLocaleString("en")}`;
  return html(
    "li",
    { class: "hl-tr-option hl-tr-below" },
    html("bdi", { class: "hl-tr-named" }, label),
    html("span", null, place),
    html("small", null, digits(prob ?? 0, 3)),
  );
}
