// Two heads, or one head on two inputs, and the signed difference.

import { check, fillOnce, html, radios, select, numbered } from "../../../dom.js";
import { HeatMap } from "../../../marks/heatmap.js";
import { mapped } from "../../../maths.js";
import { mean } from "../../../measures.js";
import { cutInWords, differenceOf } from "../differences.js";
import {
  FIRST_HIDDEN,
  drawnMaps,
  pairsInWords,
  patternTable,
  pictured,
  WEIGHTS,
  shownPattern,
  signedScale,
  weightAt,
} from "../../../patterns.js";
import { asRadios, reasonsOf } from "../controls.js";
import { Run } from "../../../run.js";
import { View } from "../view.js";

/** @import { Between, Shown } from "../../../patterns.js" */
/** @import { Head, RunAbout } from "../../../run.js" */
/** @import { Attention } from "../../attention.js" */

const HEIGHT = 480;

/** What is compared with. @typedef {{loaded: Head, between: Between, name: string}} Other */

/** This head against another, or this input against another, and their signed difference. */
export class CompareView extends View {
  /** This head, the other, and the difference. @type {Shown[] | null} */
  #sides = null;
  /** Which of the other runs. */
  #run = 0;

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    const { against } = scope.data;
    this.against = radios(
      "hl-against",
      "Compare with",
      asRadios(against),
      scope.settings.against,
      (chosen) => scope.set({ against: chosen }),
    );
    this.controls = html("div", { class: "hl-row" });
    this.reasons = html("p", { class: "hl-caption", "data-why": "" }, reasonsOf(against));
    this.reasons.hidden = !this.reasons.textContent;
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.maps = [0, 1, 2].map(() => this.#makeMap());
    const sections = this.maps.map(({ title, host: map }, i) =>
      html("section", { class: i === 2 ? "hl-span" : null }, title, map),
    );
    const wide = html("div", { class: "hl-wide" });
    const row = html("div", { class: "hl-row" }, this.against, this.controls);
    wide.append(row, this.reasons, this.says, html("div", { class: "hl-side" }, sections));
    host.append(wide);
  }

  #makeMap() {
    const host = html("div", { class: "hl-map" });
    const heatMap = new HeatMap(host, this.lifetime, {
      point: (row, column) => this.#point(row, column),
      most: HEIGHT,
    });
    return { title: html("h3"), host, heatMap };
  }

  /**
   * @override
   * @param {() => boolean} isCurrent
   */
  async draw(isCurrent) {
    check(this.against, this.#kind);
    this.#drawControls();
    const other = await this.#loadOther();
    if (!isCurrent()) return;
    this.#sides = null;
    for (const { host, title } of this.maps) host.hidden = title.hidden = !other;
    this.says.replaceChildren("Type a second sentence, then press Enter.");
    if (other) await this.#drawMaps(other);
  }

  /** What this head is compared with: what is chosen, as far as it can be. */
  get #kind() {
    const offered = this.scope.data.against.filter(({ why }) => why === null);
    const { against } = this.scope.settings;
    return (offered.find(({ name }) => name === against) ?? offered[0])?.name ?? against;
  }

  /**
   * The head or run to compare with, or null when there is none yet.
   *
   * @returns {Promise<Other | null>}
   */
  async #loadOther() {
    const { scope } = this;
    const { settings, group } = scope;
    if (this.#kind === "head") {
      const [layer, head] = scope.other;
      const loaded = await scope.load(scope.run, layer, head);
      return { loaded, between: scope.between, name: scope.run.nameOf(group, layer, head) };
    }
    const run = this.#otherRun();
    if (!run) return null;
    const other = new Run(scope.model, run);
    const loaded = await scope.load(other, settings.layer, settings.head);
    return { loaded, between: other.between(group), name: run.name ?? "" };
  }

  /** @returns {RunAbout | undefined} */
  #otherRun() {
    const { runs } = this.scope.data;
    return runs[Math.min(this.#run, runs.length - 1)];
  }

  /** @param {Other} other */
  async #drawMaps(other) {
    const { loaded, palette, headName: name, settings } = this.scope;
    const first = this.shown(loaded.steps.weights, loaded.head.mask.values);
    const { head, steps } = other.loaded;
    const second = shownPattern(steps.weights, head.mask.values, other.between, settings);
    const third = differenceOf(first, second);
    this.#sides = [first, second, third];
    const titles = [name, other.name, `${name} − ${other.name}`];
    const delta = third.values;
    const visible = Array.from(delta.values).filter((_, i) => !third.blank[i]);
    const scales = [WEIGHTS, WEIGHTS, signedScale("difference of weights", visible)];
    const spoken = [
      pairsInWords(first),
      pairsInWords(second),
      pairsInWords({ ...third, values: mapped(delta, Math.abs) }, "Largest absolute differences"),
    ];
    this.#summarise(first, second, third);
    for (const [i, map] of this.maps.entries()) {
      map.title.textContent = titles[i];
      pictured(map.host, `${titles[i]}: ${spoken[i]}`);
      await map.heatMap.draw({ ...this.#sides[i], scale: scales[i] }, palette);
    }
  }

  /**
   * @param {Shown} first
   * @param {Shown} second
   * @param {Shown} third
   */
  #summarise(first, second, { values: delta, hidden, blank }) {
    const open = Array.from(delta.values, Math.abs).filter((_, i) => !hidden[i]);
    const cut = cutInWords(first.values, second.values, delta);
    const labels = this.#kind === "head" ? "" : " Tokens are compared by position, not by word.";
    const left = blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "";
    this.says.replaceChildren(
      "Mean absolute difference over cells not masked: ",
      numbered(mean(open), "mean"),
      `. Orange: more on the left; blue: more on the right.${cut}${labels}${left}`,
    );
  }

  #drawControls() {
    if (this.#kind === "head") {
      const { name, n_layers, n_heads } = this.scope.group;
      const what = `${name} ${n_layers} × ${n_heads} heads`;
      fillOnce(this.controls, what, () => this.#headBoxes());
      this.controls.querySelectorAll("select").forEach((list, i) => {
        list.value = String(this.scope.other[i]);
      });
      return;
    }
    const { runs } = this.scope.data;
    const names = runs.map(({ name = "" }) => name);
    fillOnce(this.controls, `runs ${names.join()}`, () => this.#runBoxes(names));
  }

  /**
   * Where another input is typed, and which of several runs is looked at.
   *
   * @param {string[]} names
   */
  #runBoxes(names) {
    const box = html("input", {
      type: "text",
      value: this.scope.settings.second,
      placeholder: "Type a second sentence",
      onchange: () => this.scope.set({ second: wellFormed(box.value) }),
    });
    const label = html("span", null, "Second sentence");
    const field = html("label", { class: "hl-field hl-grow" }, label, box);
    if (names.length < 2) return [field];
    /** @type {[number, string][]} */
    const options = names.map((name, i) => [i, name]);
    /** @param {string} i */
    const pick = (i) => {
      this.#run = Number(i);
      this.scope.redraw();
    };
    return [field, select("Run", options, this.#run, pick)];
  }

  #headBoxes() {
    const { scope } = this;
    const { n_layers, n_heads } = scope.group;
    /** @type {(n: number, letter: string) => [number, string][]} */
    const names = (n, letter) => Array.from({ length: n }, (_, i) => [i, `${letter}${i}`]);
    /** @type {(other: [number, number]) => void} */
    const pick = (other) => scope.set({ other });
    return [
      select("Compare with: layer", names(n_layers, "L"), scope.other[0], (layer) =>
        pick([Number(layer), scope.other[1]]),
      ),
      select("Compare with: head", names(n_heads, "H"), scope.other[1], (head) =>
        pick([scope.other[0], Number(head)]),
      ),
    ];
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  #point(row, column) {
    if (!this.#sides) return;
    for (const map of this.maps) map.heatMap.mark(row, column);
    const [first, second] = this.#sides;
    const said = [first, second].map((side) =>
      row < side.values.rows && column < side.values.columns ? weightAt(side, row, column) : "–",
    );
    const pair = `${first.rows[row] ?? row} attends to ${first.columns[column] ?? column}`;
    this.scope.say(`${pair}: ${said.join(" against ")}`, false);
  }

  /** @override */
  table() {
    return this.#sides ? patternTable(this.#sides[2]) : null;
  }

  /** @override */
  async drawings() {
    return this.#sides ? drawnMaps(this.maps) : [];
  }
}

/**
 * Text without half characters, which no address can hold.
 *
 * @param {string} text
 */
function wellFormed(text) {
  return text.toWellFormed?.() ?? text;
}
