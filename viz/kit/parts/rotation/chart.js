// The score over the distance, with a dot where the two positions are.

import { digits, html, setAll, svg } from "../../dom.js";

const SIZE = { height: 230, left: 56, right: 12, top: 14, bottom: 40 };
const LEAST_WIDTH = 280;
const LEAST_SPAN = 64; // distances in sight to either side; they double while the dot goes further
const TICKS = [10, 20, 25, 50]; // steps of an axis, times a power of ten
const TICK_ROOM = 60; // pixels of a number on the axis

/**
 * What the chart shows: scores at the distances −most, …, most, and the words for them. Without a
 * wave, no share is drawn.
 *
 * @typedef {object} Curves
 * @property {number} most
 * @property {Float64Array} scores
 * @property {Float64Array | null} wave what one pair adds
 * @property {string} score what it is called
 * @property {string} distance
 * @property {string} dims of the pair
 */

/** Where distances and scores are in pixels. @typedef {(value: number) => number} Place */

export class DistanceChart {
  /** @type {Curves | null} */
  #curves = null;
  #span = 0;
  /** @type {{x: Place, y: Place}} */
  #places = { x: Number, y: Number };

  constructor() {
    this.chart = svg("svg", { class: "hl-distances", role: "img" });
    this.node = html("div", null, this.chart);
    this.legend = html("p", { class: "hl-caption" });
    this.now = svg("line", { class: "hl-now-line" });
    this.dot = svg("circle", { class: "hl-now-dot", r: 5.5 });
  }

  /**
   * Draw the line and its axes, which no position changes, and the dot.
   *
   * @param {Curves} curves
   * @param {number} distance
   */
  draw(curves, distance) {
    this.#curves = curves;
    const { most } = curves;
    const span = spanOf(distance, most);
    this.#span = span;
    const width = Math.max(LEAST_WIDTH, this.node.clientWidth);
    const { height, left, right, top, bottom } = SIZE;
    /** @param {Float64Array} scores */
    const seen = (scores) => scores.subarray(most - span, most + span + 1);
    const curve = seen(curves.scores);
    const wave = curves.wave && seen(curves.wave);
    const [low, high] = [
      Math.min(0, ...curve, ...(wave ?? [])),
      Math.max(0, ...curve, ...(wave ?? [])),
    ];
    /** @type {Place} */
    const x = (at) => left + ((at + span) / (2 * span || 1)) * (width - left - right);
    /** @type {Place} */
    const y = (score) => top + ((high - score) / (high - low || 1)) * (height - top - bottom);
    this.#places = { x, y };
    setAll(this.now, { y1: top, y2: height - bottom });
    setAll(this.chart, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.chart.replaceChildren(
      ...axes({ x, y, width, low, high, span, title: curves.distance }),
      ...(wave ? [line(wave, "hl-wave", span, this.#places)] : []),
      line(curve, "hl-score-line", span, this.#places),
      this.now,
      this.dot,
    );
    this.#showLegend(curves);
    this.#place(distance);
  }

  /**
   * Move the dot; where it leaves what is in sight, draw all again.
   *
   * @param {number} distance
   */
  moveTo(distance) {
    if (!this.#curves) return;
    if (spanOf(distance, this.#curves.most) === this.#span) this.#place(distance);
    else this.draw(this.#curves, distance);
  }

  /** @param {number} distance */
  #place(distance) {
    if (!this.#curves) return;
    const { x, y } = this.#places;
    const { most, scores, score: name } = this.#curves;
    const score = scores[distance + most];
    setAll(this.dot, { cx: x(distance), cy: y(score) });
    setAll(this.now, { x1: x(distance), x2: x(distance) });
    this.chart.setAttribute(
      "aria-label",
      `${name} over the distance, from ${-this.#span} to ${this.#span}. Now at distance ${distance}: ${digits(score)}.`,
    );
  }

  /** @param {Curves} curves */
  #showLegend({ wave, score, dims }) {
    const thick = html("i", { class: "hl-key hl-key-score" });
    const thin = html("i", { class: "hl-key hl-key-wave" });
    const share = [thin, ` share of ${dims} (click a circle for another)`];
    this.legend.replaceChildren(thick, ` ${score}  `, ...(wave ? share : []));
  }
}

/**
 * A line through scores at the distances −span, …, span.
 *
 * @param {Float64Array} scores
 * @param {string} name of its class
 * @param {number} span
 * @param {{x: Place, y: Place}} places
 */
function line(scores, name, span, { x, y }) {
  const points = Array.from(
    scores,
    (score, i) => `${x(i - span).toFixed(1)} ${y(score).toFixed(1)}`,
  );
  return svg("path", { class: name, d: `M${points.join("L")}` });
}

/**
 * How many distances are in sight to either side of 0.
 *
 * @param {number} distance
 * @param {number} most
 */
function spanOf(distance, most) {
  let span = LEAST_SPAN;
  while (span < 1.25 * Math.abs(distance)) span *= 2;
  return Math.min(span, most);
}

/**
 * Lines and numbers of the chart's axes.
 *
 * @param {{x: Place, y: Place, width: number, low: number, high: number, span: number,
 *   title: string}} frame
 */
function axes({ x, y, width, low, high, span, title }) {
  const { height, left, right, top, bottom } = SIZE;
  /** @type {(at: Record<string, number>, words: string, anchor?: string) => SVGElement} */
  const text = (at, words, anchor = "middle") =>
    svg("text", { ...at, "text-anchor": anchor }, words);
  /** @param {Record<string, number>} ends */
  const grid = (ends) => svg("line", { class: "hl-grid-line", ...ends });
  const across = ticks(-span, span, (width - left - right) / TICK_ROOM);
  const up = ticks(low, high, 4);
  return [
    ...up.map((score) => grid({ x1: left, x2: width - right, y1: y(score), y2: y(score) })),
    ...up.map((score) => text({ x: left - 6, y: y(score) + 4 }, plain(score), "end")),
    grid({ x1: x(0), x2: x(0), y1: top, y2: height - bottom }),
    ...across.map((at) => text({ x: x(at), y: height - bottom + 16 }, plain(at))),
    text({ x: (left + width - right) / 2, y: height - 5 }, title),
  ];
}

/**
 * Round numbers from low to high, about so many.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} n
 */
function ticks(low, high, n) {
  const rough = (high - low) / Math.max(n, 2) || 1;
  const power = 10 ** (Math.floor(Math.log10(rough)) - 1);
  const step = power * (TICKS.find((factor) => factor * power >= rough) ?? 100);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** @param {number} value */
function plain(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−");
}
