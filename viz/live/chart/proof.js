// A figure's proof: what Plotly drew, read back from Plotly, against arrays of an independent run.
// Nothing here is used to draw.

import { independent, independentTexts, independentWords } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { unescaped } from "../core/heatmap.js";
import { errorOfLabels, errorOfNumber } from "../core/printed.js";

/** @import { Matrix } from "../core/maths.js" */
/** @import { Chart } from "../core/plotly.js" */
/** @import { Reading } from "../core/screen.js" */
/** @import { OriginPlace } from "./wire.js" */

/** What is drawn, or what is written. @typedef {ArrayLike<number | string | null | undefined>} Values */

const TOKENS = /^tokens(?:\[(\d+):\])?$/; // along an axis, from which on
const WORDS = "words."; // of a property: what stands there are words of tokens
const BOLD = "bold"; // 1 where what is written is bold, else 0
const QUOTED = /“(.*)”/s; // a word in a line of what is said on hover
const AT_THE_END = /(?:[<>] )?[−-]?[\d.,]+$/; // of a label, or of a line of what is said on hover

/**
 * Compare what Plotly holds of a figure: traces as it completed them, and what it worked out to draw.
 *
 * @param {Chart} chart
 * @param {OriginPlace[]} origin
 * @param {number} allowed
 * @returns {Promise<Omit<Reading, "figure" | "token">>}
 */
export async function readBack(chart, origin, allowed) {
  const found = await Promise.all(
    origin.map(async (place) => ({ ...(await compared(chart, place)), address: place.address })),
  );
  const off = found.find(({ error }) => !(error <= allowed));
  const counted = new Map(origin.map(({ trace, property }, i) => [`${trace} ${property}`, i]));
  return {
    error: Math.max(...found.map(({ error }) => error)),
    n: Array.from(counted.values(), (i) => found[i].n).reduce((sum, n) => sum + n, 0),
    address: off ? off.address : "",
  };
}

/**
 * One place of a figure: the texts along an axis, or numbers.
 *
 * @param {Chart} chart
 * @param {OriginPlace} place
 */
async function compared(chart, place) {
  const { run, address, size } = place;
  if (place.property.startsWith(WORDS)) return errorOfWords(chart, place);
  if (place.property === BOLD) return errorOfBold(chart, place);
  const along = TOKENS.exec(address);
  if (!along) return errorOf(drawnRows(chart, place), await independent(run, address), size);
  const ticks = ticksOf(chart, place);
  const texts = await independentTexts(run);
  const labels = ticks.map(({ text }) => unescaped(text));
  const error = errorOfLabels(
    labels,
    ticks.map(({ x }) => known(texts[x + Number(along[1] ?? 0)])),
  );
  return { error: ticks.length ? error : NaN, n: ticks.length };
}

/**
 * The words of a trace or along an axis, against the texts of the ids at an address.
 *
 * @param {Chart} chart
 * @param {OriginPlace} place
 */
async function errorOfWords(chart, place) {
  const { trace, address } = place;
  const texts = (await independentWords(place.run, [address])).get(address) ?? [];
  const property = place.property.slice(WORDS.length);
  const isAlong = property.startsWith("ticks.");
  const ticks = isAlong ? ticksOf(chart, { ...place, property }) : [];
  const labels = isAlong ? ticks.map(({ text }) => text) : wordsOf(chart, trace, property);
  const expected = isAlong ? ticks.map(({ x }) => known(texts[x])) : texts;
  const error = errorOfLabels(labels.map(withoutMarks), expected);
  return { error: labels.length ? error : NaN, n: labels.length };
}

/**
 * What is written in bold, of all that a trace has as text; what may be either is not a number there.
 *
 * @param {Chart} chart
 * @param {OriginPlace} place
 */
async function errorOfBold(chart, { trace, run, address }) {
  const { values } = await independent(run, address);
  const texts = Array.from(chart._fullData[trace]?.text ?? []);
  const isRight = Array.from(
    values,
    (value, i) => Number.isNaN(value) || String(texts[i]).startsWith("<b>") === (value === 1),
  );
  const isWhole = texts.length === values.length;
  return { error: isWhole && isRight.every(Boolean) ? 0 : NaN, n: texts.length };
}

/**
 * The words that a trace has: in its text, along x or y, or quoted in a line of what it says on hover;
 * or quoted in the figure's title.
 *
 * @param {Chart} chart
 * @param {number} trace
 * @param {string} property
 * @returns {string[]}
 */
function wordsOf(chart, trace, property) {
  const of = chart._fullData[trace];
  const [kind, line] = property.split(".");
  if (kind === "title") return [quoted(/** @type {any} */ (chart)._fullLayout?.title?.text ?? "")];
  if (kind !== "said") return Array.from(of?.[kind] ?? []).flat();
  return linesOf(Array.from(of?.hovertext ?? []).flat(), Number(line)).map(quoted);
}

/**
 * The word between quotes, or all where there are none.
 *
 * @param {string} text
 */
function quoted(text) {
  return QUOTED.exec(text)?.[1] ?? text;
}

/**
 * What a label says, whatever its letters look like.
 *
 * @param {string} label
 */
function withoutMarks(label) {
  return unescaped(String(label).replace(/<[^>]*>/g, ""));
}

/**
 * What a token stands for: null for a part of a character, nothing where there is no such token.
 *
 * @param {string | null | undefined} text
 */
function known(text) {
  return text === undefined ? "" : text;
}

/**
 * The labels that an axis has, as Plotly worked them out to be drawn, and the place of each.
 *
 * @param {Chart} chart
 * @param {OriginPlace} place
 * @returns {{x: number, text: string}[]}
 */
function ticksOf(chart, { trace, property }) {
  const letter = property.split(".")[1];
  const name = chart._fullData[trace]?.[`${letter}axis`] ?? letter;
  const axis = /** @type {any} */ (chart._fullLayout)?.[name.replace(letter, `${letter}axis`)];
  return Array.from(axis?._vals ?? []).filter(({ text }) => text);
}

/**
 * The rows of a heat map as it was worked out to be drawn, or a line's numbers as one row; of labels
 * the numbers that are written.
 *
 * @param {Chart} chart
 * @param {OriginPlace} place
 * @returns {Values[]}
 */
export function drawnRows(chart, { trace, property }) {
  const of = chart._fullData[trace] ?? {};
  const [kind, line] = property.split(".");
  if (kind === "z") return cellsOf(chart, trace, line);
  if (kind === "text" || kind === "hex") return [written(of.text, kind === "hex")];
  if (kind === "said")
    return rowsOf(of.hovertext).map((texts) => written(linesOf(texts, Number(line)), false));
  return [of[property] ?? []];
}

/**
 * The cells of a heat map, of one row or of all.
 *
 * @param {Chart} chart
 * @param {number} trace
 * @param {string | undefined} row
 * @returns {Values[]}
 */
function cellsOf(chart, trace, row) {
  const rows = chart.calcdata[trace]?.[0]?.z ?? chart._fullData[trace]?.z ?? [];
  return row ? [rows[Number(row)] ?? []] : rows;
}

/**
 * Texts row by row, or as one row.
 *
 * @param {any} texts
 * @returns {string[][]}
 */
function rowsOf(texts) {
  return Array.isArray(texts?.[0]) ? texts : [texts];
}

/**
 * One line of each text.
 *
 * @param {string[] | undefined} texts
 * @param {number} line
 */
function linesOf(texts, line) {
  return Array.from(texts ?? [], (text) => text.split("<br>")[line] ?? "");
}

/**
 * What is written at the end of each text: hexadecimal digits as a number, else as it is written.
 *
 * @param {string[] | undefined} texts
 * @param {boolean} isHex
 * @returns {(number | string)[]}
 */
function written(texts, isHex) {
  return Array.from(texts ?? [], (text) => {
    const plain = unescaped(text);
    return isHex ? parseInt(plain, 16) : (AT_THE_END.exec(plain)?.[0].replaceAll(",", "") ?? "");
  });
}

/**
 * Whether there are so many values in each row; beyond them nothing may be drawn.
 *
 * @param {Values[]} rows
 * @param {number} columns
 */
function isAsWide(rows, columns) {
  return rows.every(
    (row) => row.length >= columns && Array.from(row).slice(columns).every(isEmpty),
  );
}

/** @param {number | string | null | undefined} value */
function isEmpty(value) {
  return Number.isNaN(value ?? NaN);
}

/**
 * How far a number is off as it is drawn, or as it is written, with the digits that has; a whole one
 * is right or not.
 *
 * @param {number | string} shown
 * @param {number} value
 */
function errorOfOne(shown, value) {
  if (typeof shown === "number") return Math.abs(shown - value);
  if (Number.isInteger(value) && /^\d+$/.test(shown)) return Number(shown) === value ? 0 : NaN;
  return errorOfNumber(shown, value);
}

/**
 * The largest error, relative to the largest value; a value that is missing, or one where none
 * should be, counts as not a number.
 *
 * @param {Values[]} rows
 * @param {Matrix} expected
 * @param {number} size what errors are relative to where all values are smaller
 */
function errorOf(rows, expected, size) {
  const isWhole = rows.length === expected.rows && isAsWide(rows, expected.columns);
  let [error, largest] = [isWhole ? 0 : NaN, 0];
  for (let i = 0; isWhole && i < expected.rows; i++)
    rowOf(expected, i).forEach((value, j) => {
      const shown = rows[i][j] ?? NaN;
      if (Number.isNaN(value)) {
        error = isEmpty(shown) ? error : NaN;
        return;
      }
      error = Math.max(error, errorOfOne(shown, value));
      largest = Math.max(largest, Math.abs(value));
    });
  return { error: error / (Math.max(largest, size) || 1), n: expected.rows * expected.columns };
}
