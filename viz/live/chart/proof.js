// A figure's proof: what Plotly drew, read back from Plotly, against arrays of an independent run.
// Nothing here is used to draw.

import { independent } from "../core/independent.js";
import { rowOf } from "../core/maths.js";

/** @import { Matrix } from "../core/maths.js" */
/** @import { Chart } from "../core/plotly.js" */
/** @import { Reading } from "../core/screen.js" */
/** @import { OriginPlace } from "./wire.js" */

/** @typedef {ArrayLike<number | null | undefined>} Values */

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
    origin.map(async (place) => ({
      ...errorOf(drawnRows(chart, place), await independent(place.run, place.address)),
      address: place.address,
    })),
  );
  const off = found.find(({ error }) => !(error <= allowed));
  return {
    error: Math.max(...found.map(({ error }) => error)),
    n: found.reduce((sum, { n }) => sum + n, 0),
    address: off ? off.address : "",
  };
}

/**
 * The rows of a heat map as it was worked out to be drawn, or a line's numbers as one row.
 *
 * @param {Chart} chart
 * @param {OriginPlace} place
 * @returns {Values[]}
 */
function drawnRows(chart, { trace, property }) {
  const values = chart._fullData[trace]?.[property] ?? [];
  return property === "z" ? (chart.calcdata[trace]?.[0]?.z ?? values) : [values];
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

/** @param {number | null | undefined} value */
function isEmpty(value) {
  return Number.isNaN(value ?? NaN);
}

/**
 * The largest error, relative to the largest value; a value that is missing, or one where none
 * should be, counts as not a number.
 *
 * @param {Values[]} rows
 * @param {Matrix} expected
 */
function errorOf(rows, expected) {
  const isWhole = rows.length === expected.rows && isAsWide(rows, expected.columns);
  let [error, largest] = [isWhole ? 0 : NaN, 0];
  for (let i = 0; isWhole && i < expected.rows; i++)
    rowOf(expected, i).forEach((value, j) => {
      const shown = rows[i][j] ?? NaN;
      if (Number.isNaN(value)) {
        error = isEmpty(shown) ? error : NaN;
        return;
      }
      error = Math.max(error, Math.abs(shown - value));
      largest = Math.max(largest, Math.abs(value));
    });
  return { error: error / (largest || 1), n: expected.rows * expected.columns };
}
