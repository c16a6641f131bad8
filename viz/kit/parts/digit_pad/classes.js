// The classes of a picture as bars.

import { digits, html } from "../../dom.js";
import { matrix, softmaxRows } from "../../maths.js";

/** @import { Numbers } from "../../maths.js" */

export class Classes {
  constructor() {
    this.node = html("div", { class: "hl-sketch-bars", role: "img" });
    /** @type {{row: HTMLElement, bar: HTMLElement, number: HTMLElement}[]} */
    this.rows = [];
  }

  /** @param {Numbers} logits */
  show(logits) {
    if (this.rows.length !== logits.length) this.#build(logits.length);
    const probs = Array.from(softmaxRows(matrix(1, logits.length, logits)).values);
    const best = probs.indexOf(Math.max(...probs));
    this.rows.forEach(({ row, bar, number }, i) => {
      bar.style.width = `${100 * probs[i]}%`;
      number.textContent = digits(probs[i], 3);
      row.classList.toggle("hl-looked", i === best);
    });
    const said = probs.map((prob, i) => `${i} ${digits(prob, 3)}`).join(", ");
    this.node.setAttribute("aria-label", `Probability of each digit: ${said}`);
    return { best, probability: probs[best] };
  }

  /** @param {number} n */
  #build(n) {
    this.rows = Array.from({ length: n }, (_, i) => {
      const bar = html("i");
      const number = html("output");
      const row = html("div", null, html("b", null, i), html("span", null, bar), number);
      return { row, bar, number };
    });
    this.node.replaceChildren(...this.rows.map(({ row }) => row));
  }
}
