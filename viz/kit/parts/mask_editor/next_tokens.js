// What the model says next, under the mask as it was and with the edits.

import { drawBars } from "../../marks/bars.js";
import { digits, html, svg } from "../../dom.js";

/** @import { Palette } from "../../wire.js" */
/** @import { EditorData } from "./wire.js" */

const NAMED = 3; // bars in words
const LEAST_WIDTH = 280;

export class NextTokens {
  /** @type {[EditorData, Palette] | null} */
  #shown = null;

  constructor() {
    this.title = html("h3");
    this.bars = svg("svg", { class: "hl-bars", role: "img" });
    this.node = html("section", { class: "hl-operands", "aria-label": "Next tokens" });
    this.node.append(this.title, this.bars);
  }

  /**
   * Show the bars of an answer.
   *
   * @param {EditorData} data
   * @param {Palette} palette
   */
  show(data, palette) {
    this.#shown = [data, palette];
    this.draw();
  }

  /** Draw again, in the width there is now. */
  draw() {
    if (!this.#shown) return;
    const [{ bars, bars_title }, palette] = this.#shown;
    this.title.textContent = bars_title;
    if (!bars.length) return this.bars.replaceChildren();
    const rows = bars.map(({ label, before, after }) => ({
      label,
      before: before ?? 0,
      after: after ?? 0,
      number: changeInWords(before, after),
    }));
    drawBars(this.bars, rows, {
      palette,
      width: Math.max(LEAST_WIDTH, this.node.clientWidth),
      legend: "grey: as the mask was → colour: with your edits",
    });
    const said = bars
      .slice(0, NAMED)
      .map((row) => `${row.label}: ${digits(row.before ?? NaN)}, now ${digits(row.after ?? NaN)}`);
    this.bars.setAttribute("aria-label", `${bars_title}. ${said.join("; ")}.`);
  }
}

/**
 * A probability as it was and is; once where four digits do not tell them apart.
 *
 * @param {number | null} before
 * @param {number | null} after
 */
function changeInWords(before, after) {
  const [was, is] = [before, after].map((value) => digits(value ?? NaN));
  return was === is ? is : `${was} → ${is}`;
}
