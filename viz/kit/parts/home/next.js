// The list of next tokens, its sliders and buttons; what flows into it is drawn on the canvas.

import { button, html, share } from "../../dom.js";
import { TokenBars } from "../../marks/bars.js";
import { barsAt, leftInWords, samplingOf } from "../../sampling.js";
import { SIMPLE, Sliders } from "../../sliders.js";
import { quoted } from "./caption.js";
import { NEEDLE } from "./chance.js";
import { goalOf } from "./goals.js";
import { N_NEXT } from "./layout.js";

/** @import { Flow } from "./layout.js" */
/** @import { HomeSpec } from "./numbers.js" */
/** @import { Scene } from "./scene.js" */

/**
 * @typedef {object} Actions
 * @property {(changes: Record<string, unknown>) => void} set
 * @property {() => void} rest the hand is off a slider
 * @property {(place: number | null) => void} point
 * @property {(place: number) => void} choose
 * @property {() => void} generate
 * @property {() => void} step
 */

export class Next {
  #canChoose = false;

  /** @param {Actions} act */
  constructor(act) {
    this.title = html("h2", { class: "hl-title" });
    this.gives = html("p", { class: "hl-home-gives" });
    this.bars = new TokenBars(act.choose, act.point);
    this.left = html("b");
    const line = "Line: before temperature and top-p";
    this.legend = html("p", { class: "hl-home-legend" }, this.left, html("br"), line);
    this.sliders = new Sliders(act.set);
    this.sliders.list.addEventListener("change", act.rest);
    this.generate = button("Generate", act.generate, { class: "hl-button hl-primary" });
    this.step = button("Step", act.step);
    this.buttons = html("div", { class: "hl-row" }, this.generate, this.step);
    const shown = [this.bars.node, this.legend, this.sliders.list, this.buttons];
    this.node = html("section", { class: "hl-home-next" }, this.title, this.gives, ...shown);
  }

  /**
   * @param {HomeSpec} spec
   * @param {Record<string, any>} settings
   */
  build(spec, settings) {
    const { title, isSampled, canChoose, gives } = goalOf(spec);
    this.node.setAttribute("aria-label", title);
    this.bars.node.hidden = gives !== null;
    this.gives.textContent = gives?.(spec) ?? "";
    this.legend.hidden = this.sliders.list.hidden = !isSampled;
    this.node.classList.toggle("hl-unfiltered", !isSampled);
    this.buttons.hidden = !canChoose; // else it is all written: the timeline plays it
    this.#canChoose = canChoose;
    this.sliders.show(samplingOf(settings, SIMPLE), spec.bounds);
  }

  /**
   * @param {boolean} isWriting
   * @param {boolean} canGoOn
   */
  enable(isWriting, canGoOn) {
    this.generate.textContent = isWriting ? "Pause" : "Generate";
    this.generate.disabled = this.step.disabled = !canGoOn;
  }

  /** @param {Flow} flow */
  place({ next }) {
    this.node.style.cssText = next
      ? `position:absolute;left:${next.x}px;top:${next.y}px;width:${next.width}px;--pitch:${next.pitch}px`
      : "--pitch:38px";
  }

  /**
   * @param {Scene} scene
   * @param {(place: number) => string} label
   * @param {number} grown 0 to 1 while the probabilities come up
   */
  show({ run, chance, drawn, time }, label, grown) {
    const query = chance?.query ?? run.asked;
    const { title, from, gives } = goalOf(run.spec);
    const of = gives ? [] : [`${from} `, quoted(run.spec.labels[query])];
    this.title.replaceChildren(`${title} `, html("small", null, ...of));
    this.node.style.setProperty("--grown", String(grown));
    if (!chance) return;
    const isDrawn = drawn !== null && query === run.asked && time.at >= time.DRAW + NEEDLE;
    const place = isDrawn ? Math.min(drawn.place, N_NEXT) : -1;
    const leading = Array.from({ length: Math.min(N_NEXT, chance.ids.length) }, (_, i) => ({
      ...barsAt(chance, i),
      label: label(i),
      canPick: this.#canChoose,
    }));
    const rows = [...leading, othersOf(chance, leading)].map((row, i) => ({
      ...row,
      number: row.isCut ? "removed" : share(row.after),
      title: `model: ${share(row.before)}${row.canPick ? "; click: the text goes on with it" : ""}`,
      isDrawn: i === place,
    }));
    this.bars.show(rows, title);
    this.left.textContent = leftInWords(chance);
  }
}

/**
 * The tokens that stand in no row, and how many of them were kept where others were removed.
 *
 * @param {NonNullable<Scene["chance"]>} chance
 * @param {{before: number, after: number}[]} leading
 */
function othersOf({ count, ids }, leading) {
  const [others, kept] = [ids.length, count].map((n) => Math.max(0, n - N_NEXT));
  /** @param {"before" | "after"} name */
  const rest = (name) => Math.max(0, 1 - leading.reduce((sum, row) => sum + row[name], 0));
  const [all, some] = [others, kept].map((n) => n.toLocaleString("en"));
  const label = `${kept && kept < others ? `${some} of ` : ""}${all} others`;
  return {
    label,
    before: rest("before"),
    after: kept && rest("after"),
    isCut: !kept,
    canPick: false,
  };
}
