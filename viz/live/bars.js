// Probabilities as pairs of bars: what the model says, and what is drawn from.
//
// Drawn here and not by Plotly: with a slider moving, every frame has 16 ms, and Plotly takes more.

import { digits, svg } from "./dom.js";

const ROW = 22;
const NUMBER = 62; // least room for a number behind the longest bar
const DIGIT = 6.8; // average pixels of a number's character
const LETTER = 7.4;
const MOST_LETTERS = 16;

/**
 * Fill an SVG with rows {label, before, after, lost, mark, number}: `lost` is what a removed token
 * would have had, `mark` says it is the chosen one, `number` is written in place of `after`.
 */
export function drawBars(node, rows, { palette, width, legend }) {
  const names = rows.map(({ label }) => clip(label));
  const left = 14 + LETTER * Math.min(MOST_LETTERS, Math.max(...names.map((name) => name.length)));
  const most = Math.max(...rows.map(({ before, after }) => Math.max(before, after)), 1e-9);
  const longest = Math.max(0, ...rows.map(({ number }) => number?.length ?? 0));
  const scale = Math.max(40, width - left - Math.max(NUMBER, 16 + DIGIT * longest)) / most;
  const nodes = rows.flatMap((row, i) => rowOf(row, names[i], i * ROW, { left, scale, palette }));
  const height = rows.length * ROW + 26;
  nodes.push(text(4, height - 8, palette.muted, legend, "start", 12));
  const box = { viewBox: `0 0 ${width} ${height}`, width, height };
  for (const [name, value] of Object.entries(box)) node.setAttribute(name, value);
  node.replaceChildren(...nodes);
}

function rowOf({ before, after, lost = 0, mark, number }, name, y, { left, scale, palette }) {
  const bar = (value, top, attributes) =>
    svg("rect", {
      x: left,
      y: y + top,
      height: 7,
      width: Math.max(0, value * scale),
      ...attributes,
    });
  const end = left + 6 + Math.max(before, after, lost) * scale;
  return [
    text(left - 6, y + 15, mark ? palette.accent : palette.text, name, "end", 14, mark),
    bar(before, 3, { fill: palette.muted }),
    bar(after, 11, { fill: palette.accent, "data-after": after }),
    lost
      ? bar(lost, 11, { fill: "none", stroke: palette.accent, "stroke-dasharray": "3 2" })
      : null,
    text(end, y + 15, palette.muted, number ?? (after ? digits(after) : "removed"), "start", 12),
  ].filter(Boolean);
}

function text(x, y, fill, words, anchor, size, strong = false) {
  const weight = strong ? 700 : 400;
  const style = { fill, "text-anchor": anchor, "font-size": size, "font-weight": weight };
  return svg("text", { x, y, ...style }, words);
}

function clip(label) {
  const letters = Array.from(label);
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : label;
}
