// The stages of a head as heat maps, and in words.

import { digits } from "../../dom.js";
import { isUsualScale, rowOf } from "../../maths.js";
import { argmax, columnSums, rowEntropies } from "../../measures.js";
import { WEIGHTS, axesOf, hiddenInWords, signedScale } from "../../patterns.js";
import { short } from "./formulas.js";

/** @import { Picture, Sides } from "../../figure.js" */
/** @import { HeadArrays, StepName } from "../../maths.js" */
/** @import { Between, Shown, Table } from "../../patterns.js" */
/** @import { Head } from "../../run.js" */
/** @import { Step } from "../attention.js" */

const DIMENSION = "dimension of z";
const BARS = "Bars: right, row entropy; below, total attention received.";
const CITED = "Formula: Vaswani et al. 2017, eq. 1.";
/** @type {Record<string, string>} */
const MORE_CITED = {
  capped: "Soft cap: Gemma 2 (2024), §2.",
  sunk: "Sink: Xiao et al. 2024, §3.3.",
};

/** Pins a cell. @typedef {(row: number, column: number) => void} Pick */

/**
 * A stage as a heat map.
 *
 * @param {StepName} stage
 * @param {{loaded: Head, between: Between, weights: Shown, pick: Pick}} of
 * @returns {Picture}
 */
export function pictureOf(stage, { loaded, between, weights, pick }) {
  const { head, steps } = loaded;
  if (stage === "weights")
    return { ...weights, scale: WEIGHTS, sides: sidesOf(weights, head, pick) };
  const values = steps[stage] ?? steps.weights;
  const { rowTitle, columnTitle } = between;
  const labels = axesOf(between.queries, between.keys);
  if (stage === "output") {
    const dimensions = Array.from({ length: values.columns }, (_, i) => String(i));
    const columns = { columnLabels: dimensions, columnLooks: null, columnTitle: DIMENSION };
    const scale = signedScale("z", values.values);
    return { values, ...labels, rowTitle, ...columns, scale, hidden: null };
  }
  const isMasked = stage === "masked" || stage === "sunk";
  const hidden = isMasked ? Uint8Array.from(head.mask.values, (x) => (x ? 0 : 1)) : null;
  const scale = signedScale(stage === "product" ? "q·k" : "score", values.values);
  return { values, ...labels, rowTitle, columnTitle, scale, hidden };
}

/**
 * What there is to know of a stage below its map.
 *
 * @param {Picture} picture
 * @param {HeadArrays} head
 */
export function legendOf(picture, { stages }) {
  const bars = picture.sides ? `${BARS}${hiddenInWords(picture)}` : "";
  const cited = stages.map((name) => MORE_CITED[name]);
  return [bars, CITED, ...cited].filter(Boolean).join(" ");
}

/**
 * A stage as a table to save; dimensions are numbered alone.
 *
 * @param {Picture} picture
 * @param {Between} between
 * @returns {Table}
 */
export function tableOf({ values, rowTitle, columnTitle }, { queries, keys }) {
  const columns = columnTitle === DIMENSION ? null : keys.labels;
  return { values, rows: queries.labels, columns, corner: `${rowTitle} \\ ${columnTitle}` };
}

/**
 * Bars beside the weights: how widely each query's row spreads, what each key receives.
 *
 * @param {Shown} shown
 * @param {HeadArrays} head
 * @param {Pick} pick
 * @returns {Sides}
 */
function sidesOf({ values, rows, columns }, { sink }, pick) {
  const entropies = rowEntropies(values, sink !== undefined);
  const most = Math.log2(values.columns + (sink === undefined ? 0 : 1)) || 1;
  const received = columnSums(values);
  const top = Math.max(...received);
  /** @param {number} key */
  const strongestQuery = (key) => argmax(rows.map((_, i) => rowOf(values, i)[key]));
  return {
    rows: Array.from(entropies, (bits, i) => ({
      share: bits / most,
      tip: `${rows[i]}: row entropy ${digits(bits, 2)} bits; click for its largest weight`,
    })),
    columns: Array.from(received, (sum, j) => ({
      share: sum / top,
      tip: `${columns[j]}: total attention received ${digits(sum, 2)}; click for the query that attends to it most`,
    })),
    pickRow: (i) => pick(i, argmax(rowOf(values, i))),
    pickColumn: (j) => pick(strongestQuery(j), j),
  };
}

/**
 * How many rows of a head may attend to nothing, where there are some.
 *
 * @param {HeadArrays} head
 */
function emptyInWords({ mask }) {
  const rows = Array.from({ length: mask.rows }, (_, i) => rowOf(mask, i));
  const n = rows.filter((row) => !row.some(Boolean)).length;
  return n ? ` Of ${n} ${n === 1 ? "row" : "rows"} that may attend to nothing, zeros.` : "";
}

/**
 * A stage in words that hold for a head: one may scale in another way than by 1/√d_head, or not at
 * all, and a sink takes a share of each row.
 *
 * @param {Step} stage
 * @param {HeadArrays} head
 * @returns {Step}
 */
export function worded(stage, head) {
  if (stage.name === "masked" && head.mask.values.every(Boolean))
    return { ...stage, says: "Nothing is masked here." };
  if (stage.name === "weights") {
    const says =
      head.sink !== undefined
        ? "Each row becomes weights; the sink’s share is left out."
        : stage.says;
    return { ...stage, says: says + emptyInWords(head) };
  }
  if (stage.name !== "scaled" || isUsualScale(head)) return stage;
  const scale = short(head.scale);
  const says =
    scale === "1" ? "Not scaled: times 1." : `Multiplied by the model’s scale, ${scale}.`;
  return { ...stage, text: `× ${scale}`, says };
}
