// Below the picture: play or pause, what is seen in a sentence, and the scale. For who does not see
// the picture, what the last token attends to.

import { weightLegend } from "../../colors.js";
import { html } from "../../dom.js";
import { RolesLegend } from "../../looks.js";

import { quoted } from "./caption.js";

/** @import { Words } from "./caption.js" */
/** @import { Run } from "./numbers.js" */

export class Foot {
  /**
   * @param {() => void} toggle
   * @param {import("../../model.js").Model} model
   * @param {Node} share
   */
  constructor(toggle, model, share) {
    const on = { type: "button", class: "hl-home-play", onclick: toggle };
    this.play = html("button", on);
    this.says = html("p", { class: "hl-home-says", role: "status" });
    this.edges = html("ol", { class: "hl-hidden", "aria-label": "Strongest attention" });
    this.scale = html("span", { class: "hl-home-scale" });
    const from = html("small", { class: "hl-home-source" }, model.source);
    const onchange = () => model.choose({ sink: !this.hides.checked });
    this.hides = html("input", { type: "checkbox", onchange });
    this.sink = html("label", { class: "hl-home-sink", hidden: true });
    this.roles = new RolesLegend();
    const legends = [this.roles.node, this.scale];
    const parts = [this.play, this.says, this.sink, from, ...legends, share, this.edges];
    this.node = html("div", { class: "hl-home-foot" }, ...parts);
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

  /** @param {import("../../wire.js").Palette} palette */
  showScale(palette) {
    const ramp = html("i", { style: `background:linear-gradient(90deg, ${palette.sequential})` });
    const [name] = weightLegend(palette).split(","); // its ends stand beside the ramp
    this.scale.replaceChildren(html("span", null, name), "0", ramp, "1");
  }

  /** @param {Run} run */
  list(run) {
    const { labels, looks, columns } = run.spec;
    this.roles.show(looks);
    const { row: first, resting, heads, isOne } = run.sink;
    this.sink.hidden = !isOne;
    const words = html("span", null, "Hide lines to ", quoted(labels[first]), ", a sink");
    this.sink.replaceChildren(this.hides, words);
    this.sink.title = `An attention sink: ${resting} of ${heads} heads give it more than half of their attention`;
    const query = run.asked;
    const items = run.columnsOf(run.bandOf(query)).map((column) => {
      const row = run.row(query, { column });
      const key = row.indexOf(Math.max(...row));
      const { title, layer } = columns[column];
      const attends = `“${labels[query]}” attends most to “${labels[key]}”`;
      const weight = row[key].toFixed(2);
      return html("li", null, `${title}Layer ${layer}: ${attends}, ${weight} on average`);
    });
    this.edges.replaceChildren(...items);
  }
}
