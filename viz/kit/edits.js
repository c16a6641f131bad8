// Edits of a mask: which cells differ from the mask as it was, as a set of places and as text.

/** @import { Numbers } from "./maths.js" */

const PAIR = /^(\d{1,9})-(\d{1,9})$/;

/**
 * The cells named in "3-1.5-2" (query-key), as places in a matrix; what is outside it is left out.
 *
 * @param {string} text
 * @param {number} rows
 * @param {number} columns
 * @returns {Set<number>}
 */
export function readEdits(text, rows, columns) {
  const edits = new Set();
  for (const part of text.split(".")) {
    const [row, column] = PAIR.exec(part)?.slice(1).map(Number) ?? [rows, columns];
    if (row < rows && column < columns) edits.add(row * columns + column);
  }
  return edits;
}

/**
 * The text of a set of cells, in the order of the matrix, so that equal sets have equal texts.
 *
 * @param {Set<number>} edits
 * @param {number} columns
 */
export function writtenEdits(edits, columns) {
  const places = [...edits].sort((a, b) => a - b);
  return places.map((i) => `${Math.floor(i / columns)}-${i % columns}`).join(".");
}

/**
 * The mask with its edited cells turned over.
 *
 * @param {Numbers} base
 * @param {Set<number>} edits
 */
export function flipped(base, edits) {
  const mask = Uint8Array.from(base);
  for (const i of edits) mask[i] = mask[i] ? 0 : 1;
  return mask;
}

/**
 * The edits with some cells shown or hidden: a cell that is as it was is no edit.
 *
 * @param {Set<number>} edits
 * @param {Numbers} base
 * @param {number[]} cells
 * @param {boolean} isShown
 */
export function editedWith(edits, base, cells, isShown) {
  const result = new Set(edits);
  for (const i of cells) {
    if (Boolean(base[i]) === isShown) result.delete(i);
    else result.add(i);
  }
  return result;
}

/** @typedef {{row: number, column: number}} Cell */

/**
 * The cells on the line between two cells, the first left out: a fast mouse skips some.
 *
 * @param {Cell} from
 * @param {Cell} to
 * @returns {Cell[]}
 */
export function cellsBetween(from, to) {
  const [down, right] = [to.row - from.row, to.column - from.column];
  const n = Math.max(Math.abs(down), Math.abs(right));
  return Array.from({ length: n }, (_, i) => ({
    row: from.row + Math.round(((i + 1) * down) / n),
    column: from.column + Math.round(((i + 1) * right) / n),
  }));
}

/**
 * Rows of a mask that may attend to nothing.
 *
 * @param {Uint8Array} mask
 * @param {number} columns
 */
export function emptyRows(mask, columns) {
  return Array.from({ length: mask.length / columns }, (_, row) => row).filter((row) =>
    mask.subarray(row * columns, (row + 1) * columns).every((allowed) => !allowed),
  );
}
