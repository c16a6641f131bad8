// All blanks with what stood there: its probability, its rank, what that is in nats, and what is most
// likely.

import { button, digits, html } from "../../kit/dom.js";

/** @import { ClozeData, Found } from "./wire.js" */

const HEAD = ["Stood there", "p", "rank", "−ln p", "Most likely"];

export class FoundTable {
  /** @param {(place: number) => void} pick */
  constructor(pick) {
    this.pick = pick;
    this.body = html("tbody");
    const head = HEAD.map((text) => html("th", { scope: "col" }, text));
    const table = html(
      "table",
      { class: "hl-table" },
      html("thead", null, html("tr", null, head)),
      this.body,
    );
    const name = { class: "hl-cloze-found", tabindex: 0, role: "group", "aria-label": "Blanks" };
    this.node = html("div", name, table);
  }

  /**
   * @param {ClozeData} data
   * @param {number} shown
   */
  draw({ found }, shown) {
    const held = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.place;
    this.body.replaceChildren(...found.map((one) => this.#row(one, one.place === shown)));
    if (held && !this.body.contains(document.activeElement))
      /** @type {HTMLElement | null} */ (
        this.body.querySelector(`button[data-place="${held}"]`)
      )?.focus();
  }

  /**
   * @param {Found} found
   * @param {boolean} isShown
   */
  #row({ place, label, prob, rank, nats, best, best_prob }, isShown) {
    const name = html("bdi", null, label);
    const choose = button(name, () => this.pick(place), {
      class: "hl-cloze-pick",
      "aria-pressed": String(isShown),
      "data-place": String(place),
      title: "Show all that was predicted here",
    });
    /** @type {(what: string, text: string) => HTMLElement} */
    const cell = (what, text) => html("td", { "data-number": what }, text);
    return html(
      "tr",
      { class: isShown ? "hl-looked" : null, "data-place": String(place) },
      html("th", { scope: "row" }, choose),
      cell("p", digits(prob ?? NaN, 3)),
      cell("rank", (rank + 1).toLocaleString("en")),
      cell("nats", digits(nats ?? NaN, 2)),
      html(
        "td",
        null,
        html("bdi", null, best.label),
        " ",
        html("small", { "data-number": "best" }, digits(best_prob ?? NaN, 3)),
      ),
    );
  }
}
