// Attention by hand: Q, K and V to change cell by cell, and every step redrawn at each key.

import { weightColors } from "../colors.js";
import { digits, fillOnce, html } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { cellAfter } from "../keyboard.js";
import { NAMES, numberIn, read, write } from "./by_hand/cells.js";
import { aboutOf, showChoices } from "./by_hand/choices.js";
import { lineOf } from "./by_hand/said.js";
import { cellOf, fill, inputTable, stepTable } from "./by_hand/tables.js";
import { workOut } from "./by_hand/worked.js";

/** @import { Matrix } from "../maths.js" */
/** @import { Place } from "../instrument.js" */
/** @import { Name } from "./by_hand/cells.js" */
/** @import { Spot } from "./by_hand/said.js" */
/** @import { ByHandData } from "./by_hand/wire.js" */
/** @import { StepName, Worked } from "./by_hand/worked.js" */

/** @type {Record<Name, [title: string, about: string]>} */
const GIVEN = {
  q: ["Q", "a query each row"],
  k: ["K", "a key each row"],
  v: ["V", "a value each row"],
  out: ["W_O", "puts heads together"],
};
/** @type {[StepName, string, string][]} */
const STEPS = [
  ["products", "q · k", "dot products"],
  ["scores", "÷ √d", "scores"],
  ["masked", "+ mask", "−∞ where hidden"],
  ["weights", "softmax", "weights, row by row"],
  ["z", "× V", "weighted means of the values"],
];

/** @extends {Instrument<ByHandData>} */
export class ByHand extends Instrument {
  /** @type {Worked} */
  #worked;
  /** @type {Spot} */
  #spot = { step: "weights", head: 0, row: 0, column: 0 };

  /** @param {Place} place */
  constructor(place) {
    super(place);
    const { root } = this;
    this.controls = html("div", { class: "hl-hand-controls" });
    this.about = html("p", { class: "hl-caption" });
    this.fault = html("p", { class: "hl-hand-fault", role: "status" });
    this.given = html("div", { class: "hl-hand-row", role: "group", "aria-label": "Given" });
    this.steps = html("div", { class: "hl-hand-steps" });
    this.line = html("p", { class: "hl-hand-line", "aria-live": "polite" });
    const main = html("section", { class: "hl-main", "aria-label": "Attention by hand" });
    main.append(this.given, this.fault, this.line, this.steps);
    root.replaceChildren(this.controls, this.about, main);
    for (const event of ["pointerover", "focusin"])
      this.lifetime.listen(root, event, ({ target }) => this.#look(target));
    this.lifetime.listen(root, "keydown", (event) => this.#move(event));
  }

  /** @override */
  update() {
    this.redraw();
  }

  /** @override */
  redraw() {
    this.#worked = workOut(this.settings);
    showChoices(
      this.controls,
      this.data,
      () => this.settings,
      (to) => this.set(to),
    );
    this.about.textContent = aboutOf(this.data, this.settings);
    this.#showGiven();
    this.#showSteps();
    this.#showLine();
    this.root.dataset.drawn = `${this.data.key} by_hand`;
  }

  // --- what is given ------------------------------------------------------------------------------

  #showGiven() {
    const cells = read(this.settings.cells);
    const there = NAMES.filter((name) => cells[name].length);
    const sizes = there.map((name) => [name, cells[name].length, cells[name][0].length]);
    fillOnce(this.given, JSON.stringify(sizes), () =>
      there.map((name) => {
        const table = inputTable(...GIVEN[name], cells[name], (i, j, input) =>
          this.#typed(name, i, j, input),
        );
        table.dataset.given = name;
        return table;
      }),
    );
    for (const name of there)
      cells[name].forEach((row, i) => row.forEach((value, j) => this.#write(name, i, j, value)));
  }

  /**
   * Write a cell, but not where a person is typing the same number in another way.
   *
   * @param {Name} name
   * @param {number} row
   * @param {number} column
   * @param {string} value
   */
  #write(name, row, column, value) {
    const table = this.given.querySelector(`[data-given="${name}"]`);
    const input = table && cellOf(table, row, column);
    if (!(input instanceof HTMLInputElement)) return;
    const isBeingTyped = input === document.activeElement;
    if (isBeingTyped && numberIn(input.value, this.data.most.size) === value) return;
    if (isBeingTyped && input.hasAttribute("aria-invalid")) return;
    input.value = value;
    input.removeAttribute("aria-invalid");
  }

  /**
   * @param {Name} name
   * @param {number} row
   * @param {number} column
   * @param {HTMLInputElement} input
   */
  #typed(name, row, column, input) {
    const { size } = this.data.most;
    const value = numberIn(input.value, size);
    input.toggleAttribute("aria-invalid", value === null);
    this.fault.textContent =
      value === null
        ? `${input.getAttribute("aria-label")}: type a number from −${size} to ${size}. The figure keeps the last one.`
        : "";
    if (value === null) return;
    const cells = read(this.settings.cells);
    cells[name][row][column] = value;
    this.set({ cells: write(cells) });
  }

  // --- the steps ----------------------------------------------------------------------------------

  #showSteps() {
    const { heads, given, output } = this.#worked;
    const { scaled } = this.settings;
    const sizes = [scaled, heads.length, given.q.rows, heads[0].z.columns, output?.columns ?? 0];
    fillOnce(this.steps, JSON.stringify(sizes), () => this.#stepTables());
    for (const [table, m, name] of this.#drawn())
      fill(table, m, name === "weights" ? weightColors(this.palette) : null);
  }

  #stepTables() {
    const { heads, output } = this.#worked;
    const rows = heads.map((head, h) => {
      const label = heads.length > 1 ? `Head ${h}` : "Steps";
      const row = html("div", { class: "hl-hand-row", role: "group", "aria-label": label });
      if (heads.length > 1) row.append(html("b", { class: "hl-hand-head" }, `H${h}`));
      for (const [name, title, about] of STEPS)
        row.append(
          named(
            stepTable(this.#titleOf(name, title), about, head[name], `hand.${name}.${h}`),
            name,
            h,
          ),
        );
      return row;
    });
    if (output) {
      const together = html("div", {
        class: "hl-hand-row",
        role: "group",
        "aria-label": "Together",
      });
      const table = stepTable("[z₀ z₁] · W_O", "heads put together", output, "hand.output");
      together.append(named(table, "output", 0));
      rows.push(together);
    }
    return rows;
  }

  /**
   * @param {StepName} name
   * @param {string} usual
   */
  #titleOf(name, usual) {
    return name === "scores" && !this.settings.scaled ? "not ÷ √d" : usual;
  }

  /** Each table of a step with what is in it. @returns {[Element, Matrix, string][]} */
  #drawn() {
    const tables = Array.from(this.steps.querySelectorAll("table"));
    return tables.map((table) => {
      const step = table.dataset.step ?? "";
      return [table, this.#matrixOf(step, Number(table.dataset.head)), step];
    });
  }

  /**
   * @param {string} step
   * @param {number} head
   * @returns {Matrix}
   */
  #matrixOf(step, head) {
    const { heads, output } = this.#worked;
    if (step === "output") return output ?? heads[0].z;
    return heads[head][/** @type {StepName} */ (step)];
  }

  // --- one cell -----------------------------------------------------------------------------------

  /** @param {EventTarget | null} target */
  #look(target) {
    const cell = target instanceof Element ? target.closest("td[data-number]") : null;
    const table = cell?.closest("table");
    if (!(cell instanceof HTMLElement) || !table) return;
    const [row, column] = placeOf(cell);
    const { step = "weights", head = "0" } = table.dataset;
    this.#spot = { step, head: Number(head), row, column };
    this.#showLine();
  }

  /** How the cell came about, and the numbers it came from framed. */
  #showLine() {
    const m = this.#settledSpot();
    const { step, head, row, column } = this.#spot;
    const value = digits(m.values[row * m.columns + column], 3);
    const title = this.#tableOf(step, head)?.caption?.querySelector("b")?.textContent ?? "";
    const whose = this.#worked.heads.length > 1 && step !== "output" ? `H${head}, ` : "";
    this.line.replaceChildren(
      html("b", null, `${title}: ${whose}row ${row + 1}, column ${column + 1}`),
      ` ${lineOf(this.#worked, this.#spot)} = `,
      html("b", { "data-said": "" }, value),
    );
    for (const marked of this.root.querySelectorAll(".hl-marked"))
      marked.classList.remove("hl-marked");
    const cell = this.#tableOf(step, head);
    if (cell) cellOf(cell, row, column)?.classList.add("hl-marked");
    this.#frameOperands();
  }

  /** The spot, within what there is now. */
  #settledSpot() {
    const { heads, output } = this.#worked;
    if (this.#spot.head >= heads.length) this.#spot.head = 0;
    if (this.#spot.step === "output" && !output) this.#spot.step = "weights";
    const m = this.#matrixOf(this.#spot.step, this.#spot.head);
    this.#spot.row = Math.min(this.#spot.row, m.rows - 1);
    this.#spot.column = Math.min(this.#spot.column, m.columns - 1);
    return m;
  }

  /** Of the products, the query and the key; of z, the column of values. */
  #frameOperands() {
    const { step, head, row, column } = this.#spot;
    const { given, heads } = this.#worked;
    const width = given.q.columns / heads.length;
    /** @type {(name: Name, i: number, j: number) => void} */
    const mark = (name, i, j) => {
      const table = this.given.querySelector(`[data-given="${name}"]`);
      if (table) cellOf(table, i, j)?.classList.add("hl-marked");
    };
    if (step === "products")
      for (let d = head * width; d < (head + 1) * width; d++) {
        mark("q", row, d);
        mark("k", column, d);
      }
    if (step === "z")
      for (let i = 0; i < given.v.rows; i++) mark("v", i, head * heads[head].z.columns + column);
    if (step === "output") for (let i = 0; i < given.out.rows; i++) mark("out", i, column);
  }

  /**
   * @param {string} step
   * @param {number} head
   * @returns {HTMLTableElement | null}
   */
  #tableOf(step, head) {
    return this.steps.querySelector(`[data-step="${step}"][data-head="${head}"]`);
  }

  /** @param {Event} event */
  #move(event) {
    const cell = event.target;
    if (!(event instanceof KeyboardEvent) || !(cell instanceof HTMLTableCellElement)) return;
    const table = cell.closest("table");
    const m = this.#matrixOf(table?.dataset.step ?? "", Number(table?.dataset.head));
    const to = cellAfter(event.key, placeOf(cell), m);
    if (!table || !to) return;
    event.preventDefault();
    cellOf(table, ...to)?.focus();
  }
}

/**
 * @param {HTMLElement} cell
 * @returns {[number, number]}
 */
function placeOf(cell) {
  const [row, column] = (cell.dataset.at ?? "0-0").split("-").map(Number);
  return [row, column];
}

/**
 * @param {HTMLTableElement} table
 * @param {string} step
 * @param {number} head
 */
function named(table, step, head) {
  table.dataset.step = step;
  table.dataset.head = String(head);
  return table;
}

export default partOf("by_hand", ByHand);
