// The map of the new tokens as a picture: one row per new token, one column per token of the text.

import { lookWhileWriting } from "../../looks.js";
import { matrix } from "../../maths.js";
import { WEIGHTS } from "../../patterns.js";

/** @import { Picture } from "../../figure.js" */
/** @import { Numbers } from "../../maths.js" */
/** @import { WritingData, WritingStep } from "./wire.js" */

export const NO_MAP =
  "Nothing is written yet. Each new token gets a row: what it attended to when drawn.";

/**
 * @param {Pick<WritingData, "steps" | "axis" | "looks" | "n_prompt">} text
 * @param {(step: WritingStep) => Numbers} weightsOf those a step is shown with
 * @returns {Picture}
 */
export function pictureOf({ steps, axis, looks, n_prompt }, weightsOf) {
  const columns = n_prompt + steps.length - 1;
  const all = looks && axis.map((_, i) => lookWhileWriting(looks, i));
  const values = matrix(steps.length, columns);
  const hidden = new Uint8Array(values.values.length).fill(1);
  steps.forEach((step, i) =>
    weightsOf(step).forEach((weight, j) => {
      const place = i * columns + step.n_dropped + j;
      values.values[place] = weight;
      hidden[place] = 0;
    }),
  );
  return {
    values,
    hidden,
    rowLabels: axis.slice(n_prompt),
    columnLabels: axis.slice(0, columns),
    rowLooks: all?.slice(n_prompt),
    columnLooks: all?.slice(0, columns),
    rowTitle: "new token",
    columnTitle: "attends to",
    scale: WEIGHTS,
  };
}

/**
 * What is saved of the text; no map before a token is written.
 *
 * @param {import("../writing.js").Writing} writing
 * @returns {import("../../export.js").Saved}
 */
export function shownOf({ roles, text, says, distribution, map, heatMap, palette }) {
  /** @type {import("../../export.js").Saved["shows"]} */
  const shows = [
    [says.textContent, text.node],
    [distribution.title.textContent, distribution.bars.node],
  ];
  if (!roles.node.hidden) shows.unshift([null, roles.node]);
  if (!map.hidden) shows.push(["Attention of each new token", heatMap]);
  return { name: "next-token", title: "Next token", shows, palette };
}
