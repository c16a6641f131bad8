// Moves in a map by keyboard.

const PAGE = 10; // cells of PageUp and PageDown

/** @typedef {[row: number, column: number]} Cell */

/** @type {Record<string, (row: number, column: number, last: number) => Cell>} */
const MOVES = {
  ArrowLeft: (row, column) => [row, column - 1],
  ArrowRight: (row, column) => [row, column + 1],
  ArrowUp: (row, column) => [row - 1, column],
  ArrowDown: (row, column) => [row + 1, column],
  Home: (row) => [row, 0],
  End: (row, _column, last) => [row, last],
  PageUp: (row, column) => [row - PAGE, column],
  PageDown: (row, column) => [row + PAGE, column],
};

/**
 * Where a key leads from a cell, within a map of some size; null for other keys.
 *
 * @param {string} key as keyboard events name it
 * @param {Cell} cell
 * @param {{rows: number, columns: number}} size
 * @returns {Cell | null}
 */
export function cellAfter(key, [row, column], size) {
  const to = MOVES[key]?.(row, column, size.columns - 1);
  return to ? within(to, size) : null;
}

/**
 * The nearest cell of a map.
 *
 * @param {Cell} cell
 * @param {{rows: number, columns: number}} size
 * @returns {Cell}
 */
export function within([row, column], { rows, columns }) {
  return [Math.min(Math.max(row, 0), rows - 1), Math.min(Math.max(column, 0), columns - 1)];
}
