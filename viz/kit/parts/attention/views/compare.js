// Two heads, or one head on two inputs, and the signed difference.

import { check, fillLists, html, numbered, wordsIn, select } from "../../../dom.js";
import { mapped } from "../../../maths.js";
import { mean } from "../../../measures.js";
import { hiddenInWords, pairsInWords, shownPattern, signedScale } from "../../../patterns.js";
import { Run } from "../../../run.js";
import { choice } from "../controls.js";
import { cutInWords, differenceOf } from "../differences.js";
import { MapsView } from "../maps.js";

/** @import { Between, Shown } from "../../../patterns.js" */
/** @import { Head } from "../../../run.js" */
/** @import { Attention } from "../../attention.js" */

/** What is compared with. @typedef {{loaded: Head, between: Between, name: string}} Other */

/** This head against another, or this input against another, and their signed difference. */
export class CompareView extends MapsView {
  /** Which of the other runs. */
  #run = 0;

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host, 3);
    const { against } = scope.data;
    this.against = choice("hl-against", "Compare with", against, (chosen) =>
      scope.set({ against: chosen }),
    );
    this.others = html("div", { class: "hl-row" });
    this.controls.append(this.against.radios, this.others);
    this.controls.after(this.against.reasons);
  }

  /**
   * @override
   * @param {() => boolean} isCurrent
   */
  async draw(isCurrent) {
    check(this.against.radios, this.#kind);
    this.#drawControls();
    const other = await this.#loadOther();
    if (!isCurrent()) return;
    this.says.replaceChildren("Choose a second prompt above.");
    await this.drawMaps(other ? this.#compared(other) : []);
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
      const [layer, head] = this.#other;
      const loaded = await scope.load(scope.run, layer, head);
      return { loaded, between: scope.between, name: scope.run.nameOf(group, layer, head) };
    }
    const { runs } = scope.data;
    const run = runs[Math.min(this.#run, runs.length - 1)];
    if (!run) return null;
    const other = new Run(scope.model, run);
    const loaded = await scope.load(other, settings.layer, settings.head);
    return { loaded, between: other.between(group), name: run.name ?? "" };
  }

  /**
   * This head, the other, and the difference.
   *
   * @param {Other} other
   */
  #compared({ loaded, between, name: otherName }) {
    const { loaded: own, headName: name, settings } = this.scope;
    const { head, steps } = loaded;
    const first = this.shown(own.steps.weights, own.head.mask.values);
    const second = shownPattern(steps.weights, head.mask.values, between, settings);
    const third = differenceOf(first, second);
    this.#summarise(first, second, third);
    const { values, blank } = third;
    const visible = Array.from(values.values).filter((_, i) => !blank[i]);
    const absolute = { ...third, values: mapped(values, Math.abs) };
    const difference = {
      name: `${name} − ${otherName}`,
      shown: third,
      scale: signedScale("difference of weights", visible),
      says: pairsInWords(absolute, "Largest absolute differences"),
    };
    return [{ name, shown: first }, { name: otherName, shown: second }, difference];
  }

  /**
   * @param {Shown} first
   * @param {Shown} second
   * @param {Shown} third
   */
  #summarise(first, second, third) {
    const { values: delta, hidden } = third;
    const open = Array.from(delta.values, Math.abs).filter((_, i) => !hidden[i]);
    const cut = cutInWords(first.values, second.values, delta);
    const labels = this.#kind === "head" ? "" : " Tokens are compared by position, not by word.";
    this.says.replaceChildren(
      "Mean absolute difference over cells not masked: ",
      numbered(mean(open), "mean"),
      `. Orange: more on the left; blue: more on the right.${cut}${labels}${hiddenInWords(third)}`,
    );
  }

  #drawControls() {
    if (this.#kind === "head") {
      const { name, n_layers, n_heads } = this.scope.group;
      const what = `${name} ${n_layers} × ${n_heads} heads`;
      fillLists(this.others, what, () => this.#headBoxes(), this.#other);
      return;
    }
    const { runs } = this.scope.data;
    const names = runs.map(({ name = "" }) => name);
    const at = names.length < 2 ? [] : [Math.min(this.#run, names.length - 1)];
    fillLists(this.others, `runs ${names.join()}`, () => this.#runBoxes(names), at);
  }

  /**
   * Which of several runs is looked at.
   *
   * @param {string[]} names
   */
  #runBoxes(names) {
    /** @type {[number, string][]} */
    const options = names.map((name, i) => [i, name]);
    /** @param {string} i */
    const pick = (i) => {
      this.#run = Number(i);
      this.scope.redraw();
    };
    return names.length < 2 ? [] : [select("Run", options, pick)];
  }

  /** The head to compare with: the chosen one, else the next of this layer, else of the next layer. */
  get #other() {
    const { layer, head, other } = this.scope.settings;
    const { n_layers, n_heads } = this.scope.group;
    if (other) return [Math.min(other[0], n_layers - 1), Math.min(other[1], n_heads - 1)];
    return n_heads > 1 ? [layer, (head + 1) % n_heads] : [(layer + 1) % n_layers, head];
  }

  #headBoxes() {
    const { scope } = this;
    const { n_layers, n_heads } = scope.group;
    /** @type {(what: string, n: number, side: 0 | 1) => HTMLElement} */
    const box = (what, n, side) => {
      /** @type {[number, string][]} */
      const options = Array.from({ length: n }, (_, i) => [i, `${what[0].toUpperCase()}${i}`]);
      return select(`Compare with: ${what}`, options, (value) => {
        const [layer, head] = this.#other;
        scope.set({ other: side ? [layer, Number(value)] : [Number(value), head] });
      });
    };
    return [box("layer", n_layers, 0), box("head", n_heads, 1)];
  }

  /** @override */
  read() {
    const [first, second] = this.others.querySelectorAll("label");
    return { ...super.read(), ...wordsIn({ against: this.against.radios, first, second }) };
  }

  /**
   * @override
   * @param {string[]} weights
   */
  weightsInWords([first, second]) {
    return `${first} against ${second}`;
  }
}
