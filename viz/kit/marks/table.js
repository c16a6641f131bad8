// A table of numbers, each cell of which has a name and a place: what is typed into, or what follows.

import { inkOn } from "../colors.js";
import { digits, html } from "../dom.js";

/** @import { Matrix } from "../maths.js" */

const PLACES = 3;

/**
 * @param {string} name that its cells carry
 * @param {[title: string, about: string]} words
 * @param {{rows: number, columns: number}} size
 * @param {(input: HTMLInputElement, row: number, column: number) => void} [typed] else its cells take
 *   the focus, the first of them by Tab
 */
export function numberTable(name, [title, about], { rows, columns }, typed) {
  /** @type {(i: number, j: number) => Element} */
  const cellAt = (i, j) => {
    const at = { "data-number": name, "data-at": `${i}-${j}` };
    if (!typed) return html("td", { ...at, tabindex: i + j ? -1 : 0 });
    const label = `${title} row ${i + 1}, column ${j + 1}`;
    const usual = { type: "text", inputmode: "decimal", autocomplete: "off", size: 5 };
    const input = html("input", { ...usual, ...at, "aria-label": label });
    input.addEventListener("input", () => typed(input, i, j));
    return html("td", null, input);
  };
  const lines = Array.from({ length: rows }, (_, i) => {
    const cells = Array.from({ length: columns }, (_each, j) => cellAt(i, j));
    return html("tr", null, html("th", { scope: "row" }, i + 1), cells);
  });
  const caption = html("caption", null, html("b", null, title), " ", html("span", null, about));
  return html("table", { class: "hl-cells" }, caption, html("tbody", null, lines));
}

/**
 * What stands in a table, row by row.
 *
 * @param {HTMLTableElement} table
 */
export function readTable(table) {
  const [title, about] = table.caption?.children ?? [];
  const rows = Array.from(table.rows, ({ cells }) =>
    Array.from(cells)
      .slice(1)
      .map((cell) => cell.querySelector("input")?.value ?? cell.textContent),
  );
  return { title: title.textContent, about: about.textContent, rows };
}

/**
 * The cell of a name at a place.
 *
 * @param {Element} root
 * @param {string} name
 * @param {number} row
 * @param {number} column
 * @returns {HTMLElement | null}
 */
export function cellOf(root, name, row, column) {
  return root.querySelector(`[data-number="${name}"][data-at="${row}-${column}"]`);
}

/**
 * Write a matrix into the cells of a name; weights are in their colours.
 *
 * @param {Element} root
 * @param {string} name
 * @param {Matrix} m
 * @param {((weight: number) => string) | null} [colorOf]
 */
export function fillTable(root, name, m, colorOf = null) {
  root.querySelectorAll(`td[data-number="${name}"]`).forEach((cell, at) => {
    const value = m.values[at];
    const color = colorOf?.(value) ?? "";
    cell.textContent = digits(value, PLACES);
    cell.classList.toggle("hl-closed", value === -Infinity);
    const { style } = /** @type {HTMLElement} */ (cell);
    style.background = color;
    style.color = color && inkOn(color);
  });
}
