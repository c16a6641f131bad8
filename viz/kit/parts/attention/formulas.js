// Attention as one formula: its terms in general, and below each the number of a cell. Built once for
// a head; another cell only changes the numbers, another stage only which term is lit.

import { digits, equals, html, math, operand } from "../../dom.js";
import { isUsualScale, rowOf } from "../../maths.js";
import { logSumExp } from "../../measures.js";

/** @import { HeadArrays, StepName, Steps } from "../../maths.js" */

/**
 * What the formula is filled with: a cell of a head, and the dimension of z to spell out.
 *
 * @typedef {object} Cell
 * @property {HeadArrays} head
 * @property {Steps} steps
 * @property {number} query
 * @property {number} key
 * @property {number} dimension
 */

/**
 * A part of the formula and the step it belongs to; a head has the parts of its steps.
 *
 * @typedef {object} Term
 * @property {StepName} step
 * @property {(loaded: {head: HeadArrays, steps: Steps}) => Element[]} symbols
 * @property {(cell: Cell) => string} number
 * @property {StepName} [needs] another step without which it makes no sense
 */

/** @param {string} text */
const letter = (text) => math("mi", null, text);
/** @param {string} text */
const sign = (text) => math("mo", { stretchy: "false" }, text);
/** @type {(base: string, index: string) => Element} */
const sub = (base, index) => math("msub", null, letter(base), letter(index));
/** @type {(cell: Cell, step: StepName) => number} */
const valueOf = ({ head, steps, query, key }, step) =>
  steps[step]?.values[query * head.pattern.columns + key] ?? NaN;

/** The parts from left to right; what works on all before it has one on either side. @type {Term[]} */
export const TERMS = [
  {
    step: "weights",
    symbols: () => [math("mtext", null, "softmax"), sign("(")],
    number: () => "exp(",
    needs: "masked",
  },
  {
    step: "capped",
    symbols: () => [letter("c"), sign("·"), math("mtext", null, "tanh"), sign("((")],
    number: ({ head }) => `${short(head.softcap)} · tanh((`,
  },
  {
    step: "product",
    symbols: () => [sub("q", "i"), sign("·"), sub("k", "j")],
    number: (cell) => operand(valueOf(cell, "product")),
  },
  {
    step: "scaled",
    symbols: ({ head }) =>
      isUsualScale(head)
        ? [sign("/"), math("msqrt", null, math("mn", null, String(head.q.columns)))]
        : [sign("×"), math("mn", null, short(head.scale))],
    number: ({ head }) =>
      isUsualScale(head) ? `/ ${digits(Math.sqrt(head.q.columns))}` : `× ${short(head.scale)}`,
  },
  {
    step: "biased",
    symbols: () => [sign("+"), sub("B", "ij")],
    number: ({ head, query, key }) => added(head.bias?.values[query * head.k.rows + key] ?? 0),
  },
  {
    step: "capped",
    symbols: () => [sign(")"), sign("/"), letter("c"), sign(")")],
    number: ({ head }) => `) / ${short(head.softcap)})`,
  },
  {
    step: "masked",
    symbols: () => [sign("+"), sub("M", "ij")],
    number: ({ head, query, key }) => (head.mask.values[query * head.k.rows + key] ? "+ 0" : "− ∞"),
  },
  {
    step: "sunk",
    symbols: () => [sign(","), sub("s", "sink")],
    number: ({ head }) => `[s = ${short(head.sink)}]`,
  },
  {
    step: "weights",
    symbols: ({ steps }) => [...(steps.masked ? [sign(")"), sign("=")] : []), sub("α", "ij")],
    number: (cell) => {
      const before = cell.steps.masked ? `${normaliser(cell)}) ` : "";
      return before + equals(valueOf(cell, "weights"));
    },
  },
  {
    step: "output",
    symbols: () => [
      ...[sub("z", "id"), sign("="), math("munder", null, sign("∑"), letter("j"))],
      ...[sub("α", "ij"), sub("v", "jd")],
    ],
    number: shareOfOutput,
  },
];

/** Attention with the numbers of one cell. */
export class Formula {
  /** The number below each term. @type {[Term, Element][]} */
  #numbers = [];
  /** Every part of a term, symbols and number, with the step it belongs to. @type {Element[]} */
  #parts = [];
  /** @type {Element | undefined} */
  #math;

  constructor() {
    const look = { class: "hl-formula", tabindex: 0, role: "group" };
    this.node = html("div", { ...look, "aria-label": "The formula with this cell’s numbers" });
  }

  /**
   * Write the formula of a head.
   *
   * @param {{head: HeadArrays, steps: Steps}} loaded
   */
  open({ head, steps }) {
    const terms = TERMS.filter(({ step, needs = step }) => step in steps && needs in steps);
    /** @type {(term: Term, children: Element[]) => Element} */
    const part = ({ step }, children) => math("mtd", { "data-of": step }, children);
    const symbols = terms.map((term) => part(term, term.symbols({ head, steps })));
    this.#numbers = terms.map((term) => [term, math("mtext", { "data-value": term.step })]);
    const numbers = this.#numbers.map(([term, number]) => part(term, [number]));
    this.#parts = [...symbols, ...numbers];
    const table = math("mtable", null, math("mtr", null, symbols), math("mtr", null, numbers));
    this.#math = math("math", null, table);
    this.node.replaceChildren(this.#math);
  }

  /**
   * Fill in a cell's numbers and light a stage's term.
   *
   * @param {StepName} stage
   * @param {Cell} cell
   */
  show(stage, cell) {
    this.#math?.setAttribute("data-stage", stage);
    for (const [term, node] of this.#numbers) node.textContent = term.number(cell);
    for (const part of this.#parts)
      part.classList.toggle("hl-now", part.getAttribute("data-of") === stage);
  }

  /** Its symbols and the numbers below them, and the steps whose terms are lit. */
  read() {
    const lit = this.#parts.filter((part) => part.classList.contains("hl-now"));
    const [symbols, numbers] = Array.from(this.node.querySelectorAll("mtr"), ({ children }) =>
      Array.from(children, ({ textContent }) => textContent),
    );
    return { symbols, numbers, lit: [...new Set(lit.map((part) => part.getAttribute("data-of")))] };
  }
}

/**
 * The logarithm of what softmax divides by, taken off; nothing where a row may attend to nothing.
 *
 * @param {Cell} cell
 */
function normaliser({ head, steps, query }) {
  if (!steps.masked || !rowOf(head.mask, query).some(Boolean)) return "";
  const { sink = -Infinity } = head;
  return added(-logSumExp(Float64Array.from([...rowOf(steps.masked, query), sink])));
}

/**
 * What flows from the cell's key into a dimension of z, among all that does.
 *
 * @param {Cell} cell
 */
function shareOfOutput(cell) {
  const { head, steps, query, key, dimension } = cell;
  const value = rowOf(head.v, key)[dimension];
  const factor = value < 0 ? `(${operand(value)})` : operand(value);
  const z = operand(steps.output?.values[query * head.v.columns + dimension] ?? NaN);
  return `${z} = … + ${operand(valueOf(cell, "weights"))} · ${factor} + … (d = ${dimension})`;
}

/**
 * A number to be added, with its sign before it.
 *
 * @param {number} value
 */
function added(value) {
  return `${value < 0 ? "−" : "+"} ${operand(Math.abs(value))}`;
}

/**
 * A number in as few digits as tell it.
 *
 * @param {number} [number]
 */
export function short(number = NaN) {
  return String(Number(number.toPrecision(4)));
}
