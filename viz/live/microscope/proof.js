// The microscope's proof: the map's cells and the numbers of the cell in view, read back from the page,
// against an independent run of the head that the title names. Nothing here is used to draw.

import { independent } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { point, pointAway } from "../core/pointed.js";
import { errorOfLabels, errorOfNumber } from "../core/printed.js";

/** @import { Matrix, StepName } from "../core/maths.js" */
/** @import { NameAt } from "../core/names.js" */
/** @import { Microscope } from "./microscope.js" */

/** What a step is called in the independent run. @type {Record<StepName, string>} */
const ARRAYS = {
  product: "product",
  scaled: "scaled",
  biased: "scores",
  masked: "scores",
  weights: "pattern",
  output: "z",
};

/**
 * What is on screen: the title, the stage, the cells the map holds (NaN where nothing is drawn), and
 * the panel of the cell in view. `isFirstHidden`: whether the first key is left out.
 *
 * @typedef {object} OnScreen
 * @property {string} title
 * @property {StepName} stage
 * @property {ArrayLike<number>[]} cells
 * @property {NameAt[]} names what stands at the cells
 * @property {HTMLElement} panel
 * @property {boolean} isFirstHidden
 * @property {{rows: (string | null)[], columns: (string | null)[]}} texts what tokens stand for
 */

/**
 * Where the numbers of the chosen head come from; nowhere without an independent run.
 *
 * @param {Microscope} scope
 * @returns {(step: StepName, row: number, column: number) => string | null}
 */
export function addressesOf({ data, group, settings }) {
  const [site, { head }] = [group.sites[settings.layer], settings];
  if (!data.has_independent) return () => null;
  return (step, row, column) => `${site}.${ARRAYS[step]}[${head},${row},${column}]`;
}

/**
 * A person points at a cell of the head in view: who asks may hear where its number comes from.
 *
 * @param {Microscope} scope
 * @param {{step: StepName, row: number, column: number, drawn: number | undefined}} number
 */
export function pointAt(scope, { step, row, column, drawn }) {
  const address = addressesOf(scope)(step, row, column);
  if (!address) return pointAway();
  const { queries, keys } = scope.between;
  const place = step === "output" ? `dimension ${column}` : keys.labels[column];
  const of = `${queries.labels[row]} → ${place}`;
  point({ run: scope.data.key, address, drawn, of, host: scope.root });
}

/** @typedef {{error: number, n: number}} Found the largest error, and of how many values */

/**
 * Compare; an error that is NaN says that something is missing, or no number.
 *
 * @param {string} key of the run
 * @param {string[]} sites the addresses of attention, by layer
 * @param {OnScreen} screen
 * @returns {Promise<Found>}
 */
export async function errorOnScreen(key, sites, screen) {
  const named = /L(\d+) H(\d+)$/.exec(screen.title);
  if (!named) return { error: NaN, n: 0 };
  const [layer, head] = [Number(named[1]), Number(named[2])];
  /** @type {(name: string) => Promise<Matrix>} */
  const array = (name) => independent(key, `${sites[layer]}.${name}[${head}]`);
  const names = ["mask", ...new Set(Object.values(ARRAYS))];
  const found = await Promise.all(names.map(array));
  const arrays = Object.fromEntries(names.map((name, i) => [name, found[i]]));
  const ofCells = errorOfCells(arrays, screen);
  const ofNumbers = errorOfNumbers(arrays, screen.panel);
  const ofNames = errorOfNames(screen);
  const all = [ofCells, ofNumbers, ofNames];
  return {
    error: Math.max(...all.map(({ error }) => error)),
    n: all.reduce((sum, { n }) => sum + n, 0),
  };
}

/**
 * Labels of the rows and columns, and the two tokens that the panel names.
 *
 * @param {OnScreen} screen
 * @returns {Found}
 */
function errorOfNames({ stage, names, panel, texts }) {
  const ofTokens = names.filter(({ axis }) => axis === "row" || stage !== "output");
  const labels = ofTokens.map(({ label }) => label);
  const ofPanel = Array.from(
    panel.querySelectorAll("h3 bdi"),
    ({ textContent }) => textContent ?? "",
  );
  const all = [...labels, ...ofPanel];
  const [query, key] = placeOf(panel) ?? [];
  const expected = [
    ...ofTokens.map(({ axis, at }) => (axis === "row" ? texts.rows : texts.columns)[at]),
    ...(query === undefined ? [] : [texts.rows[query], texts.columns[key]]),
  ];
  return {
    error: errorOfLabels(
      all,
      expected.map((text) => text ?? null),
    ),
    n: all.length,
  };
}

/**
 * The query and the key that the panel names.
 *
 * @param {HTMLElement} panel
 */
function placeOf(panel) {
  const said = panel.querySelector("h3 small")?.textContent ?? "";
  const place = /query (\d+), key (\d+)/.exec(said);
  return place && [Number(place[1]), Number(place[2])];
}

/**
 * @param {Record<string, Matrix>} arrays
 * @param {OnScreen} screen
 * @returns {Found}
 */
function errorOfCells(arrays, { stage, cells, isFirstHidden }) {
  const expected = arrays[ARRAYS[stage]];
  const isMasked = stage === "masked" || stage === "weights";
  const isWhole = cells.length === expected.rows;
  let error = isWhole ? 0 : NaN;
  let n = 0;
  for (let i = 0; isWhole && i < expected.rows; i++) {
    rowOf(expected, i).forEach((value, j) => {
      const isHidden = isMasked && !arrays.mask.values[i * expected.columns + j];
      const isLeftOut = stage === "weights" && isFirstHidden && j === 0;
      const shown = cells[i][j];
      const ofHidden = Number.isNaN(shown) ? 0 : NaN;
      error = Math.max(error, isHidden || isLeftOut ? ofHidden : relative(shown, value));
      n += 1;
    });
  }
  return { error, n };
}

/**
 * @param {number} shown
 * @param {number} value
 */
function relative(shown, value) {
  return Math.abs(shown - value) / Math.max(1, Math.abs(value));
}

/**
 * The numbers of the cell that the panel names.
 *
 * @param {Record<string, Matrix>} arrays
 * @param {HTMLElement} panel
 * @returns {Found}
 */
function errorOfNumbers(arrays, panel) {
  const place = placeOf(panel);
  const dimension = /z\[(\d+)\]/.exec(panel.querySelector("[data-term=output]")?.textContent ?? "");
  const nodes = Array.from(panel.querySelectorAll("dd[data-number]"));
  if (!place || !dimension || !nodes.length) return { error: NaN, n: 0 };
  const [query, key] = place;
  const isOpen = arrays.mask.values[query * arrays.mask.columns + key];
  const errors = nodes.map((node) => {
    const name = /** @type {StepName} */ (node.getAttribute("data-number"));
    const row = rowOf(arrays[ARRAYS[name]], query);
    const value = name === "output" ? row[Number(dimension[1])] : row[key];
    const expected = name === "masked" && !isOpen ? -Infinity : value;
    const error = errorOfNumber(node.textContent ?? "", expected);
    return error / Math.max(1, Math.abs(value));
  });
  const mask = isOpen ? "mask: open" : "mask: hidden";
  const isSaid = panel.querySelector("[data-term=masked]")?.textContent === mask;
  return { error: isSaid ? Math.max(...errors) : NaN, n: errors.length + 1 };
}
