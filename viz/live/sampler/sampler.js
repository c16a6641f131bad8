// The sampler: the next token's distribution over the whole vocabulary, redrawn while a slider moves.

import { floatsOf } from "../core/arrays.js";
import { drawBars } from "../core/bars.js";
import { button, digits, html, inputOf, math, slider, svg } from "../core/dom.js";
import { Instrument } from "../core/instrument.js";
import { drawCurve, spacedRanks } from "./curve.js";
import { applied, entropy, powers, probabilities, sortedIds, sumOf } from "./sampling.js";

/** @import { Receiver } from "../core/wire.js" */
/** @import { Step } from "./sampling.js" */
/** @import { SamplerData, StepName } from "./wire.js" */

/** @type {Record<StepName, string>} */
const NAMES = { temperature: "Temperature", top_k: "Top-k", top_p: "Top-p", min_p: "Min-p" };
const OTHERS = "all others";
const STEP_FACTORS = [1, 1.5, 2, 3, 4, 5, 7]; // of the powers of ten, for top-k

/**
 * A slider's numbers: what is shown of a position, and what is set.
 *
 * @typedef {object} Field
 * @property {import("../core/wire.js").Bounds} bounds
 * @property {number} value
 * @property {(at: number) => string} show
 * @property {(at: number) => number | null} read
 */

/** @extends {Instrument<SamplerData>} */
export class Sampler extends Instrument {
  /** Logits, the largest first. */
  #sorted = new Float32Array();
  /** Their probabilities before any step. */
  #before = new Float64Array();
  #entropyBefore = 0;
  /** @type {number[]} */
  #ranks = [];

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver) {
    super(root, receiver);
    const panel = { class: "hl-panel" };
    const sampling = { class: "hl-panel hl-sampling", "aria-label": "Sampling" };
    this.controls = html("section", sampling);
    this.chart = svg("svg", { class: "hl-bars", role: "img" });
    this.curve = svg("svg", { class: "hl-curve", role: "img", width: "100%" });
    this.table = html("table", { class: "hl-table" });
    this.facts = html("dl", { class: "hl-numbers" });
    this.formula = html("div", { class: "hl-formula" });
    const left = { class: "hl-panel hl-operands", "aria-label": "What is left" };
    const read = html("section", left, this.table, this.facts, this.curve, this.formula);
    const bars = html("section", { ...panel, "aria-label": "Leading tokens" }, this.chart);
    root.replaceChildren(html("div", { class: "hl-sampler" }, this.controls, bars, read));
    this.lifetime.watchSize(bars, () => {
      if (this.data) this.redraw();
    });
  }

  /**
   * @override
   * @param {boolean} isNew
   * @param {boolean} hasMoved
   */
  update(isNew, hasMoved) {
    if (isNew) this.#sort();
    if (hasMoved || isNew) this.#buildControls();
    this.redraw();
  }

  #sort() {
    const logits = floatsOf(this.data.logits);
    this.#sorted = Float32Array.from(sortedIds(logits), (id) => logits[id]);
    this.#before = probabilities(this.#sorted, 1);
    this.#entropyBefore = entropy(this.#before);
    this.#ranks = spacedRanks(this.#sorted.length);
  }

  // --- controls -----------------------------------------------------------------------------------

  #buildControls() {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.setting;
    const fields = this.#fields();
    const rows = this.settings.order.map((name, place) => this.#row(name, fields[name], place));
    const words = "Applied from top to bottom. Reorder the filters to see the effect.";
    this.controls.replaceChildren(
      html("ol", { class: "hl-order" }, rows),
      html("p", { class: "hl-caption" }, words),
    );
    this.#focusOn(focused);
  }

  /** @returns {Record<StepName, Field>} */
  #fields() {
    const { bounds } = this.data;
    const { temperature, top_p, min_p } = this.settings;
    /** @param {number} x */
    const two = (x) => x.toFixed(2);
    /** @param {number} x */
    const read = (x) => x;
    return {
      temperature: { bounds: bounds.temperature, value: temperature, show: two, read },
      top_k: this.#topKField(),
      top_p: { bounds: bounds.top_p, value: top_p, show: two, read },
      min_p: { bounds: bounds.min_p, value: min_p, show: (x) => (x ? two(x) : "off"), read },
    };
  }

  /**
   * Give the keyboard's focus back; a button that can go no further hands it to its opposite.
   *
   * @param {string | undefined} setting
   */
  #focusOn(setting) {
    /** @type {HTMLInputElement | HTMLButtonElement | null} */
    const node = this.controls.querySelector(`[data-setting="${setting}"]`);
    if (!setting || !node) return;
    /** @type {HTMLButtonElement | null | undefined} */
    const opposite = node.closest("li")?.querySelector("button:not(:disabled)");
    (node.disabled ? opposite : node)?.focus();
  }

  /**
   * Top-k over a scale that grows: 1, 2, 3, … 50, … and all.
   *
   * @returns {Field}
   */
  #topKField() {
    const { top_k } = this.settings;
    const steps = topKSteps(this.#sorted.length, top_k);
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
   * @param {StepName} name
   * @param {Field} field
   * @param {number} place in the order
   */
  #row(name, { read, ...field }, place) {
    const label = slider(NAMES[name], field, (x) => this.set({ [name]: read(x) }));
    inputOf(label).dataset.setting = name;
    /** @type {(by: number, sign: string, words: string) => Element} */
    const move = (by, sign, words) =>
      button(sign, () => this.#move(place, by), {
        class: "hl-button hl-move",
        "data-setting": `${name}${by}`,
        "aria-label": `${NAMES[name]} ${words}`,
        disabled: place + by < 0 || place + by >= this.settings.order.length,
      });
    return html("li", null, label, move(-1, "↑", "earlier"), move(1, "↓", "later"));
  }

  /**
   * @param {number} place
   * @param {number} by
   */
  #move(place, by) {
    const order = [...this.settings.order];
    [order[place], order[place + by]] = [order[place + by], order[place]];
    this.set({ order });
    this.#buildControls();
  }

  // --- figures ------------------------------------------------------------------------------------

  /**
   * Everything below the sliders, from the logits: called for every movement of a slider.
   *
   * @override
   */
  redraw() {
    const { settings, data, palette } = this;
    const sorted = this.#sorted;
    const { steps, count } = applied(sorted, settings, data.slack);
    const tempered = probabilities(sorted, settings.temperature);
    const after = probabilities(sorted, settings.temperature, count);
    this.#showTable(steps);
    this.#showFacts(after);
    drawCurve(this.curve, tempered, this.#ranks, count, palette);
    this.#showFormula(after);
    this.#showBars(tempered, after);
    this.root.dataset.drawn = `${data.key} sampler`;
  }

  /** @param {Step[]} steps */
  #showTable(steps) {
    const rows = steps.map(({ name, count, mass }) =>
      html(
        "tr",
        { "data-step": name },
        html("th", { scope: "row" }, NAMES[name]),
        html("td", null, count.toLocaleString("en")),
        html("td", null, digits(mass)),
      ),
    );
    const head = ["After", "tokens left", "share of mass kept"].map((text) =>
      html("th", { scope: "col" }, text),
    );
    const thead = html("thead", null, html("tr", null, head));
    this.table.replaceChildren(thead, html("tbody", null, rows));
  }

  /** @param {Float64Array} after */
  #showFacts(after) {
    const [before, nats] = [this.#entropyBefore, entropy(after)];
    const facts = [
      ["entropy before, nats", digits(before, 3), "entropy-before"],
      ["entropy after, nats", digits(nats, 3), "entropy-after"],
      ["perplexity before", digits(Math.exp(before), 1), "perplexity-before"],
      ["perplexity after", digits(Math.exp(nats), 1), "perplexity-after"],
    ];
    this.facts.replaceChildren(
      ...facts.map(([name, value, key]) =>
        html("div", null, html("dt", null, name), html("dd", { "data-number": key }, value)),
      ),
    );
  }

  /**
   * @param {Float64Array} tempered
   * @param {Float64Array} after
   */
  #showBars(tempered, after) {
    const { labels } = this.data;
    const before = this.#before;
    const n = Math.min(labels.length, before.length);
    /** @param {Float64Array} probs */
    const rest = (probs) => Math.max(0, 1 - sumOf(probs, Math.min(n, probs.length)));
    const rows = Array.from({ length: n }, (_, i) => ({
      label: i ? labels[i] : `★ ${labels[i]}`,
      before: before[i],
      after: after[i] ?? 0,
      lost: i < after.length ? 0 : tempered[i],
    }));
    const others = {
      label: OTHERS,
      before: rest(before),
      after: after.length > n ? rest(after) : 0,
    };
    drawBars(this.chart, [...rows, others], {
      palette: this.palette,
      width: Math.max(280, this.chart.parentElement?.clientWidth ?? 0),
      legend:
        "grey: predicted probability; colour: sampled from; dashed: removed; ★ greedy’s choice",
    });
    const top = rows.slice(0, 3).map(({ before: was, after: is }, i) => {
      return `${labels[i]}: ${digits(was, 3)} from the model, ${digits(is, 3)} sampled from`;
    });
    this.chart.setAttribute("aria-label", `Leading next tokens. ${top.join("; ")}.`);
  }

  /**
   * The most likely token's probability with its numbers.
   *
   * @param {Float64Array} after
   */
  #showFormula(after) {
    const { temperature } = this.settings;
    const [logit] = this.#sorted;
    const { total } = powers(this.#sorted, temperature, after.length);
    const log = logit / temperature + Math.log(total);
    /** @param {string} text */
    const mn = (text) => math("mn", null, text);
    /** @param {string} text */
    const mo = (text) => math("mo", null, text);
    /** @param {Element[]} parts */
    const row = (parts) => math("mrow", null, parts);
    const exponent = [mn(`${digits(logit)} / ${digits(temperature, 2)}`), mo("−"), mn(digits(log))];
    const power = math("msup", null, math("mi", null, "e"), row(exponent));
    const parts = [math("mi", null, "p"), mo("="), power, mo("="), mn(digits(after[0]))];
    const token = html("bdi", null, this.data.labels[0]);
    this.formula.replaceChildren(
      html("p", { class: "hl-caption" }, "★ greedy’s choice, ", token, ":"),
      math("math", { display: "block" }, row(parts)),
    );
  }
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
