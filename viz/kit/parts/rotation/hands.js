// One pair of dimensions: two hands on a circle, the arc between them, and the pair's share of the
// score.

import { digits, html, signed, svg } from "../../dom.js";
import { angleBetween, turned, wavelength } from "./rotation.js";

/** @import { Point } from "./rotation.js" */

const RADIUS = 40;
const ARC = 0.36; // of the radius
const BOX = 100; // side of a circle's drawing, its middle at 0
const SHARE = 36; // longest share's bar, to either side

export class Hands {
  /**
   * @param {number} pair
   * @param {string} dims the pair's dimensions in words
   * @param {number} frequency radians per position
   * @param {() => void} pick
   */
  constructor(pair, dims, frequency, pick) {
    this.pair = pair;
    this.dims = dims;
    this.wavelength = inPositions(frequency);
    this.arc = svg("path", { class: "hl-arc" });
    this.first = svg("line", { class: "hl-hand-first", x1: 0, y1: 0 });
    this.second = svg("line", { class: "hl-hand-second", x1: 0, y1: 0 });
    this.share = svg("rect", { class: "hl-share", y: RADIUS + 4, height: 5 });
    this.number = html("b", { "data-share": pair });
    const half = BOX / 2;
    const viewBox = `${-half} ${-half + 4} ${BOX} ${BOX}`;
    const zero = { class: "hl-zero", x1: 0, x2: 0, y1: RADIUS + 2, y2: RADIUS + 11 };
    const drawing = svg("svg", { viewBox, "aria-hidden": "true" });
    drawing.append(svg("circle", { r: RADIUS }), svg("line", zero));
    drawing.append(this.arc, this.second, this.first, this.share);
    const attributes = {
      type: "button",
      class: "hl-item hl-hand",
      "data-pair": pair,
      onclick: pick,
    };
    this.node = html("button", attributes, drawing);
    const words = [dims, `λ ${this.wavelength}`].map((text) => html("span", null, text));
    this.node.append(...words, this.number);
  }

  /**
   * Show where the hands are.
   *
   * @param {Point} first
   * @param {Point} second
   * @param {number} share of the score
   * @param {{longest: number, topShare: number}} scales the longest hand, the largest share
   */
  show(first, second, share, { longest, topShare }) {
    const scale = RADIUS / longest;
    for (const [line, [x, y]] of /** @type {const} */ ([
      [this.first, first],
      [this.second, second],
    ])) {
      line.setAttribute("x2", (x * scale).toFixed(2));
      line.setAttribute("y2", (-y * scale).toFixed(2));
    }
    this.arc.setAttribute("d", wedge(second, first));
    const length = (SHARE * share) / topShare;
    this.share.setAttribute("x", String(Math.min(0, length)));
    this.share.setAttribute("width", String(Math.abs(length)));
    this.number.textContent = signed(share, 3);
    const angle = degrees(angleBetween(second, first));
    this.node.setAttribute(
      "aria-label",
      `${this.dims}, a full turn in ${this.wavelength} positions: angle between the hands ${angle}, share ${signed(share, 3)}`,
    );
  }

  /** Its words, where both hands end, and its bar in shares of the longest there can be. */
  read() {
    const { node, first, second, share } = this;
    const [from, length] = [share.x, share.width].map((one) => one.baseVal.value / SHARE);
    const ends = { first: endOf(first), second: endOf(second), bar: from < 0 ? -length : length };
    return { says: node.ariaLabel, isPicked: node.ariaPressed === "true", ...ends };
  }
}

/**
 * Where a hand ends, in shares of the radius.
 *
 * @param {SVGLineElement} line
 */
function endOf({ x2, y2 }) {
  return [x2.baseVal.value / RADIUS, -y2.baseVal.value / RADIUS];
}

/**
 * The slice between two hands the shorter way round, from the one to the other.
 *
 * @param {Point} from
 * @param {Point} to
 */
function wedge(from, to) {
  const start = Math.atan2(from[1], from[0]);
  const angle = angleBetween(from, to);
  const r = RADIUS * ARC;
  /** @param {number} a */
  const at = (a) => {
    const [x, y] = turned([r, 0], a);
    return `${x.toFixed(2)} ${(-y).toFixed(2)}`;
  };
  return `M0 0L${at(start)}A${r} ${r} 0 0 ${angle > 0 ? 0 : 1} ${at(start + angle)}Z`;
}

/**
 * An angle as people write it.
 *
 * @param {number} radians
 */
export function degrees(radians) {
  return `${digits((radians * 180) / Math.PI, 1)}°`;
}

/**
 * A wavelength with as many digits as matter.
 *
 * @param {number} frequency
 */
function inPositions(frequency) {
  const length = wavelength(frequency);
  if (!Number.isFinite(length)) return "∞";
  return length < 100 ? length.toFixed(1) : Math.round(length).toLocaleString("en");
}
