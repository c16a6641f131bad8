// Cumulative mass by rank, on a scale that grows, with what is removed.

import { share, svg } from "../../dom.js";
import { sumOf } from "../../sampling.js";

/** @import { Palette } from "../../wire.js" */

const SIZE = { width: 420, height: 190, left: 40, right: 8, top: 10, bottom: 26 };
const POINTS = 240;
const TICKS = [1, 10, 100, 1000, 10_000, 100_000];

/**
 * Ranks from 1 to n, closer at the start, as a logarithmic axis wants them.
 *
 * @param {number} n
 */
export function spacedRanks(n) {
  const most = Math.log(n);
  const spaced = Array.from({ length: POINTS }, (_, i) =>
    Math.round(Math.exp((most * i) / (POINTS - 1))),
  );
  return [...new Set(spaced)];
}

/**
 * Draw the curve.
 *
 * @param {SVGSVGElement} node
 * @param {Float64Array} probs of all tokens at this temperature, the largest first
 * @param {number[]} ranks to draw a point at
 * @param {number} cut how many tokens are kept
 * @param {Palette} palette
 */
export function drawCurve(node, probs, ranks, cut, palette) {
  const { width, height, left, right, top, bottom } = SIZE;
  const most = Math.log(probs.length) || 1;
  /** @param {number} rank */
  const x = (rank) => left + (Math.log(rank) / most) * (width - left - right);
  /** @param {number} mass */
  const y = (mass) => top + (1 - mass) * (height - top - bottom);
  const path = `M${left} ${y(0)}L${massPoints(probs, ranks, x, y).join("L")}`;
  const shade = { x: left, y: top, width: Math.max(1, x(cut) - left), height: y(0) - top };
  const base = { x1: left, y1: y(0), x2: width - right, y2: y(0), stroke: palette.line };
  const end = { x1: x(cut), y1: top, x2: x(cut), y2: y(0), "stroke-width": 2 };
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  node.setAttribute(
    "aria-label",
    `Cumulative mass by rank at this temperature. Ranks after ${cut} are removed; up to it the mass is ${share(sumOf(probs, cut))}.`,
  );
  const ticks = TICKS.filter((rank) => rank <= probs.length);
  node.replaceChildren(
    ...[0, 0.5, 1].map((mass) => text(left - 6, y(mass) + 4, String(mass), "end", palette)),
    ...ticks.map((rank) => text(x(rank), height - 8, rank.toLocaleString("en"), "middle", palette)),
    svg("line", base),
    svg("rect", { ...shade, fill: palette.accent, opacity: 0.14 }),
    svg("path", { d: path, fill: "none", stroke: palette.text, "stroke-width": 1.6 }),
    svg("line", { ...end, stroke: palette.accent }),
    text(
      width - right - 4,
      y(0) - 8,
      "mass by rank at this temperature; shaded: kept",
      "end",
      palette,
    ),
  );
}

/**
 * The cumulative mass at each rank, as points of a path.
 *
 * @param {Float64Array} probs
 * @param {number[]} ranks
 * @param {(rank: number) => number} x
 * @param {(mass: number) => number} y
 */
function massPoints(probs, ranks, x, y) {
  let mass = 0;
  let from = 0;
  return ranks.map((rank) => {
    for (; from < rank; from++) mass += probs[from];
    return `${x(rank).toFixed(1)} ${y(mass).toFixed(1)}`;
  });
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} words
 * @param {string} anchor
 * @param {Palette} palette
 */
function text(x, y, words, anchor, palette) {
  const look = { "text-anchor": anchor, fill: palette.muted, "font-size": 12 };
  return svg("text", { x, y, ...look }, words);
}
