// The sliders that say how a token is drawn, in the order in which the filters act.

import { html, inputOf, slider, wordsOf } from "./dom.js";

/** @import { Bounds, StepName } from "./wire.js" */

/** @type {Record<StepName, string>} */
export const NAMES = { temperature: "Temperature", top_k: "Top-k", top_p: "Top-p", min_p: "Min-p" };
/** Those that are always in sight. @type {StepName[]} */
export const SIMPLE = ["temperature", "top_p"];
const STEP_FACTORS = [1, 1.5, 2, 3, 4, 5, 7]; // of the powers of ten, for top-k

/**
 * Those that are shown, and the order of all.
 *
 * @typedef {{order: StepName[]} & Partial<Record<StepName, number | null>>} Chosen
 */

/**
 * What is there besides: the size of the vocabulary, and whether nothing can be moved.
 *
 * @typedef {{vocabulary?: number, isFixed?: boolean}} More
 */

/**
 * A slider's numbers: what is shown of a position, and what is set.
 *
 * @typedef {object} Field
 * @property {Bounds} bounds
 * @property {number} value
 * @property {(at: number) => string} show
 * @property {(at: number) => number | null} read
 */

export class Sliders {
  /** What the controls on screen show. */
  #built = "";
  /** @type {Chosen} */
  settings;

  /** @param {(changes: Partial<Chosen>) => void} change a person moved one */
  constructor(change) {
    this.change = change;
    this.list = html("ol", { class: "hl-order" });
  }

  /**
   * Show settings. Controls that show them already stay, and with them a drag.
   *
   * @param {Chosen} settings
   * @param {Record<string, Bounds>} bounds
   * @param {More} [more]
   */
  show(settings, bounds, more = {}) {
    const shown = JSON.stringify([settings, more]);
    if (shown === this.#built) return;
    this.#built = shown;
    this.settings = settings;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.setting;
    const rows = settings.order.map((name, place) => {
      const field = fieldOf(name, settings[name] ?? null, bounds, more.vocabulary ?? 0);
      return this.row(name, this.#slider(name, field, more), place, more);
    });
    this.list.replaceChildren(...rows);
    this.#focusOn(focused);
  }

  /**
   * @param {StepName} name
   * @param {Field} field
   * @param {More} more
   */
  #slider(name, { read, ...field }, more) {
    const label = slider(NAMES[name], field, (x) => {
      this.settings = { ...this.settings, [name]: read(x) };
      this.#built = JSON.stringify([this.settings, more]); // the slider shows it already
      this.change({ [name]: read(x) });
    });
    inputOf(label).dataset.setting = name;
    inputOf(label).disabled = more.isFixed ?? false;
    return label;
  }

  /**
   * @param {StepName} _name
   * @param {HTMLElement} label
   * @param {number} _place in the order
   * @param {More} _more
   */
  row(_name, label, _place, _more) {
    return html("li", null, label);
  }

  /** What each is set to, in the order in which they act; null where it is not in sight. */
  read() {
    return Array.from(this.list.querySelectorAll("input"), (input) => [
      input.ariaLabel,
      wordsOf(input),
    ]);
  }

  /**
   * Give the keyboard's focus back; a button that can go no further hands it to its opposite.
   *
   * @param {string | undefined} setting
   */
  #focusOn(setting) {
    /** @type {HTMLInputElement | HTMLButtonElement | null} */
    const node = this.list.querySelector(`[data-setting="${setting}"]`);
    if (!setting || !node) return;
    /** @type {HTMLButtonElement | null | undefined} */
    const opposite = node.closest("li")?.querySelector("button:not(:disabled)");
    (node.disabled ? opposite : node)?.focus();
  }
}

/**
 * @param {StepName} name
 * @param {number | null} value
 * @param {Record<string, Bounds>} bounds
 * @param {number} vocabulary
 * @returns {Field}
 */
function fieldOf(name, value, bounds, vocabulary) {
  if (name === "top_k") return topKField(vocabulary, value);
  /** @param {number} x */
  const show = (x) => (name === "min_p" && !x ? "off" : x.toFixed(2));
  return { bounds: bounds[name], value: value ?? 0, show, read: (x) => x };
}

/**
 * Top-k over a scale that grows: 1, 2, 3, … 50, … and all.
 *
 * @param {number} vocabulary
 * @param {number | null} top_k
 * @returns {Field}
 */
function topKField(vocabulary, top_k) {
  const steps = topKSteps(vocabulary, top_k);
  const last = steps.length - 1;
  const at = top_k ? steps.indexOf(top_k) : last;
  return {
    bounds: { low: 0, high: last, step: 1 },
    value: at < 0 ? last : at,
    show: (i) => (i === last ? "all" : steps[i].toLocaleString("en")),
    read: (i) => (i === last ? null : steps[i]),
  };
}

/**
 * 1, 2, 3, 5, 7, 10, 15, 20, … below the vocabulary's size, then all of it.
 *
 * @param {number} size
 * @param {number | null} chosen an address may name one between
 */
function topKSteps(size, chosen) {
  const steps = new Set(chosen ? [chosen] : []);
  for (let decade = 1; decade < size; decade *= 10) {
    for (const factor of STEP_FACTORS) steps.add(Math.floor(factor * decade));
  }
  return [...[...steps].filter((k) => k < size).sort((a, b) => a - b), size];
}
