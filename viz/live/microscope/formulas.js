// The formula of each stage, in general and with the numbers of a cell, as MathML.

import { digits, math } from "../core/dom.js";
import { isUsualScale, rowOf, scaleOf } from "../core/maths.js";
import { logSumExp } from "../core/measures.js";

/** @import { HeadArrays, StepName, Steps } from "../core/maths.js" */

/**
 * What a formula is filled with: a cell, or a place (query, dimension) of z, of one head. `value`
 * gives the cell's number at a step.
 *
 * @typedef {object} CellNumbers
 * @property {HeadArrays} head
 * @property {Steps} steps
 * @property {number} query
 * @property {number} key
 * @property {number} at the cell's place in a map
 * @property {number} dimension
 * @property {string} size d_head
 * @property {(step: StepName) => string} value
 */

/** @param {string} text */
const number = (text) => math("mn", null, text);
/** @param {string} text */
const letter = (text) => math("mi", null, text);
/** @param {string} text */
const sign = (text) => math("mo", null, text);
/** @type {(base: string, index: string) => Element} */
const sub = (base, index) => math("msub", null, letter(base), letter(index));
/** @type {(base: string, index: string, n: number) => Element} */
const subOf = (base, index, n) =>
  math("msub", null, letter(base), math("mrow", null, letter(index), number(String(n))));
/** @param {string} size */
const rooted = (size) => math("msqrt", null, number(size));
/** @type {(above: Element[], below: Element[]) => Element} */
const over = (above, below) =>
  math("mfrac", null, math("mrow", null, above), math("mrow", null, below));
/** @param {Element[]} exponent */
const power = (exponent) => math("msup", null, letter("e"), math("mrow", null, exponent));

/** @type {Record<StepName, (numbers: CellNumbers) => Element[]>} */
export const STAGE_FORMULAS = {
  product: ({ value, size }) => {
    const from = math("mrow", null, letter("d"), sign("="), number("1"));
    const sum = math("munderover", null, sign("∑"), from, number(size));
    const factors = [sub("q", "id"), sub("k", "jd")];
    return [letter("q·k"), sign("="), sum, ...factors, sign("="), number(value("product"))];
  },
  scaled: ({ head, value, size }) => {
    const product = number(value("product"));
    const scaled = isUsualScale(head)
      ? [over([product], [rooted(size)])]
      : [product, sign("×"), number(scaleText(head))];
    return [...scaled, sign("="), number(value("scaled"))];
  },
  biased: ({ head, at, value }) => [
    number(value("scaled")),
    ...[sign("+"), sub("b", "ij"), sign("=")],
    ...[number(value("scaled")), sign("+")],
    number(head.bias ? digits(head.bias.values[at]) : "0"),
    ...[sign("="), number(value("biased"))],
  ],
  masked: ({ head, at, value }) => [
    ...[number(value("biased")), sign("+")],
    number(head.mask.values[at] ? "0" : "(−∞)"),
    ...[sign("="), number(value("masked"))],
  ],
  weights: ({ head, steps, query, at }) => [
    over([power([sub("s", "ij")])], [sign("∑"), power([sub("s", "ij′")])]),
    sign("="),
    ...softmaxOf(head, steps, query, at),
  ],
  output: ({ head, steps, query, key, dimension, value }) => [
    ...[subOf("z", "i", dimension), sign("="), sign("∑")],
    ...[sub("p", "ij"), subOf("v", "j", dimension), sign("=")],
    number(digits(rowOf(steps.output, query)[dimension])),
    math("mtext", null, "\u00a0, from this key\u00a0"),
    ...[number(value("weights")), sign("·")],
    number(digits(rowOf(head.v, key)[dimension])),
  ],
};

/**
 * MathML of one stage with the numbers of cell (query, key), or of (query, dimension) of z.
 *
 * @param {StepName} stage
 * @param {{head: HeadArrays, steps: Steps}} loaded
 * @param {number} query
 * @param {number} key
 * @param {number} dimension
 */
export function formulaOf(stage, { head, steps }, query, key, dimension) {
  const at = query * head.k.rows + key;
  /** @param {StepName} step */
  const value = (step) => digits(steps[step].values[at]);
  const size = String(head.q.columns);
  const numbers = { head, steps, query, key, at, dimension, size, value };
  const parts = STAGE_FORMULAS[stage](numbers);
  return math("math", { display: "block", "data-stage": stage }, math("mrow", null, parts));
}

/**
 * @param {HeadArrays} head
 * @param {Steps} steps
 * @param {number} query
 * @param {number} at
 */
function softmaxOf(head, steps, query, at) {
  if (!head.mask.values[at]) return [power([number("−∞")]), sign("="), number("0")];
  const total = logSumExp(rowOf(steps.masked, query));
  const score = number(digits(steps.masked.values[at]));
  const exponent = [score, sign(total < 0 ? "+" : "−"), number(digits(Math.abs(total)))];
  return [power(exponent), sign("="), number(digits(steps.weights.values[at]))];
}

/**
 * What scores are multiplied with, in as few digits as tell it.
 *
 * @param {HeadArrays} head
 */
export function scaleText(head) {
  return String(Number(scaleOf(head).toPrecision(4)));
}
