// A card about the number last pointed at: its address, formula and function, its value as it is drawn,
// as the model has it, and as an independent run has it.

import { button, html } from "../core/dom.js";
import { pointAtPrinted, pointed } from "../core/pointed.js";

/** @import { Lifetime } from "../core/lifetime.js" */
/** @import { Pointed } from "../core/pointed.js" */

const ASK =
  "Point at a cell, a point or a number of a figure that is compared with the independent run, then " +
  "press ?. The line beside the button says how many values are.";
const TYPED = "input:not([type=range]), textarea"; // where a question mark is a letter
const DIGITS = 9; // tell any two float32 numbers apart

/**
 * @typedef {object} Told what the app says of one number; null where it has no value
 * @property {string} address
 * @property {string} formula
 * @property {string} source
 * @property {number | null} value
 * @property {number | null} reference
 */

export class Card {
  /** @param {Lifetime} lifetime */
  constructor(lifetime) {
    this.list = html("dl");
    this.dialog = html(
      "dialog",
      { class: "hl-card", "aria-label": "Where this number comes from" },
      html("h2", null, "Where this number comes from"),
      this.list,
      html(
        "form",
        { method: "dialog" },
        button("Close", () => this.dialog.close()),
      ),
    );
    this.node = button("?", () => this.open(), {
      class: "hl-button",
      title: "Where does a number come from? Point at it and press ?",
      "aria-label": "Where does the number last pointed at come from?",
    });
    lifetime.listen(document, "keydown", (event) => this.#key(event));
    for (const type of ["pointerover", "focusin"])
      lifetime.listen(document, type, ({ target }) => pointAtPrinted(target));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const isTyped = event.target instanceof Element && event.target.closest(TYPED);
    if (event.key !== "?" || isTyped || this.dialog.open) return;
    event.preventDefault();
    this.open(true);
  }

  /** @param {boolean} [isNow] whether it is about what the mouse is on, not about the last number */
  async open(isNow = false) {
    const number = pointed(isNow);
    const rows = number ? await this.#rows(number) : [["", ASK]];
    this.list.replaceChildren(
      ...rows.map(([name, text]) =>
        html("div", null, html("dt", null, name), html("dd", null, text)),
      ),
    );
    if (!this.dialog.open) this.dialog.showModal();
  }

  /**
   * @param {Pointed} number
   * @returns {Promise<string[][]>}
   */
  async #rows({ run, address, drawn, of }) {
    const place = `live/origins/${run}/${address}`;
    const response = await fetch(new URL(place, document.baseURI)).catch(() => null);
    if (!response?.ok)
      return [
        ["Address", address],
        ["", "Its run is gone; type it again."],
      ];
    return rowsOf(await response.json(), drawn, of);
  }
}

/**
 * Names and texts of what there is to say of a number.
 *
 * @param {Told} told
 * @param {Pointed["drawn"]} drawn
 * @param {string} of
 */
function rowsOf({ address, formula, source, value, reference }, drawn, of) {
  const isDrawn = typeof drawn === "number" && Number.isFinite(drawn);
  const own = value ?? (isDrawn ? drawn : null);
  const difference = own === null || reference === null ? null : Math.abs(own - reference);
  const printed = isDrawn ? full(drawn) : "not drawn: masked";
  return [
    ["Of", of],
    ["Address", address],
    ["Formula", formula],
    ["On screen", typeof drawn === "string" ? drawn : printed],
    ["The model", value === null ? "computed for this figure alone" : full(value)],
    ["Independent run", reference === null ? "none: masked" : full(reference)],
    ["Difference", difference === null ? "–" : difference.toExponential(1)],
    ["Computed by", source],
  ].filter(([, text]) => text);
}

/** @param {number} value */
function full(value) {
  return String(Number(value.toPrecision(DIGITS))).replace("-", "−");
}
