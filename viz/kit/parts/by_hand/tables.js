// Tables of numbers: those a person types into, and those that follow.

import { inkOn } from "../../colors.js";
import { digits, html } from "../../dom.js";

/** @import { Matrix } from "../../maths.js" */

const PLACES = 3;

/**
 * A table a person changes cell by cell.
 *
 * @param {string} title
 * @param {string} about what a row is
 * @param {string[][]} rows
 * @param {(row: number, column: number, input: HTMLInputElement) => void} typed
 */
export function inputTable(title, about, rows, typed) {
  const body = html("tbody");
  rows.forEach((row, i) => {
    const line = html("tr", null, html("th", { scope: "row" }, i + 1));
    row.forEach((value, j) => {
      const name = `${title} row ${i + 1}, column ${j + 1}`;
      const input = html("input", {
        ...{ type: "text", inputmode: "decimal", autocomplete: "off", value, "aria-label": name },
        "data-at": `${i}-${j}`,
        oninput: () => typed(i, j, input),
      });
      line.append(html("td", null, input));
    });
    body.append(line);
  });
  return tableOf(title, about, body);
}

/**
 * A table of what was computed: its cells take the focus, the first of them by Tab.
 *
 * @param {string} title
 * @param {string} about
 * @param {{rows: number, columns: number}} size
 * @param {string} name that its cells carry
 */
export function stepTable(title, about, { rows, columns }, name) {
  const body = html("tbody");
  for (let i = 0; i < rows; i++) {
    const line = html("tr", null, html("th", { scope: "row" }, i + 1));
    for (let j = 0; j < columns; j++) {
      const at = { "data-number": name, "data-at": `${i}-${j}`, tabindex: i + j ? -1 : 0 };
      line.append(html("td", at));
    }
    body.append(line);
  }
  return tableOf(title, about, body);
}

/**
 * @param {string} title
 * @param {string} about
 * @param {HTMLElement} body
 */
function tableOf(title, about, body) {
  const caption = html("caption", null, html("b", null, title), " ", html("span", null, about));
  return html("table", { class: "hl-cells" }, caption, body);
}

/**
 * The cell of a table.
 *
 * @param {Element} table
 * @param {number} row
 * @param {number} column
 * @returns {HTMLElement | null}
 */
export function cellOf(table, row, column) {
  return table.querySelector(`[data-at="${row}-${column}"]`);
}

/**
 * Write a matrix into a table; weights have their colours.
 *
 * @param {Element} table
 * @param {Matrix} m
 * @param {((weight: number) => string) | null} colorOf
 */
export function fill(table, m, colorOf) {
  table.querySelectorAll("td").forEach((cell, at) => {
    const value = m.values[at];
    cell.textContent = digits(value, PLACES);
    cell.classList.toggle("hl-closed", value === -Infinity);
    const background = colorOf?.(value) ?? "";
    Object.assign(cell.style, { background, color: background && inkOn(background) });
  });
}
