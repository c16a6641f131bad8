// Every step of every head, from the cells, and how each number came about.

import { digits, math } from "../../dom.js";
import { mapped, matrix, rowOf, steps, weightedValues } from "../../maths.js";
import { numbersOf, read } from "./cells.js";

/** @import { Matrix, Numbers, Steps } from "../../maths.js" */
/** @import { ByHandSettings, Name } from "./cells.js" */

const STAGES = ["scaled", "masked", "weights"]; // that every head has here
const MOST_TERMS = 6;

/**
 * What is given, and what follows by its name: `scores.0`, of head 0, and so on, and `output` where
 * there is a W_O.
 *
 * @typedef {object} Worked
 * @property {Record<Name, Matrix>} given
 * @property {Record<string, Matrix>} found
 * @property {number} n_heads
 * @property {number} scale what products are multiplied with
 */

/** A cell that is spoken of. @typedef {{name: string, row: number, column: number}} Spot */

/**
 * @param {ByHandSettings} settings
 * @returns {Worked}
 */
export function workOut(settings) {
  const { heads: n_heads, scaled } = settings;
  const cells = read(settings.cells);
  const [q, k, v, out] = [cells.q, cells.k, cells.v, cells.out].map(numbersOf);
  const mask = maskOf(settings, q.rows);
  const scale = scaled ? 1 / Math.sqrt(q.columns / n_heads) : 1;
  /** @type {Record<string, Matrix>} */
  const found = {};
  for (let h = 0; h < n_heads; h++) {
    const [qh, kh, vh] = [q, k, v].map((m) => part(m, h, n_heads));
    const given = { q: qh, k: kh, v: vh, mask, stages: STAGES };
    const {
      product,
      scaled: scores,
      masked,
      weights,
      output,
    } = /** @type {Required<Steps>} */ (steps({ ...given, scale }));
    const all = { products: product, scores, masked, weights, z: output };
    for (const [step, m] of Object.entries(all)) found[`${step}.${h}`] = m;
  }
  if (out.rows) {
    const width = v.columns / n_heads;
    const z = filled(q.rows, v.columns, (i, j) =>
      at(found[`z.${Math.floor(j / width)}`], i, j % width),
    );
    found.output = weightedValues(z, out);
  }
  return { given: { q, k, v, out }, found, n_heads, scale };
}

/**
 * @param {number} rows
 * @param {number} columns
 * @param {(row: number, column: number) => number} value
 */
function filled(rows, columns, value) {
  return mapped(matrix(rows, columns), (_, i) => value(Math.floor(i / columns), i % columns));
}

/**
 * @param {ByHandSettings} settings
 * @param {number} n
 */
function maskOf({ masking, valid }, n) {
  return filled(n, n, (i, j) =>
    Number(masking === "causal" ? j <= i : masking !== "valid" || j < valid),
  );
}

/**
 * What a head has of a matrix: its share of the columns.
 *
 * @param {Matrix} m
 * @param {number} head
 * @param {number} n_heads
 */
function part(m, head, n_heads) {
  const width = m.columns / n_heads;
  return filled(m.rows, width, (i, j) => at(m, i, head * width + j));
}

/**
 * @param {Matrix} m
 * @param {number} row
 * @param {number} column
 */
function at(m, row, column) {
  return m.values[row * m.columns + column];
}

/**
 * The cells of what is given that a cell was computed from: of the products the query and the key, of
 * z the column of values, of the output that of W_O.
 *
 * @param {Worked} worked
 * @param {Spot} spot
 * @returns {[Name, row: number, column: number][]}
 */
export function operandsOf({ given, n_heads }, { name, row, column }) {
  const [step, head] = name.split(".");
  /** @type {(of: Name, j: number) => [Name, number, number][]} */
  const down = (of, j) => Array.from({ length: given[of].rows }, (_, i) => [of, i, j]);
  if (step === "output") return down("out", column);
  if (step === "z") return down("v", (Number(head) * given.v.columns) / n_heads + column);
  if (step !== "products") return [];
  const width = given.q.columns / n_heads;
  return Array.from({ length: width }, (_, d) => Number(head) * width + d).flatMap((d) => [
    ["q", row, d],
    ["k", column, d],
  ]);
}

/**
 * How a cell came about as MathML, without its result.
 *
 * @param {Worked} worked
 * @param {Spot} spot
 * @returns {Element[]}
 */
export function lineOf(worked, spot) {
  const { given, found, n_heads, scale } = worked;
  const { name, row, column } = spot;
  const [step, head] = name.split(".");
  const d = given.q.columns / n_heads;
  const operands = operandsOf(worked, spot).map(([of, i, j]) => at(given[of], i, j));
  /** @param {string} of */
  const number = (of) => bracketed(at(found[`${of}.${head}`], row, column));
  /** @param {string} of */
  const rowIn = (of) => rowOf(found[`${of}.${head}`], row);
  /** @type {Record<string, () => Element[]>} */
  const lines = {
    products: () => {
      const [q, k] = [0, 1].map((side) => operands.filter((_, i) => i % 2 === side));
      return [vector("q", row), sign("·"), vector("k", column), sign("="), ...sum(q, k)];
    },
    scores: () =>
      scale === 1 && d > 1
        ? [words("not divided: the dot product as it is")]
        : [math("mfrac", null, number("products"), math("msqrt", null, math("mn", null, d)))],
    masked: () =>
      rowIn("masked")[column] === -Infinity
        ? [words("may not attend: "), number("scores"), sign("+"), math("mn", null, "(−∞)")]
        : [words("may attend: "), number("scores"), sign("+"), math("mn", null, 0)],
    weights: () => softmaxLine(rowIn("masked"), column),
    z: () => sum(rowIn("weights"), operands),
    output: () => {
      const zs = Array.from({ length: n_heads }, (_, h) => Array.from(rowOf(found[`z.${h}`], row)));
      return sum(zs.flat(), operands);
    },
  };
  return lines[step]();
}

/**
 * @param {ArrayLike<number>} a
 * @param {number[]} b
 */
function sum(a, b) {
  const terms = Array.from(a, (x, i) => [bracketed(x), sign("×"), bracketed(b[i])]);
  const rest = terms.length > MOST_TERMS ? [[math("mo", null, "…")]] : [];
  return added([...terms.slice(0, MOST_TERMS), ...rest]);
}

/**
 * @param {Numbers} row
 * @param {number} column
 */
function softmaxLine(row, column) {
  if (row.every((x) => x === -Infinity))
    return [words("every key is masked: nothing to share out")];
  /** @param {number} x */
  const power = (x) =>
    x === -Infinity ? math("mn", null, 0) : math("msup", null, letter("e"), bracketed(x));
  const below = math("mrow", null, added(Array.from(row, (x) => [power(x)])));
  return [math("mfrac", null, power(row[column]), below)];
}

/** @param {Element[][]} terms */
function added(terms) {
  return terms.flatMap((term, i) => (i ? [sign("+"), ...term] : term));
}

/** @param {number} value */
function bracketed(value) {
  const text = digits(value, 3);
  return math("mn", null, /^\d/.test(text) ? text : `(${text})`);
}

/**
 * @param {string} name
 * @param {number} row
 */
function vector(name, row) {
  return math("msub", null, letter(name), math("mn", null, row + 1));
}

/** @param {string} text */
function letter(text) {
  return math("mi", null, text);
}

/** @param {string} text */
function sign(text) {
  return math("mo", null, text);
}

/** @param {string} text */
function words(text) {
  return math("mtext", null, text);
}
