// The rotation: pairs of dimensions as hands that turn with the position, and the score of two of them.

import { digits, html, inputOf, moveSlider, signed, slider, wordsIn } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { Plot } from "../marks/plot.js";
import { Hands, degrees } from "./rotation/hands.js";
import * as rotation from "./rotation/rotation.js";

/** @import { Place } from "../instrument.js" */
/** @import { InstrumentData } from "../wire.js" */

/**
 * What the rotation is told: of which kind pairs are, and the last position; `actual` is what the model
 * itself got.
 *
 * @typedef {object} RotationFields
 * @property {"rope" | "wave"} kind
 * @property {number} divisor
 * @property {number} last_position
 * @property {{first: string, second: string}} names
 * @property {{first: number, second: number, score: number} | null} actual
 * @property {{first: number, second: number}} settings two positions
 */

/** @typedef {InstrumentData & RotationFields} RotationData */

const SHOWN = 16; // pairs drawn; the score takes all
const LEAST_SPAN = 64; // distances in sight to either side; they double while the dot goes further
const HEIGHT = 290; // of the score over the distance
/** What the two kinds of pairs are called. */
const KINDS = {
  rope: {
    score: "score q·k / √d",
    distance: "distance: query − key",
    dims: (/** @type {number} */ i, /** @type {number} */ n) => `dims ${i}, ${i + n}`,
  },
  wave: {
    score: "dot product",
    distance: "distance: first − second",
    dims: (/** @type {number} */ i) => `dims ${2 * i}, ${2 * i + 1}`,
  },
};

/** @extends {Instrument<RotationData>} */
export class Rotation extends Instrument {
  /** @override */
  static needs = ["first", "second", "frequencies"];
  /** @type {rotation.Sides} */
  #sides;
  #kind = KINDS.rope;
  /** The pair whose numbers are shown. */
  #picked = -1;
  /** @type {Hands[]} */
  #hands = [];
  /** The longest hand and the largest share there can be: what drawings are scaled by. */
  #scales = { longest: 1, topShare: 1 };
  /** The score by distance, and the picked pair's share of it. */
  #curves = { score: new Float64Array(), share: new Float64Array() };
  /** Where both were before they were moved together. @type {{m: number, n: number, score: number} | null} */
  #before = null;

  /** @param {Place} place */
  constructor(place) {
    super(place);
    const { root } = this;
    this.sliders = html("div", { class: "hl-turns" });
    const says = "λ: positions for a full turn. Bar and number: the pair’s share of the score.";
    this.circles = html("div", { class: "hl-hands", role: "group", "aria-label": "Pairs" });
    this.spread = html("p", { class: "hl-caption" });
    this.facts = html("dl", { class: "hl-numbers" });
    this.actual = html("p", { class: "hl-caption", "data-actual": "" });
    this.chart = html("div", { class: "hl-distances", role: "figure" });
    this.plot = new Plot(this.chart, this.lifetime);
    const pairs = html("section", { class: "hl-main", "aria-label": "Pairs of dimensions" });
    pairs.append(html("p", { class: "hl-caption" }, says), this.circles, this.spread);
    const score = html("section", { class: "hl-main", "aria-label": "Score" });
    score.append(this.facts, this.chart, this.actual);
    root.replaceChildren(this.sliders, html("div", { class: "hl-rotation" }, pairs, score));
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
  }

  /** New hands: everything that stays while they turn. */
  #open() {
    const { divisor, last_position, kind } = this.data;
    const { first, second, frequencies } = this.arrays;
    const [turns, n] = [frequencies.values, frequencies.values.length];
    this.#sides = { first: first.values, second: second.values, frequencies: turns, divisor };
    this.#kind = KINDS[kind];
    this.#before = null;
    this.#curves.score = rotation.scoresByDistance(this.#sides, last_position);
    const shown = rotation.spread(n, SHOWN);
    const some = `${shown.length} of ${n} pairs, evenly spread; the score takes all ${n}. `;
    this.spread.textContent = n > shown.length ? some : "";
    this.#buildSliders();
    this.#hands = shown.map(
      (i) => new Hands(i, this.#kind.dims(i, n), turns[i], () => this.#pick(i)),
    );
    this.circles.replaceChildren(...this.#hands.map(({ node }) => node));
    this.#measure(shown);
    this.#showActual();
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
    const longest = Math.max(...first, ...second) || 1;
    this.#scales = { longest, topShare: reach(widest) || 1 };
    this.#mark(shown.includes(this.#picked) ? this.#picked : widest);
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
    const field = { bounds: { low: 0, high: last_position, step: 1 }, value: 0 };
    /** One alone: another distance, so nothing to compare with. @type {typeof this.set} */
    const move = (changes) => {
      this.#before = null;
      this.set(changes);
    };
    const sliders = {
      first: slider(`Position of ${names.first}`, field, (first) => move({ first })),
      second: slider(`Position of ${names.second}`, field, (second) => move({ second })),
      both: slider("Move both", field, (low) => this.#moveBoth(low)),
    };
    for (const [side, label] of Object.entries(sliders))
      label.dataset.side = inputOf(label).dataset.setting = side;
    this.sliders.replaceChildren(...Object.values(sliders));
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
    const [first, second, both] = this.sliders.children;
    const high = this.data.last_position - Math.abs(m - n);
    moveSlider(first, m);
    moveSlider(second, n);
    moveSlider(both, Math.min(m, n), { words: `${m} and ${n}`, high });
    inputOf(both).disabled = !high;
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
      const [a, b] = turned.map((side) => rotation.handOf(side, hands.pair));
      hands.show(a, b, shares[hands.pair], this.#scales);
    }
    this.#showFacts(m - n, shares);
    this.#drawChart(m - n);
  }

  /** @param {number} pair */
  #pick(pair) {
    this.#mark(pair);
    this.redraw();
  }

  /** @param {number} picked */
  #mark(picked) {
    this.#picked = picked;
    this.#curves.share = rotation.scoresByDistance(this.#sides, this.data.last_position, picked);
    for (const { pair, node } of this.#hands)
      node.setAttribute("aria-pressed", String(pair === picked));
  }

  get #dims() {
    return this.#kind.dims(this.#picked, this.#sides.frequencies.length);
  }

  // --- numbers ------------------------------------------------------------------------------------

  /**
   * @param {number} distance
   * @param {Float64Array} shares
   */
  #showFacts(distance, shares) {
    const [i, before] = [this.#picked, this.#before?.score];
    const score = shares.reduce((sum, share) => sum + share, 0);
    const angle = rotation.withinHalfTurn(distance * this.#sides.frequencies[i]);
    const drift = before === undefined ? before : score - before;
    /** @type {(number: number | undefined, show: (x: number) => string) => string} */
    const known = (number, show) => (number === undefined ? "–" : show(number));
    /** @type {[name: string, words: string, value: number | undefined, text: string][]} */
    const facts = [
      ["score", this.#kind.score, score, digits(score)],
      ["before", "before “Move both”", before, known(before, digits)],
      ["drift", "changed since by", drift, known(drift, exponent)],
      ["distance", "distance", distance, String(distance).replace("-", "−")],
      ["angle", `${this.#dims}: rotation apart`, angle, degrees(angle)],
      ["share", "share of this pair", shares[i], signed(shares[i], 3)],
    ];
    const nodes = facts.map(([name, words, value, text]) =>
      html("div", null, html("dt", null, words), numbered("dd", name, value, text)),
    );
    this.facts.replaceChildren(...nodes);
  }

  /** What the model itself got, beside what is computed here. */
  #showActual() {
    const { actual } = this.data;
    this.actual.hidden = !actual;
    if (!actual) return;
    const here = rotation.scoreAt(this.#sides, actual.first, actual.second);
    const error = Math.abs(here - actual.score);
    this.actual.replaceChildren(
      `The model’s own score at ${actual.first}, ${actual.second}: `,
      numbered("b", "actual", actual.score, digits(actual.score)),
      "; here ",
      numbered("b", "here", here, digits(here)),
      ", difference ",
      numbered("b", "error", error, exponent(error)),
      ".",
    );
  }

  /**
   * The score over the distance, with a dot where the two positions are.
   *
   * @param {number} distance
   */
  #drawChart(distance) {
    const { last_position: most, kind, key } = this.data;
    const { score: name, distance: title } = this.#kind;
    const { accent, muted, frame, line, text, font } = this.palette;
    let span = LEAST_SPAN;
    while (span < 1.25 * Math.abs(distance)) span *= 2;
    span = Math.min(span, most);
    const x = Array.from({ length: 2 * span + 1 }, (_, i) => i - span);
    /** @type {(y: Float64Array, of: string, look: object) => object} */
    const curve = (y, of, look) => {
      const seen = y.subarray(most - span, most + span + 1);
      return { name: of, x, y: seen, mode: "lines", line: look, hovertemplate: "%{x}: %{y:.4~g}" };
    };
    const share = `share of ${this.#dims} (click a circle for another)`;
    const score = this.#curves.score[most + distance];
    const marker = { size: 11, color: frame, line: { color: this.palette.background, width: 2 } };
    const now = { name: "now", mode: "markers", marker, hoverinfo: "skip", showlegend: false };
    const data = [
      // Beside the sum of all waves a single one is flat.
      ...(kind === "rope" ? [curve(this.#curves.share, share, { color: muted, width: 1 })] : []),
      curve(this.#curves.score, name, { color: accent, width: 2 }),
      { ...now, x: [distance], y: [score] },
    ];
    const stroke = { color: frame, width: 1, dash: "dot" };
    const at = { type: "line", x0: distance, x1: distance, yref: "paper", y0: 0, y1: 1 };
    const axis = { gridcolor: line, zerolinecolor: line };
    const layout = {
      font: { family: font, color: text, size: 12 },
      margin: { l: 48, r: 8, t: 8, b: 76 },
      ...{ paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" },
      legend: { orientation: "h", y: -0.24, x: 0, traceorder: "reversed" },
      xaxis: { ...axis, title: { text: title, standoff: 6 }, showgrid: false },
      yaxis: axis,
      shapes: [{ ...at, line: stroke }],
      uirevision: `${key} ${span}`,
    };
    this.chart.ariaLabel = `${name} over the distance, from ${-span} to ${span}. Now at distance ${distance}: ${digits(score)}.`;
    this.plot.draw({ data, layout, height: HEIGHT }, { filename: "headlight-rotation" });
  }

  /** What is on screen, by names; numbers as they are kept beside their words. */
  read() {
    const [first, second, both] = this.sliders.children;
    const { spread, facts, actual } = this;
    /** @type {NodeListOf<HTMLElement>} */
    const numbers = this.root.querySelectorAll("[data-value]");
    return {
      ...wordsIn({ first, second, both, spread, facts, actual }),
      numbers: Object.fromEntries(
        Array.from(numbers, ({ dataset }) => [dataset.number, Number(dataset.value)]),
      ),
      hands: this.#hands.map((hands) => hands.read()),
      chart: this.plot.read(),
    };
  }
}

/**
 * @param {"b" | "dd"} tag
 * @param {string} name
 * @param {number | undefined} value in full
 * @param {string} text
 */
function numbered(tag, name, value, text) {
  return html(tag, { "data-number": name, "data-value": value }, text);
}

/** @param {number} value */
function exponent(value) {
  return (value ? value.toExponential(0) : "0").replaceAll("-", "−");
}

export default partOf("rotation", Rotation);
