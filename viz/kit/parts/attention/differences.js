// The difference of two patterns, which may be of other sentences and so of other sizes.

import { difference } from "../../measures.js";

/** @import { Matrix } from "../../maths.js" */
/** @import { Shown } from "../../patterns.js" */

/**
 * The difference of two shown patterns on the cells both have; hidden where it is in both.
 *
 * @param {Shown} first
 * @param {Shown} second
 * @returns {Shown}
 */
export function differenceOf(first, second) {
  const values = difference(first.values, second.values);
  const { rows, columns } = values;
  /** @type {(side: Shown, what: "hidden" | "blank", i: number) => number} */
  const at = (side, what, i) =>
    side[what][Math.floor(i / columns) * side.values.columns + (i % columns)];
  /** @param {"hidden" | "blank"} what */
  const inBoth = (what) =>
    Uint8Array.from(values.values, (_, i) => at(first, what, i) & at(second, what, i));
  const low = first.values.rows === rows ? first : second;
  const narrow = first.values.columns === columns ? first : second;
  const labels = { rows: low.rows, rowLabels: low.rowLabels, rowLooks: low.rowLooks };
  const { columnLabels, columnLooks } = narrow;
  const names = { columns: narrow.columns, columnLabels, columnLooks };
  const [hidden, blank] = [inBoth("hidden"), inBoth("blank")];
  return { ...first, ...labels, ...names, values, hidden, blank };
}

/**
 * What a difference leaves out where maps are of different sizes.
 *
 * @param {Matrix} a
 * @param {Matrix} b
 * @param {Matrix} delta
 */
export function cutInWords(a, b, delta) {
  if (a.rows === b.rows && a.columns === b.columns) return "";
  const isSquare = a.rows === a.columns && b.rows === b.columns;
  if (isSquare)
    return ` The sentences have ${a.rows} and ${b.rows} rows; the difference covers the first ${delta.rows}.`;
  const [x, y, z] = [a, b, delta].map(({ rows, columns }) => `${rows} × ${columns}`);
  return ` The maps have ${x} and ${y} cells; the difference covers the first ${z}.`;
}
