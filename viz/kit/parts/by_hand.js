// Attention by hand: Q, K and V to change cell by cell, and every step redrawn at each key.

import { weightColors } from "../colors.js";
import { digits, fillOnce, html, math, wordsIn } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { cellAfter, within } from "../keyboard.js";
import { cellOf, fillTable, numberTable, readTable } from "../marks/table.js";
import { NAMES, numberIn, read, write } from "./by_hand/cells.js";
import { exampleOf, showChoices } from "./by_hand/choices.js";
import { lineOf, operandsOf, workOut } from "./by_hand/worked.js";

/** @import { Place } from "../instrument.js" */
/** @import { InstrumentData } from "../wire.js" */
/** @import { ByHandSettings, Name } from "./by_hand/cells.js" */
/** @import { Spot, Worked } from "./by_hand/worked.js" */

/**
 * @typedef {object} ByHandFields
 * @property {{name: string, about: string, settings: ByHandSettings}[]} examples
 * @property {Record<string, string>} maskings what each is called
 * @property {{rows: number, columns: number, heads: number, size: number}} most
 * @property {ByHandSettings} settings
 */

/** @typedef {InstrumentData & ByHandFields} ByHandData */

/** @type {Record<Name, [title: string, about: string]>} */
const GIVEN = {
  q: ["Q", "a query each row"],
  k: ["K", "a key each row"],
  v: ["V", "a value each row"],
  out: ["W_O", "puts heads together"],
};
/** @type {Record<string, [title: string, about: string]>} */
const STEPS = {
  products: ["q · k", "dot products"],
  scores: ["÷ √d", "scores"],
  masked: ["+ mask", "−∞ where hidden"],
  weights: ["softmax", "weights, row by row"],
  z: ["× V", "weighted means of the values"],
  output: ["[z₀ z₁] · W_O", "heads put together"],
};

/** @extends {Instrument<ByHandData>} */
export class ByHand extends Instrument {
  /** @type {Worked} */
  #worked;
  /** @type {Spot} */
  #spot = { name: "weights.0", row: 0, column: 0 };

  /** @param {Place} place */
  constructor(place) {
    super(place);
    const { root } = this;
    this.example = html("div");
    this.about = html("p", { class: "hl-caption" });
    this.controls = html("div", { class: "hl-hand-controls" });
    const more = html("details", null, html("summary", null, "Sizes, mask, heads"), this.controls);
    const choices = html("div", { class: "hl-hand-choices" }, this.example, this.about, more);
    this.fault = html("p", { class: "hl-hand-fault", role: "status" });
    this.given = rowOfTables("Given");
    this.steps = html("div", { class: "hl-hand-steps" });
    this.line = html("p", { class: "hl-hand-line", "aria-live": "polite" });
    const main = html("section", { class: "hl-main", "aria-label": "Attention by hand" });
    const beside = html("div", { class: "hl-hand-beside" }, this.line, this.fault);
    main.append(html("div", { class: "hl-hand-row" }, this.given, beside), this.steps);
    root.replaceChildren(choices, main);
    for (const event of ["pointerover", "focusin"])
      this.lifetime.listen(root, event, ({ target }) => this.#look(target));
    this.lifetime.listen(root, "keydown", (event) => this.#move(event));
  }

  /** @override */
  redraw() {
    this.#worked = workOut(this.settings);
    showChoices(this.example, this.controls, this);
    this.about.textContent =
      this.data.examples[exampleOf(this)]?.about ??
      "Numbers of your own: change any cell of Q, K and V.";
    this.#showGiven();
    this.#showSteps();
    this.#showLine();
  }

  // --- what is given ------------------------------------------------------------------------------

  #showGiven() {
    const { given } = this.#worked;
    const cells = read(this.settings.cells);
    const there = NAMES.filter((name) => given[name].rows);
    const sizes = there.map((name) => [name, given[name].rows, given[name].columns]);
    fillOnce(this.given, JSON.stringify(sizes), () =>
      there.map((name) =>
        numberTable(nameOf(name), GIVEN[name], given[name], (input, i, j) =>
          this.#typed(input, name, i, j),
        ),
      ),
    );
    for (const name of there)
      cells[name].forEach((row, i) => row.forEach((value, j) => this.#write(name, i, j, value)));
  }

  /**
   * Write a cell, but not where a person is typing the same number in another way, or none.
   *
   * @param {Name} name
   * @param {number} row
   * @param {number} column
   * @param {string} value
   */
  #write(name, row, column, value) {
    const input = cellOf(this.given, nameOf(name), row, column);
    if (!(input instanceof HTMLInputElement)) return;
    const typed = numberIn(input.value, this.data.most.size);
    if (input === document.activeElement && (typed === null || typed === value)) return;
    input.value = value;
    input.removeAttribute("aria-invalid");
  }

  /**
   * @param {HTMLInputElement} input
   * @param {Name} name
   * @param {number} row
   * @param {number} column
   */
  #typed(input, name, row, column) {
    const { size } = this.data.most;
    const value = numberIn(input.value, size);
    const why = `${input.ariaLabel}: type a number from −${size} to ${size}. The figure keeps the last one.`;
    input.toggleAttribute("aria-invalid", value === null);
    this.fault.textContent = value === null ? why : "";
    if (value === null) return;
    const cells = read(this.settings.cells);
    cells[name][row][column] = value;
    this.set({ cells: write(cells) });
  }

  // --- the steps ----------------------------------------------------------------------------------

  #showSteps() {
    const { found } = this.#worked;
    const sizes = Object.entries(found).map(([name, { rows, columns }]) => [name, rows, columns]);
    const what = JSON.stringify([this.settings.scaled, sizes]);
    fillOnce(this.steps, what, () => this.#stepTables());
    const colorOf = weightColors(this.palette);
    for (const [name, m] of Object.entries(found))
      fillTable(this.steps, nameOf(name), m, name.startsWith("weights") ? colorOf : null);
  }

  /** A row of tables for each head, and one for what they are together. */
  #stepTables() {
    const { found, n_heads } = this.#worked;
    const rows = Array.from({ length: n_heads }, (_, h) =>
      n_heads > 1
        ? rowOfTables(`Head ${h}`, html("b", { class: "hl-hand-head" }, `H${h}`))
        : rowOfTables("Steps"),
    );
    if (found.output) rows.push(rowOfTables("Together"));
    for (const [name, m] of Object.entries(found)) {
      const [step, head] = name.split(".");
      const words = /** @type {[string, string]} */ ([this.#titleOf(step), STEPS[step][1]]);
      rows[Number(head ?? n_heads)].append(numberTable(nameOf(name), words, m));
    }
    return rows;
  }

  /** @param {string} step */
  #titleOf(step) {
    return step === "scores" && !this.settings.scaled ? "not ÷ √d" : STEPS[step][0];
  }

  // --- one cell -----------------------------------------------------------------------------------

  /** @param {EventTarget | null} target */
  #look(target) {
    const cell = target instanceof Element ? target.closest("td[data-number]") : null;
    if (!(cell instanceof HTMLElement)) return;
    this.#spot = spotOf(cell);
    this.#showLine();
  }

  /** How the cell came about, and the numbers it came from framed. */
  #showLine() {
    const { found, n_heads } = this.#worked;
    if (!found[this.#spot.name]) this.#spot.name = "weights.0";
    const { name } = this.#spot;
    const m = found[name];
    const [row, column] = within([this.#spot.row, this.#spot.column], m);
    const spot = { name, row, column };
    const [step, head] = name.split(".");
    const whose = n_heads > 1 && head ? `H${head}, ` : "";
    const result = digits(m.values[row * m.columns + column], 3);
    this.line.replaceChildren(
      html("b", null, `${this.#titleOf(step)}: ${whose}row ${row + 1}, column ${column + 1}`),
      " ",
      math(
        "math",
        { displaystyle: "true" },
        lineOf(this.#worked, spot),
        math("mo", null, "="),
        math("mn", null, result),
      ),
    );
    for (const marked of this.root.querySelectorAll(".hl-marked"))
      marked.classList.remove("hl-marked");
    for (const [of, i, j] of [
      ...operandsOf(this.#worked, spot),
      /** @type {const} */ ([name, row, column]),
    ])
      cellOf(this.root, nameOf(of), i, j)?.classList.add("hl-marked");
  }

  /** @param {Event} event */
  #move(event) {
    const cell = event.target;
    if (!(event instanceof KeyboardEvent) || !(cell instanceof HTMLTableCellElement)) return;
    const { name, row, column } = spotOf(cell);
    const to = cellAfter(event.key, [row, column], this.#worked.found[name]);
    if (!to) return;
    event.preventDefault();
    cellOf(this.steps, nameOf(name), ...to)?.focus();
  }

  /** What is on screen, by names: its words, each table as it stands in its row, and what is marked. */
  read() {
    const { about, fault, line, root } = this;
    const controls = Object.fromEntries(
      Array.from(root.querySelectorAll(".hl-field, .hl-toggle, fieldset"), (one) => [
        one.querySelector("[aria-label]")?.ariaLabel ??
          one.querySelector("legend, span")?.textContent,
        one,
      ]),
    );
    const tables = Array.from(root.querySelectorAll("table"), readTable);
    /** @type {NodeListOf<HTMLElement>} */
    const marked = root.querySelectorAll(".hl-marked");
    return {
      ...wordsIn({ about, fault, line, ...controls }),
      tables,
      marked: Array.from(marked, spotOf),
    };
  }
}

/**
 * @param {string} label
 * @param {...Node} nodes
 */
function rowOfTables(label, ...nodes) {
  return html("div", { class: "hl-hand-row", role: "group", "aria-label": label }, ...nodes);
}

/** @param {string} name of a matrix, as its cells carry it */
function nameOf(name) {
  return `hand.${name}`;
}

/**
 * @param {HTMLElement} cell
 * @returns {Spot}
 */
function spotOf({ dataset: { number = "", at = "" } }) {
  const [row, column] = at.split("-").map(Number);
  return { name: number.replace("hand.", ""), row, column };
}

export default partOf("by_hand", ByHand);
