// Words in the query × words in the key: those worth reading, the position, and all others as one.

import { inkOn } from "../../colors.js";
import { fillOnce, html } from "../../dom.js";
import { cellAfter } from "../../keyboard.js";
import { signedColors, tenths } from "../../marks/signed.js";
import { takes, tokenName } from "./words.js";

/** @import { Side, WhyData, Wrote } from "../why.js" */
/** @import { Palette } from "../../wire.js" */

const MOST = 4; // words of either side

/** Parts of one side that share a row or a column. @typedef {{name: string, number: string, parts: number[]}} Group */

/**
 * @typedef {object} Pairs
 * @property {Group[]} rows parts of the query
 * @property {Group[]} columns and of the key
 * @property {number[][]} cells
 */

/**
 * Which rows and columns are worth reading, and their sums.
 *
 * @param {WhyData} data
 * @param {number[]} centred each part of the query with each of the key
 * @returns {Pairs}
 */
export function pairsOf(data, centred) {
  const { query, key } = data.words;
  const score = Math.abs(centred.reduce((a, b) => a + b, 0));
  const most = (/** @type {number[]} */ values) => Math.max(...values.map(Math.abs));
  const at = (/** @type {number} */ i, /** @type {number} */ j) => centred[i * key.length + j];
  const ofQuery = query.map((_, i) => most(key.map((_each, j) => at(i, j))));
  const ofKey = key.map((_, j) => most(query.map((_each, i) => at(i, j))));
  const least = data.stands_out * score;
  const rows = groups(query, data.labels.query, ofQuery, least);
  const columns = groups(key, data.labels.key, ofKey, least);
  const sum = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    a.flatMap((i) => b.map((j) => at(i, j))).reduce((x, y) => x + y, 0);
  const cells = rows.map(({ parts }) => columns.map((column) => sum(parts, column.parts)));
  return { rows, columns, cells };
}

/**
 * @param {Wrote[]} parts
 * @param {string[]} labels
 * @param {number[]} strength the largest of each
 * @param {number} least from which a word is named; the strongest always is
 * @returns {Group[]}
 */
function groups(parts, labels, strength, least) {
  const numbers = [...parts.keys()];
  const strongest = numbers
    .filter((i) => parts[i].token !== null)
    .sort((a, b) => strength[b] - strength[a])
    .filter((i, place) => place < MOST && (!place || strength[i] >= least))
    .sort((a, b) => a - b);
  const named = strongest.map((i) => {
    const [name, number] = tokenName(labels, /** @type {number} */ (parts[i].token));
    return { name, number, parts: [i] };
  });
  const isSeen = (/** @type {number} */ i) => tenths(strength[i]) !== "0"; // RoPE adds nothing
  const places = numbers.filter((i) => parts[i].kind === "position" && isSeen(i));
  const others = numbers.filter((i) => !strongest.includes(i) && !places.includes(i));
  if (places.length) named.push({ name: "position", number: "", parts: places });
  if (others.length) named.push({ name: "others", number: "", parts: others });
  return named;
}

/** A table of buttons, each of which takes a pair or a whole side of it away. */
export class PairMap {
  /** @param {(what: string) => void} pick as settings say what is taken away */
  constructor(pick) {
    this.pick = pick;
    const onkeydown = (/** @type {KeyboardEvent} */ event) => this.#pressed(event);
    const name = "Words in the query × words in the key";
    this.table = html("table", { class: "hl-why-map", "aria-label": name, onkeydown });
    this.node = html("div", { class: "hl-why-map-host" }, this.table);
  }

  /**
   * @param {Pairs} pairs
   * @param {string} taken
   * @param {Palette} palette
   */
  show(pairs, taken, palette) {
    const what = JSON.stringify([pairs, palette.diverging]);
    fillOnce(this.table, what, () => this.#made(pairs, palette));
    for (const one of this.#buttons) one.ariaPressed = String(one.dataset.takes === taken);
    this.#reach(this.#buttons.find(({ tabIndex }) => tabIndex === 0) ?? this.#buttons[0]);
  }

  get #buttons() {
    return [...this.table.querySelectorAll("button")];
  }

  /**
   * @param {Pairs} pairs
   * @param {Palette} palette
   */
  #made({ rows, columns, cells }, palette) {
    const colorOf = signedColors(palette, Math.max(...cells.flat().map(Math.abs)));
    const total = (/** @type {number[]} */ values) => tenths(values.reduce((a, b) => a + b, 0));
    const corner = html("td", { class: "hl-why-corner" }, "query ↓ key →");
    const heads = columns.map((one) => html("th", { scope: "col" }, this.#head(one, "key")));
    const sums = columns.map((_, j) => html("td", null, total(cells.map((row) => row[j]))));
    const lines = rows.map((one, i) => {
      const tds = columns.map((column, j) => {
        const shade = colorOf(cells[i][j]);
        const style = `background-color: ${shade}; color: ${inkOn(shade)}`;
        return html("td", { style }, this.#cell(one, column, cells[i][j]));
      });
      const head = html("th", { scope: "row" }, this.#head(one, "query"));
      return html("tr", null, head, tds, html("td", { class: "hl-why-sum" }, total(cells[i])));
    });
    return [
      html("thead", null, html("tr", null, corner, heads, html("th", { scope: "col" }, "sum"))),
      html("tbody", null, lines),
      html(
        "tfoot",
        null,
        html("tr", { class: "hl-why-sum" }, html("th", { scope: "row" }, "sum"), sums, [
          html("td", null, total(cells.flat())),
        ]),
      ),
    ];
  }

  /**
   * A row’s or a column’s name; of several parts only read.
   *
   * @param {Group} group
   * @param {Side} side
   */
  #head({ name, number, parts }, side) {
    const words = [html("bdi", null, name), number && html("small", null, number)];
    if (parts.length > 1) return html("span", null, ...words);
    return this.#button(takes(side, parts[0]), `${name}${number} in the ${side}`, words);
  }

  /**
   * @param {Group} row
   * @param {Group} column
   * @param {number} value
   */
  #cell(row, column, value) {
    if (row.parts.length > 1 || column.parts.length > 1) return html("span", null, tenths(value));
    const pair = `words:${row.parts[0]}.${column.parts[0]}`;
    const says = `${row.name}${row.number} × ${column.name}${column.number}: ${tenths(value)}`;
    return this.#button(pair, says, [tenths(value)]);
  }

  /**
   * @param {string} what
   * @param {string} title
   * @param {(Node | string)[]} words
   */
  #button(what, title, words) {
    const look = { type: "button", class: "hl-item", "data-takes": what, title, tabindex: -1 };
    return html("button", { ...look, onclick: () => this.pick(what) }, words);
  }

  /**
   * The table is one stop of the tab key.
   *
   * @param {HTMLButtonElement | undefined} at
   */
  #reach(at) {
    for (const one of this.#buttons) one.tabIndex = one === at ? 0 : -1;
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const { rows } = this.table;
    const from = /** @type {Element} */ (event.target).closest("td, th");
    if (!(from instanceof HTMLTableCellElement)) return;
    const size = { rows: rows.length, columns: rows[0].cells.length };
    const row = /** @type {HTMLTableRowElement} */ (from.parentElement).rowIndex;
    let at = cellAfter(event.key, [row, from.cellIndex], size);
    if (!at) return;
    event.preventDefault();
    for (let steps = 0; at && steps < size.rows + size.columns; steps++) {
      const found = rows[at[0]].cells[at[1]].querySelector("button");
      if (found) {
        this.#reach(found);
        return found.focus({ preventScroll: true });
      }
      at = cellAfter(event.key === "Home" ? "ArrowRight" : event.key, at, size);
    }
  }

  /** Its names, its cells row by row, its sums, and what of it is taken away. */
  read() {
    const words = (/** @type {Element} */ cell) => cell.textContent ?? "";
    const [[, ...heads], ...lines] = [...this.table.rows].map((row) => [...row.cells]);
    const body = lines.slice(0, -1);
    return {
      rows: body.map(([head]) => words(head)),
      columns: heads.slice(0, -1).map(words),
      cells: body.map(([, ...cells]) => cells.slice(0, -1).map(words)),
      sums: {
        rows: body.map((cells) => words(cells[cells.length - 1])),
        columns: lines[lines.length - 1].slice(1).map(words),
      },
      taken: this.#buttons.filter((one) => one.ariaPressed === "true").map((one) => one.title),
    };
  }
}
