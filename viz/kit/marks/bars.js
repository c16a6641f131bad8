// Probabilities as pairs of bars: what the model says, and what is drawn from.
//
// Drawn here and not by Plotly: with a slider moving, every frame has 16 ms, and Plotly takes more.

import { digits, setAll, svg } from "../dom.js";

/** @import { Palette } from "../wire.js" */

const ROW = 22;
const NUMBER = 62; // least room for a number after the longest bar
const DIGIT = 6.8; // average pixels of a number's character
const LETTER = 7.4;
const MOST_LETTERS = 16;

/**
 * @typedef {object} Row
 * @property {string} label
 * @property {number} before the model's probability
 * @property {number} after the one drawn from
 * @property {number} [lost] what a removed token would have had
 * @property {boolean} [mark] whether it is the chosen one
 * @property {string} [number] written in place of `after`
 * @property {string | null} [address] where the number comes from
 */

/**
 * Fill an SVG with pairs of bars.
 *
 * @param {SVGSVGElement} node
 * @param {Row[]} rows
 * @param {{palette: Palette, width: number, legend: string}} look
 */
export function drawBars(node, rows, { palette, width, legend }) {
  const names = rows.map(({ label }) => clip(label));
  const left = 14 + LETTER * Math.min(MOST_LETTERS, Math.max(...names.map((name) => name.length)));
  const most = Math.max(...rows.map(({ before, after }) => Math.max(before, after)), 1e-9);
  const longest = Math.max(0, ...rows.map(({ number }) => number?.length ?? 0));
  const scale = Math.max(40, width - left - Math.max(NUMBER, 16 + DIGIT * longest)) / most;
  const place = { left, scale, palette };
  const nodes = rows.flatMap((row, i) => rowNodes(row, names[i], i * ROW, place));
  const height = rows.length * ROW + 26;
  const words = { x: 4, y: height - 8, fill: palette.muted };
  nodes.push(text(words, legend));
  setAll(node, { viewBox: `0 0 ${width} ${height}`, width, height });
  node.replaceChildren(...nodes);
}

/**
 * @param {Row} row
 * @param {string} name
 * @param {number} y
 * @param {{left: number, scale: number, palette: Palette}} place
 * @returns {SVGElement[]}
 */
function rowNodes({ before, after, lost = 0, mark, number }, name, y, { left, scale, palette }) {
  /** @type {(value: number, top: number, attributes: Record<string, string | number>) => SVGElement} */
  const bar = (value, top, attributes) => {
    const box = { x: left, y: y + top, height: 7, width: Math.max(0, value * scale) };
    return svg("rect", { ...box, ...attributes });
  };
  const end = { x: left + 6 + Math.max(before, after, lost) * scale, y: y + 15 };
  const label = { x: left - 6, y: y + 15, "text-anchor": "end", "font-size": 14 };
  const strong = mark
    ? { fill: palette.accent, "font-weight": 700 }
    : { fill: palette.text, "font-weight": 400 };
  const nodes = [
    text({ ...label, ...strong }, name),
    bar(before, 3, { fill: palette.muted }),
    bar(after, 11, { fill: palette.accent, "data-after": after }),
  ];
  const dashed = { fill: "none", stroke: palette.accent, "stroke-dasharray": "3 2" };
  if (lost) nodes.push(bar(lost, 11, dashed));
  const said = number ?? digits(after);
  return [...nodes, text({ ...end, fill: palette.muted }, said)];
}

/**
 * @param {Record<string, string | number | null>} attributes
 * @param {string} words
 */
function text(attributes, words) {
  return svg("text", { "text-anchor": "start", "font-size": 12, ...attributes }, words);
}

/** @param {string} label */
function clip(label) {
  const letters = label.match(/\P{M}\p{M}*/gu) ?? []; // marks stay with their letters
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : label;
}
