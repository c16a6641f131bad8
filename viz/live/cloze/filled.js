// What could stand in one blank: the most likely tokens of the whole vocabulary as bars, before and
// after temperature and top-p.

import { floatsOf } from "../../kit/arrays.js";
import { drawBars } from "../../kit/marks/bars.js";
import { digits, html, slider, svg } from "../../kit/dom.js";
import { applied, probabilities, sortedIds } from "../../kit/sampling.js";

/** @import { Palette } from "../../kit/wire.js" */
/** @import { ClozeData, ClozeSettings } from "./wire.js" */

const NOTHING = "Nothing is hidden: click a word above.";
const SIGNS = "grey: the model; colour: with the sliders; dashed: removed; ✓: stood there";
const LEAST_WIDTH = 240;

export class Filled {
  #key = "";
  #built = "";
  #sorted = new Float32Array();
  /** Places of the named tokens among the sorted logits. @type {number[]} */
  #places = [];

  /** @param {(changes: Partial<ClozeSettings>) => void} steer */
  constructor(steer) {
    this.steer = steer;
    this.title = html("h3");
    this.sliders = html("div", { class: "hl-cloze-sliders" });
    this.bars = svg("svg", { class: "hl-bars", role: "img" });
    const signs = html("p", { class: "hl-caption" }, SIGNS);
    const parts = [this.title, this.sliders, this.bars, signs];
    this.node = html("div", { class: "hl-cloze-filled" }, ...parts);
  }

  /**
   * @param {ClozeData} data
   * @param {ClozeSettings} settings
   * @param {Palette} palette
   */
  draw(data, settings, palette) {
    this.#buildSliders(data, settings);
    const { shown } = data;
    this.bars.style.visibility = shown ? "visible" : "hidden";
    if (!shown) {
      this.title.textContent = NOTHING;
      return;
    }
    this.#take(data);
    this.title.replaceChildren("In place of ", html("bdi", null, data.labels[shown.place]));
    this.#drawBars(data, settings, palette);
  }

  /** @param {ClozeData} data */
  #take({ shown, key }) {
    if (!shown || key === this.#key) return;
    this.#key = key;
    const logits = floatsOf(shown.logits);
    const ids = sortedIds(logits);
    this.#sorted = Float32Array.from(ids, (id) => logits[id]);
    this.#places = shown.named.map(({ id }) => ids.indexOf(id));
  }

  /**
   * @param {ClozeData} data
   * @param {ClozeSettings} settings
   * @param {Palette} palette
   */
  #drawBars({ shown, slack }, { temperature, top_p }, palette) {
    if (!shown) return;
    /** @type {import("../../kit/sampling.js").SamplerSettings} */
    const sampling = { temperature, top_p, top_k: null, min_p: 0, order: ["temperature", "top_p"] };
    const { count } = applied(this.#sorted, sampling, slack);
    const before = probabilities(this.#sorted, 1);
    const tempered = probabilities(this.#sorted, temperature);
    const after = probabilities(this.#sorted, temperature, count);
    const rows = shown.named.map(({ id, label }, i) => {
      const place = this.#places[i];
      const isKept = place < count;
      const isTrue = id === shown.id;
      return {
        label: isTrue ? `✓ ${label}` : label,
        before: before[place],
        after: after[place] ?? 0,
        lost: isKept ? 0 : tempered[place],
        mark: isTrue,
        number: isKept ? digits(after[place]) : "removed",
      };
    });
    const named = new Set(this.#places);
    const rest = after.reduce((sum, p, place) => (named.has(place) ? sum : sum + p), 0);
    const n = (this.#sorted.length - rows.length).toLocaleString("en");
    const legend = `${n} others: ${digits(rest, 3)}`;
    const width = Math.max(LEAST_WIDTH, this.node.clientWidth);
    drawBars(this.bars, rows, { palette, width, legend });
    const said = rows.slice(0, 3).map((row) => `${row.label} ${digits(row.before, 3)}`);
    this.bars.setAttribute("aria-label", `Most likely in this blank: ${said.join(", ")}`);
  }

  /**
   * @param {ClozeData} data
   * @param {ClozeSettings} settings
   */
  #buildSliders({ bounds }, { temperature, top_p }) {
    const built = JSON.stringify([temperature, top_p]);
    if (built === this.#built) return;
    this.#built = built;
    /** @type {(label: string, name: "temperature" | "top_p", value: number) => Element} */
    const made = (label, name, value) =>
      slider(label, { bounds: bounds[name], value, show: (x) => x.toFixed(2) }, (x) => {
        const now = name === "temperature" ? [x, this.#now[1]] : [this.#now[0], x];
        this.#built = JSON.stringify(now); // the slider shows it already
        this.steer({ [name]: x });
      });
    this.sliders.replaceChildren(
      made("Temperature", "temperature", temperature),
      made("Top-p", "top_p", top_p),
    );
  }

  /** What the sliders show. @returns {number[]} */
  get #now() {
    return JSON.parse(this.#built);
  }
}
