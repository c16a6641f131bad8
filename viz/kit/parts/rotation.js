// The rotor: pairs of dimensions as hands that turn with the position, and the score of two of them.

import { floatsOf } from "../arrays.js";
import { digits, html, inputOf, slider } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { DistanceChart } from "./rotation/chart.js";
import { Hands, degrees, signed } from "./rotation/hands.js";
import * as rotation from "./rotation/rotation.js";

/** @import { Place } from "../instrument.js" */
/** @import { RotorData } from "./rotation/wire.js" */

const SHOWN = 16; // pairs drawn; the score takes all
/**
 * What the two kinds of pairs are called.
 *
 * @type {Record<RotorData["kind"],
 *   {score: string, distance: string, dims: (i: number, n: number) => string, says: string}>}
 */
const KINDS = {
  rope: {
    score: "score q·k / √d",
    distance: "distance: query − key",
    dims: (i, n) => `dims ${i}, ${i + n}`,
    says: "Each pair of dimensions of the query and of the key turns with its own token’s position. The angle between the hands, and so the pair’s share of the score, changes only with the distance.",
  },
  wave: {
    score: "dot product",
    distance: "distance: first − second",
    dims: (i) => `dims ${2 * i}, ${2 * i + 1}`,
    says: "Cosine and sine of one frequency are where the tip of a hand stands, across and up; it turns with the position. The dot product of two positions adds up the cosines of the angles between the hands.",
  },
};
const SLIDERS = /** @type {const} */ (["first", "second", "both"]);
/** @typedef {"score" | "before" | "drift" | "distance" | "angle" | "share"} Fact */

/** @extends {Instrument<RotorData>} */
export class Rotor extends Instrument {
  /** @type {rotation.Sides} */
  #sides;
  #kind = KINDS.rope;
  /** The pair whose numbers are shown. */
  #picked = -1;
  /** @type {Hands[]} */
  #hands = [];
  /** The longest hand and the largest share there can be: what drawings are scaled by. */
  #scales = { longest: 1, topShare: 1 };
  /** The score by distance. */
  #scores = new Float64Array();
  /** Where both were before they were moved together. @type {{m: number, n: number, score: number} | null} */
  #before = null;
  /** @type {{input: HTMLInputElement, output: Element}[]} */
  #controls = [];
  #scoreTerm = html("dt");
  /** @type {Map<Fact, HTMLElement>} */
  #numbers = new Map();

  /** @param {Place} place */
  constructor(place) {
    super(place);
    const { root } = this;
    this.sliders = html("div", { class: "hl-turns" });
    this.says = html("p", { class: "hl-caption" });
    this.circles = html("div", { class: "hl-hands", role: "group", "aria-label": "Pairs" });
    this.spread = html("p", { class: "hl-caption" });
    this.facts = html("dl", { class: "hl-numbers" });
    this.dims = html("span", { "data-picked": "" });
    this.actual = html("p", { class: "hl-caption", "data-actual": "" });
    this.chart = new DistanceChart();
    const pairs = html("section", { class: "hl-main", "aria-label": "Pairs of dimensions" });
    pairs.append(this.says, this.circles, this.spread);
    const score = html("section", { class: "hl-main", "aria-label": "Score" });
    score.append(this.facts, this.chart.node, this.chart.legend, this.actual);
    this.#buildFacts();
    root.replaceChildren(this.sliders, html("div", { class: "hl-rotor" }, pairs, score));
    this.lifetime.watchSize(this.chart.node, () => {
      if (this.data) this.#drawChart();
    });
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    const [first, second] = this.palette.series;
    this.root.style.setProperty("--hl-first", first);
    this.root.style.setProperty("--hl-second", second);
    if (isNew) this.#open();
    this.redraw();
    this.root.dataset.drawn = `${this.data.key} rotor`;
  }

  /** New hands: everything that stays while they turn. */
  #open() {
    const { first, second, frequencies, divisor, last_position, kind } = this.data;
    this.#sides = { first: floatsOf(first), second: floatsOf(second), frequencies, divisor };
    this.#kind = KINDS[kind];
    this.#before = null;
    this.#scores = rotation.scoresByDistance(this.#sides, last_position);
    const shown = rotation.spread(frequencies.length, SHOWN);
    this.#measure(shown);
    this.says.textContent = `${this.#kind.says} λ: positions for a full turn; bar and number: the pair’s share.`;
    const n = frequencies.length;
    this.spread.textContent =
      n > shown.length
        ? `${shown.length} of ${n} pairs, evenly spread; the score takes all ${n}. `
        : "";
    this.#buildSliders();
    this.#hands = shown.map(
      (pair) =>
        new Hands(pair, this.#kind.dims(pair, n), frequencies[pair], () => this.#pick(pair)),
    );
    this.circles.replaceChildren(...this.#hands.map(({ node }) => node));
    this.#showPicked();
    this.dims.textContent = this.#kind.dims(this.#picked, n);
    this.#scoreTerm.textContent = this.#kind.score;
    this.#showActual();
    this.#drawChart();
  }

  /**
   * What drawings are scaled by, and the pair to begin with: the one whose share can be the largest.
   *
   * @param {number[]} shown
   */
  #measure(shown) {
    const [first, second] = [this.#sides.first, this.#sides.second].map(rotation.lengths);
    /** @param {number} i */
    const reach = (i) => (first[i] * second[i]) / this.#sides.divisor;
    const widest = shown.reduce((best, i) => (reach(i) > reach(best) ? i : best));
    if (!shown.includes(this.#picked)) this.#picked = widest;
    const longest = Math.max(...first, ...second) || 1;
    this.#scales = { longest, topShare: reach(widest) || 1 };
  }

  // --- sliders ------------------------------------------------------------------------------------

  /**
   * Both positions, as far as this model has them.
   *
   * @returns {[number, number]}
   */
  #positions() {
    const { first, second } = this.settings;
    /** @param {number} x */
    const within = (x) =>
      Math.min(Math.max(Math.round(Number(x)) || 0, 0), this.data.last_position);
    return [within(first), within(second)];
  }

  #buildSliders() {
    const { names, last_position } = this.data;
    const [m, n] = this.#positions();
    /** @param {number} value */
    const field = (value) => ({ bounds: { low: 0, high: last_position, step: 1 }, value });
    const labels = [
      slider(`Position of ${names.first}`, field(m), (first) => this.#move({ first })),
      slider(`Position of ${names.second}`, field(n), (second) => this.#move({ second })),
      slider("Move both", field(Math.min(m, n)), (low) => this.#moveBoth(low)),
    ];
    this.#controls = labels.map((label, i) => {
      const input = inputOf(label);
      label.dataset.side = input.dataset.setting = SLIDERS[i];
      return { input, output: /** @type {Element} */ (label.querySelector(".hl-value")) };
    });
    this.sliders.replaceChildren(...labels);
  }

  /**
   * One hand alone: another distance, so nothing to compare with.
   *
   * @param {Partial<RotorData["settings"]>} changes
   */
  #move(changes) {
    this.#before = null;
    this.set(changes);
  }

  /**
   * Both by the same way; what the score was before is kept until the distance changes.
   *
   * @param {number} low the smaller of the two positions
   */
  #moveBoth(low) {
    const [m, n] = this.#positions();
    this.#before ??= { m, n, score: rotation.scoreAt(this.#sides, m, n) };
    const by = low - Math.min(m, n);
    this.set({ first: m + by, second: n + by });
  }

  /**
   * @param {number} m
   * @param {number} n
   */
  #showSliders(m, n) {
    const { last_position } = this.data;
    const values = [m, n, Math.min(m, n)];
    const both = this.#controls[2].input;
    both.max = String(last_position - Math.abs(m - n));
    both.disabled = last_position === Math.abs(m - n);
    const words = [String(m), String(n), `${m} and ${n}`];
    this.#controls.forEach(({ input, output }, i) => {
      if (Number(input.value) !== values[i]) input.value = String(values[i]);
      input.setAttribute("aria-valuetext", words[i]);
      output.textContent = words[i];
    });
  }

  // --- what turns ---------------------------------------------------------------------------------

  /**
   * Everything that follows the sliders: called for every movement of one.
   *
   * @override
   */
  redraw() {
    const { first, second, frequencies } = this.#sides;
    const [m, n] = this.#positions();
    if (this.#before && this.#before.m - this.#before.n !== m - n) this.#before = null;
    const shares = rotation.sharesAt(this.#sides, m, n);
    const turned = [
      rotation.turnedAll(first, frequencies, m),
      rotation.turnedAll(second, frequencies, n),
    ];
    this.#showSliders(m, n);
    for (const hands of this.#hands) {
      const [a, b] = turned.map((side) => endOf(side, hands.pair));
      hands.show(a, b, shares[hands.pair], this.#scales);
    }
    this.#showFacts(m - n, shares);
    this.chart.moveTo(m - n);
  }

  /** @param {number} pair */
  #pick(pair) {
    this.#picked = pair;
    this.#showPicked();
    this.#drawChart();
    this.redraw();
  }

  #showPicked() {
    for (const { pair, node } of this.#hands)
      node.setAttribute("aria-pressed", String(pair === this.#picked));
  }

  // --- numbers ------------------------------------------------------------------------------------

  #buildFacts() {
    /** @param {...(Node | string)} words */
    const term = (...words) => html("dt", null, words);
    /** @type {[Fact, Element][]} */
    const facts = [
      ["score", this.#scoreTerm],
      ["before", term("before “Move both”")],
      ["drift", term("changed since by")],
      ["distance", term("distance")],
      ["angle", term(this.dims, ": rotation apart")],
      ["share", term("share of this pair")],
    ];
    for (const [name, words] of facts) {
      const number = html("dd", { "data-number": name });
      this.#numbers.set(name, number);
      this.facts.append(html("div", null, words, number));
    }
  }

  /**
   * @param {number} distance
   * @param {Float64Array} shares
   */
  #showFacts(distance, shares) {
    const i = this.#picked;
    const score = shares.reduce((sum, share) => sum + share, 0);
    const angle = rotation.withinHalfTurn(distance * this.data.frequencies[i]);
    const before = this.#before?.score ?? null;
    const drift = before === null ? null : score - before;
    this.dims.textContent = this.#kind.dims(i, shares.length);
    this.#showNumber("score", score, digits(score));
    this.#showNumber("distance", distance, String(distance).replace("-", "−"));
    this.#showNumber("angle", angle, degrees(angle));
    this.#showNumber("share", shares[i], signed(shares[i]));
    this.#showNumber("before", before, before === null ? "–" : digits(before));
    this.#showNumber("drift", drift, drift === null ? "–" : exponent(drift));
  }

  /**
   * @param {Fact} name
   * @param {number | null} value
   * @param {string} text
   */
  #showNumber(name, value, text) {
    const node = this.#numbers.get(name);
    if (!node) return;
    node.textContent = text;
    node.dataset.value = String(value ?? "");
  }

  /** What the model itself got, beside what is computed here. */
  #showActual() {
    const { actual } = this.data;
    this.actual.hidden = !actual;
    if (!actual) return;
    const here = rotation.scoreAt(this.#sides, actual.first, actual.second);
    const error = Math.abs(here - actual.score);
    /** @type {(name: string, text: string, value: number) => Element} */
    const number = (name, text, value) =>
      html("b", { "data-number": name, "data-value": value }, text);
    this.actual.replaceChildren(
      `The model’s own score at ${actual.first}, ${actual.second}: `,
      number("actual", digits(actual.score), actual.score),
      "; here ",
      number("here", digits(here), here),
      ", difference ",
      number("error", exponent(error), error),
      ".",
    );
  }

  #drawChart() {
    const { last_position: most, kind, frequencies } = this.data;
    const [m, n] = this.#positions();
    // Beside the sum of all waves a single one is flat.
    const hasShare = kind === "rope";
    const wave = hasShare ? rotation.scoresByDistance(this.#sides, most, this.#picked) : null;
    const { score, distance } = this.#kind;
    const dims = this.#kind.dims(this.#picked, frequencies.length);
    this.chart.draw({ most, scores: this.#scores, wave, score, distance, dims }, m - n);
  }
}

/**
 * Where a hand of one side ends.
 *
 * @param {Float64Array} side
 * @param {number} pair
 * @returns {rotation.Point}
 */
function endOf(side, pair) {
  return [side[2 * pair], side[2 * pair + 1]];
}

/** @param {number} value */
function exponent(value) {
  return (value ? value.toExponential(0) : "0").replaceAll("-", "−");
}

export default partOf("rotation", Rotor);
