// Below the picture: play or pause, what is seen in a sentence, and the scale. For who does not see
// the picture, what the last token attends to.

import { html } from "../../dom.js";

/** @import { Words } from "./caption.js" */
/** @import { Run } from "./numbers.js" */

export class Foot {
  /** @param {() => void} toggle */
  constructor(toggle) {
    const on = { type: "button", class: "hl-home-play", onclick: toggle };
    this.play = html("button", on);
    this.says = html("p", { class: "hl-home-says", role: "status" });
    this.edges = html("ol", { class: "hl-hidden", "aria-label": "Strongest attention" });
    const scale = html("span", { class: "hl-home-scale" }, "attention 0 ", html("i"), " 1");
    this.node = html("div", { class: "hl-home-foot" }, this.play, this.says, scale, this.edges);
  }

  /**
   * @param {Words} words
   * @param {boolean} isPlaying
   */
  show(words, isPlaying) {
    const text = words.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
    if (text !== this.says.textContent) this.says.replaceChildren(...words);
    this.play.textContent = isPlaying ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
  }

  /** @param {Run} run */
  list(run) {
    const { labels, n_layers } = run.spec;
    const items = Array.from({ length: n_layers }, (_, layer) => {
      const row = run.row(run.n - 1, { layer });
      const key = row.indexOf(Math.max(...row));
      const attends = `“${labels[run.n - 1]}” attends most to “${labels[key]}”`;
      return html("li", null, `Layer ${layer}: ${attends}, ${row[key].toFixed(2)} on average`);
    });
    this.edges.replaceChildren(...items);
  }
}
