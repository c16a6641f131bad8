// What the views share: a pattern as the options ask for it, its scale, and its words.

import { digits } from "../dom.js";
import { mapped, matrix, mergedMask, mergedWords, reach, strongestPairs } from "../maths.js";

export const WEIGHT_PAIRS = 3;
const EARLY_ROWS = 8;

/**
 * Labels and matrix of a pattern as the options ask: words merged, the first token's column left
 * blank and counted as zero. `hidden` are the masked cells.
 */
export function shownPattern(scope, pattern, mask, data = scope.data) {
  const { words, hide_first } = scope.settings;
  let shown = {
    values: pattern,
    allowed: mask,
    rowLabels: data.rowAxis,
    columnLabels: data.columnAxis,
    rows: data.queryLabels,
    columns: data.keyLabels,
  };
  if (words) {
    shown = {
      values: mergedWords(pattern, data.words, data.words),
      allowed: mergedMask(mask, pattern.columns, data.words, data.words),
      rowLabels: data.wordAxis,
      columnLabels: data.wordAxis,
      rows: data.wordLabels,
      columns: data.wordLabels,
    };
  }
  const { columns } = shown.values;
  const hidden = Uint8Array.from(shown.values.values, (_, i) => (shown.allowed[i] ? 0 : 1));
  const isLeftOut = (i) => hide_first && i % columns === 0;
  const values = mapped(shown.values, (value, i) => (isLeftOut(i) && !hidden[i] ? 0 : value));
  const blank = Uint8Array.from(hidden, (_, i) => (isLeftOut(i) ? 1 : 0));
  return { ...shown, values, hidden, blank, rowTitle: "query", columnTitle: "key" };
}

/**
 * From 0 to the largest weight shown, or to 1 when one comes near it. The first rows do not count:
 * with few keys to choose from they always have large weights, and would leave the rest dark.
 */
export function weightScale(shown, name = "weight") {
  return weightScaleTo(weightReach(shown), name);
}

/** One scale for patterns that stand beside each other. */
export function sharedWeightScale(patterns) {
  return weightScaleTo(Math.max(...patterns.map(weightReach)), "weight");
}

function weightReach({ values, hidden }) {
  let high = 0;
  const first = Math.min(EARLY_ROWS, Math.floor(values.rows / 2));
  for (let i = first * values.columns; i < values.values.length; i++) {
    if (!hidden[i]) high = Math.max(high, values.values[i]);
  }
  return high;
}

function weightScaleTo(high, name) {
  if (high > 0.5 || !high) return { name, low: 0, high: 1 };
  const end = Math.ceil(high * 20) / 20; // a number to read on the bar
  return { name: `${name}: colours end at ${digits(end, 2)}`, low: 0, high: end };
}

export function signedScale(name, values) {
  const most = reach(values);
  return { name, low: -most, high: most, signed: true };
}

export function pairsInWords(shown, n = WEIGHT_PAIRS) {
  const visible = matrix(
    shown.values.rows,
    shown.values.columns,
    shown.values.values.map((x, i) => (shown.hidden[i] ? 0 : x)),
  );
  const pairs = strongestPairs(visible, n);
  if (!pairs.length) return "No pair has any weight.";
  return `Strongest pairs: ${pairs.map(({ query, key, weight }) => `${shown.rows[query]} reads ${shown.columns[key]} ${digits(weight, 3)}`).join("; ")}.`;
}

export function focusable(host, label) {
  host.tabIndex = 0;
  host.setAttribute("role", "application");
  host.setAttribute("aria-roledescription", "heat map");
  host.setAttribute("aria-label", label);
}

/** A label no longer than a column. */
export function clipped(label) {
  return Array.from(label).length > 18 ? `${Array.from(label).slice(0, 17).join("")}…` : label;
}

/** A shown pattern as a table to save. */
export function patternTable({ values, rows, columns }, name) {
  return { name, values, rows, columns, corner: "query \\ key" };
}

/** Maps with their titles, for export. */
export function drawnMaps(maps) {
  return Promise.all(
    maps.map(async ({ title, heatMap }) => ({
      caption: title.textContent,
      drawing: await heatMap.svgText(),
    })),
  );
}
