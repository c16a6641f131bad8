// The sliders of sampling, in the order in which the filters act: temperature and top-p in sight, the
// others, their order and what is left after each one click away.

import { same } from "../../conversation.js";
import { button, html, inputOf, slider } from "../../dom.js";

/** @import { Bounds, SamplerSettings, StepName } from "../../wire.js" */
/** @import { SliderBounds } from "./wire.js" */

/** @type {Record<StepName, string>} */
export const NAMES = { temperature: "Temperature", top_k: "Top-k", top_p: "Top-p", min_p: "Min-p" };
const STEP_FACTORS = [1, 1.5, 2, 3, 4, 5, 7]; // of the powers of ten, for top-k
const BY_ORDER =
  "Applied from top to bottom, from the next token on. Min-p removes tokens below that share of the " +
  "most likely one’s probability.";
const MORE = "Top-k, min-p, order";
const SIMPLE = ["temperature", "top_p"]; // always in sight
const GREEDY = "Greedy takes the most likely token: the sliders change nothing.";

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
  #isMoreSet = false; // whether something was set that is one click away

  /**
   * @param {(changes: Partial<SamplerSettings>) => void} change a person moved one
   * @param {() => void} toggle what is one click away was opened or closed
   */
  constructor(change, toggle) {
    this.change = change;
    this.list = html("ol", { class: "hl-order" });
    this.words = html("p", { class: "hl-caption" });
    this.more = html("details", { class: "hl-more-sampling", ontoggle: toggle });
    this.more.append(html("summary", null, MORE), html("p", { class: "hl-caption" }, BY_ORDER));
    const panel = { class: "hl-panel hl-sampling", "aria-label": "Sampling" };
    this.node = html("section", panel, this.list, this.words, this.more);
  }

  /**
   * Show settings. Controls that show them already stay, and with them a drag.
   *
   * @param {SamplerSettings} settings
   * @param {SliderBounds} bounds
   * @param {number} vocabulary its size
   * @param {boolean} isGreedy
   */
  show(settings, bounds, vocabulary, isGreedy) {
    const shown = JSON.stringify([settings, vocabulary, isGreedy]);
    if (shown === this.#built) return;
    this.#built = shown;
    this.settings = settings;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.setting;
    const fields = fieldsOf(settings, bounds, vocabulary);
    const rows = settings.order.map((name, place) =>
      this.#row(name, fields[name], place, { isGreedy, shownAs: [vocabulary, isGreedy] }),
    );
    this.list.replaceChildren(...rows);
    this.words.textContent = isGreedy ? GREEDY : "";
    this.#openMore(settings);
    this.#focusOn(focused);
  }

  /**
   * What an address has set shall be seen; a person may close it all the same.
   *
   * @param {SamplerSettings} settings
   */
  #openMore({ top_k, min_p, order }) {
    const isSet = Boolean(top_k || min_p) || !same(order, Object.keys(NAMES));
    if (isSet && !this.#isMoreSet) this.more.open = true;
    this.#isMoreSet = isSet;
  }

  /**
   * @param {StepName} name
   * @param {Field} field
   * @param {number} place in the order
   * @param {{isGreedy: boolean, shownAs: unknown[]}} state
   */
  #row(name, { read, ...field }, place, { isGreedy, shownAs }) {
    const settings = /** @type {SamplerSettings} */ (this.settings);
    const label = slider(NAMES[name], field, (x) => {
      this.settings = { .../** @type {SamplerSettings} */ (this.settings), [name]: read(x) };
      this.#built = JSON.stringify([this.settings, ...shownAs]); // the slider shows it already
      this.change({ [name]: read(x) });
    });
    inputOf(label).dataset.setting = name;
    inputOf(label).disabled = isGreedy;
    /** @type {(by: number, sign: string, words: string) => Element} */
    const move = (by, sign, words) =>
      button(sign, () => this.#move(place, by), {
        class: "hl-button hl-move hl-more-only",
        "data-setting": `${name}${by}`,
        "aria-label": `${NAMES[name]} ${words}`,
        disabled: isGreedy || place + by < 0 || place + by >= settings.order.length,
      });
    return html(
      "li",
      { class: SIMPLE.includes(name) ? null : "hl-more-only" },
      label,
      move(-1, "↑", "earlier"),
      move(1, "↓", "later"),
    );
  }

  /**
   * @param {number} place
   * @param {number} by
   */
  #move(place, by) {
    const order = [.../** @type {SamplerSettings} */ (this.settings).order];
    [order[place], order[place + by]] = [order[place + by], order[place]];
    this.change({ order });
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
 * @param {SamplerSettings} settings
 * @param {SliderBounds} bounds
 * @param {number} vocabulary
 * @returns {Record<StepName, Field>}
 */
function fieldsOf({ temperature, top_k, top_p, min_p }, bounds, vocabulary) {
  /** @param {number} x */
  const two = (x) => x.toFixed(2);
  /** @param {number} x */
  const read = (x) => x;
  return {
    temperature: { bounds: bounds.temperature, value: temperature, show: two, read },
    top_k: topKField(vocabulary, top_k),
    top_p: { bounds: bounds.top_p, value: top_p, show: two, read },
    min_p: { bounds: bounds.min_p, value: min_p, show: (x) => (x ? two(x) : "off"), read },
  };
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
export function topKSteps(size, chosen) {
  const steps = new Set(chosen ? [chosen] : []);
  for (let decade = 1; decade < size; decade *= 10) {
    for (const factor of STEP_FACTORS) steps.add(Math.floor(factor * decade));
  }
  return [...[...steps].filter((k) => k < size).sort((a, b) => a - b), size];
}
