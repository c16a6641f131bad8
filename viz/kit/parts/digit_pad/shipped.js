// The shipped pictures: one by one, or only those that the model gets wrong.

import { button, html } from "../../dom.js";

/**
 * The shipped pictures: which is shown and its class, how many there are, and those got wrong.
 *
 * @typedef {{chosen: number, label: number | null, n: number, wrong: number[]}} ShippedData
 */

export class Shipped {
  /** @type {ShippedData} */
  #data = { chosen: 0, label: null, n: 0, wrong: [] };
  #isDrawn = false;

  /** @param {(digit: number) => void} take */
  constructor(take) {
    this.take = take;
    this.says = html("span");
    this.only = html("input", { type: "checkbox", onchange: () => this.#choose() });
    this.wrong = html("span");
    this.node = html(
      "div",
      { class: "hl-digit-pad-shipped" },
      html(
        "div",
        { class: "hl-row" },
        button("‹", () => this.#step(-1), { "aria-label": "Test digit before" }),
        this.says,
        button("›", () => this.#step(1), { "aria-label": "Next test digit" }),
      ),
      html("label", null, this.only, " ", this.wrong),
    );
  }

  /**
   * @param {ShippedData} data
   * @param {boolean} isDrawn whether a drawing is shown in place of the chosen one
   */
  show(data, isDrawn) {
    this.#data = data;
    this.#isDrawn = isDrawn;
    const { chosen, label, n, wrong } = data;
    this.says.textContent = isDrawn
      ? "your own picture"
      : `test digit ${chosen + 1} of ${n}${label === null ? "" : `: ${named(label)}`}`;
    this.wrong.textContent = `only the ${wrong.length} it gets wrong of these ${n} hard ones`;
    this.only.disabled = !wrong.length;
  }

  /** A person draws: the picture on screen is none of these. */
  replace() {
    this.show(this.#data, true);
  }

  /**
   * Whether the model is right, where that is known.
   *
   * @param {number} best
   */
  verdict(best) {
    if (this.#isDrawn || this.#data.label === null) return ".";
    return best === this.#data.label ? ": right." : `: wrong, it is ${named(this.#data.label)}.`;
  }

  /** Of those it gets wrong one is shown at once. */
  #choose() {
    const { chosen, wrong } = this.#data;
    if (this.only.checked && (this.#isDrawn || !wrong.includes(chosen))) this.#step(1);
  }

  /** @param {1 | -1} step */
  #step(step) {
    const { chosen, n, wrong } = this.#data;
    const all = this.only.checked && wrong.length ? wrong : Array.from({ length: n }, (_, i) => i);
    const later = all.filter((i) => (step > 0 ? i > chosen : i < chosen));
    const ends = step > 0 ? all[0] : all[all.length - 1];
    const to = (step > 0 ? later[0] : later[later.length - 1]) ?? ends;
    this.show({ ...this.#data, chosen: to, label: null }, false); // the next click counts from it
    this.take(to);
  }
}

/**
 * A digit with its article.
 *
 * @param {number} label
 */
function named(label) {
  return `${label === 8 ? "an" : "a"} ${label}`;
}
