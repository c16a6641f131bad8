// One new token in words: how it was drawn, and what was attended to.

import { digits, html, share } from "../../dom.js";
import { lookWhileWriting } from "../../looks.js";
import { argmax } from "../../measures.js";

/** @import { Token } from "../../marks/tokens.js" */
/** @import { Decoded } from "../../arrays.js" */
/** @import { Numbers } from "../../maths.js" */
/** @import { StepAbout, WritingData, WritingStep } from "./wire.js" */

/**
 * Steps with the weights that they are shown with, which come step after step: on all tokens before
 * it but the dropped ones.
 *
 * @param {StepAbout[]} steps
 * @param {Record<string, Decoded>} weights
 * @param {number} n tokens before the first of these steps
 * @returns {WritingStep[]}
 */
export function weighed(steps, { row, mean }, n) {
  let at = 0;
  return steps.map((step, i) => {
    const from = at;
    at += n + i - step.n_dropped;
    return { ...step, row: row.values.subarray(from, at), mean: mean.values.subarray(from, at) };
  });
}

/**
 * @param {WritingData} data
 * @param {number} at the new token, from 0
 * @param {{averaged: boolean, weights: Numbers}} attention what it is shown with
 * @returns {(Node | string)[]}
 */
export function stepInWords(data, at, { averaged, weights }) {
  const { steps, labels, n_prompt, head, marks } = data;
  const step = steps[at];
  const best = argmax(weights);
  const who = averaged ? "On average all heads attend" : `${head} attends`;
  const mark = marks.find((one) => one.at === at)?.text;
  const dropped = step.n_dropped ? "; struck out: dropped from the context" : "";
  return [
    `Token ${at + 1} of ${steps.length}: `,
    html("bdi", null, labels[n_prompt + at]),
    `, ${step.put ? "put here; it is drawn" : "drawn"} with probability ${share(step.prob)} (rank ${step.rank + 1}; ${share(step.before)} by the model). ${who} most to `,
    html("bdi", null, labels[step.n_dropped + best]),
    ` (${digits(weights[best], 3)}). Shade: attention from the previous position${dropped}.${mark ? ` ◆ ${mark}.` : ""}`,
  ];
}

/**
 * What there is to say while no new token is shown: of one of the prompt, what was predicted.
 *
 * @param {WritingData} data
 * @param {number | null} chosen
 */
export function beforeAnyStep({ given }, chosen) {
  const p = given[chosen ?? -1] ?? NaN;
  const words = "Press Start: the model continues your text, one token at a time.";
  return Number.isNaN(p) ? words : `Predicted with ${share(p)}.`;
}

/**
 * How a token of the text looks at a step.
 *
 * @param {WritingData} data
 * @param {number} i
 * @param {{at: number, n_dropped: number, weights: Numbers} | undefined} step
 * @param {(weight: number) => string} colorOf
 * @returns {Omit<Token, "label">}
 */
export function lookOf(data, i, step, colorOf) {
  return { ...shadeOf(data, i, step, colorOf), look: lookWhileWriting(data.looks, i) };
}

/** @type {typeof lookOf} */
function shadeOf({ n_prompt, given }, i, step, colorOf) {
  if (!step) {
    const p = given[i] ?? NaN; // none for the first, nor for new ones
    return Number.isNaN(p) ? {} : { title: `predicted with ${share(p)}` };
  }
  if (i < step.n_dropped) return { is: { dropped: true }, title: "dropped from the context" };
  if (i >= n_prompt + step.at) return {};
  const weight = step.weights[i - step.n_dropped] ?? 0;
  return { shade: colorOf(weight), title: `attended to with ${digits(weight)}` };
}
