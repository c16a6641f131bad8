// The editor: one head's pattern under a mask whose cells a person turns over, and what the model,
// run again under that mask, says next. A weight on screen is always the model's for these edits;
// until it has answered, the figures are dimmed.

import { bytesOf } from "./arrays.js";
import { drawBars } from "./bars.js";
import { currentPalette, paletteVariables } from "./colors.js";
import { Conversation } from "./conversation.js";
import { digits, html, radios, svg } from "./dom.js";
import * as edits from "./edits.js";
import { matrix, strongestPairs } from "./maths.js";
import { HeatMap, ZOOMED_FROM } from "./plots.js";
import { focusable, pairsInWords, weightScale } from "./views/shared.js";

const QUIET_MS = 20; // a click is meant at once; moves of a painting mouse come closer than this
const NAMED = 3; // edits and rows named before the rest is counted
const PAGE = 10; // cells of PageUp and PageDown
const DOT = 3.5; // pixels from the middle to the end of an edit's mark

export class Editor {
  constructor(root, { tell = () => {} } = {}) {
    this.root = root;
    this.conversation = new Conversation(tell, QUIET_MS);
    this.at = null; // the marked cell
    this.build();
    new ResizeObserver(() => this.shown && this.showBars()).observe(this.bars.parentElement);
  }

  build() {
    this.title = html("h2", {});
    this.status = html("span", { class: "hl-caption hl-wait" }, "the model is running …");
    this.spoken = html("p", { class: "hl-hidden", "aria-live": "polite" });
    this.map = html("div", { class: "hl-map hl-editable" });
    this.said = html("p", { class: "hl-said" });
    this.changed = html("p", { class: "hl-caption", "data-edits": "" });
    this.empty = html("p", { class: "hl-caption hl-note", "data-empty": "" });
    this.barsTitle = html("h3", {});
    this.bars = svg("svg", { class: "hl-bars", role: "img" });
    this.marks = svg("svg", { class: "hl-sides hl-edits", "aria-hidden": "true" });
    this.heatMap = new HeatMap(this.map, {
      point: (row, column) => this.show(row, column),
      pick: (row, column) => this.clicked(row, column),
      leave: () => this.rest(),
      over: () => this.showEdits(),
      name: (axis, i) => this.moveTo(axis === "row" ? [i, this.at[1]] : [this.at[0], i]),
      drag: false,
    });
    this.heatMap.guides[0].before(this.marks);
    this.map.addEventListener("pointerdown", (event) => this.pressed(event), true);
    this.map.addEventListener("keydown", (event) => this.key(event));
    const left = html("section", { class: "hl-main", "aria-label": "The mask and the pattern" });
    const head = html("div", { class: "hl-row hl-head-row" }, this.title, this.status);
    left.append(head, this.buildButtons(), this.said, this.map);
    const right = html("section", { class: "hl-operands", "aria-label": "Next tokens" });
    right.append(this.barsTitle, this.bars, this.changed, this.empty);
    this.root.replaceChildren(this.spoken, html("div", { class: "hl-editor" }, left, right));
  }

  buildButtons() {
    const button = (words, what, onclick) =>
      html("button", { type: "button", class: "hl-button", "data-do": what, onclick }, words);
    this.resetButton = button("Reset", "reset", () => this.change(new Set()));
    this.rowButton = button("", "row", () => this.turnLine(this.rowCells()));
    this.keyButton = button("", "key", () => this.turnLine(this.keyCells()));
    this.drag = radios(
      "hl-drag",
      "Dragging the mouse",
      [
        { value: "paint", text: "Drag paints" },
        { value: "zoom", text: "Drag zooms" },
      ],
      "paint",
      (value) => this.dragTo(value),
    );
    return html(
      "div",
      { class: "hl-row" },
      this.resetButton,
      this.rowButton,
      this.keyButton,
      this.drag,
    );
  }

  // --- what Python sends --------------------------------------------------------------------------

  /** Take a run of the model; edits it has not heard of stay. */
  receive(data, host = this.root) {
    const isNew = data.key !== this.data?.key;
    this.data = data;
    this.palette = currentPalette(data.themes, host);
    for (const [name, value] of paletteVariables(this.palette))
      this.root.style.setProperty(name, value);
    if (isNew) this.labels = data; // the same arrays, so that the map's labels stay as drawn
    const [rows, columns] = data.pattern.shape;
    const values = matrix(rows, columns, new Float32Array(bytesOf(data.pattern.bdata).buffer));
    Object.assign(this, { rows, columns, base: bytesOf(data.base.bdata) });
    this.at ??= strongest(values);
    this.at = [Math.min(this.at[0], rows - 1), Math.min(this.at[1], columns - 1)];
    this.settings = this.conversation.merged(data);
    this.edits = edits.readEdits(this.settings.edits, rows, columns);
    this.mask = edits.flipped(this.base, this.edits);
    this.drawAnswer(data, values);
  }

  /** Draw the model's numbers; they count as shown once all are on screen. */
  async drawAnswer(data, values) {
    const allowed = bytesOf(data.mask.bdata);
    const picture = {
      values,
      hidden: allowed.map((isAllowed) => (isAllowed ? 0 : 1)),
      rows: this.labels.queryLabels,
      columns: this.labels.keyLabels,
      rowLabels: this.labels.rowAxis,
      columnLabels: this.labels.columnAxis,
      rowTitle: "query",
      columnTitle: "key",
      revision: data.key,
    };
    this.settle();
    try {
      await this.heatMap.draw({ ...picture, scale: weightScale(picture) }, this.palette);
    } catch (error) {
      this.changed.textContent = error.message;
      return;
    }
    if (data !== this.data) return; // a newer answer is being drawn
    this.shown = { data, values };
    this.title.textContent = `${data.head} under this mask`;
    this.drag.hidden = this.columns <= ZOOMED_FROM;
    const says = `Pattern of ${data.head}. ${pairsInWords(picture)}`;
    focusable(this.map, `${says} Arrow keys move the cell, Space or Enter hides or shows it.`);
    this.showBars();
    this.settle();
  }

  /** Whether the numbers on screen are not, or not yet, those for the edits a person sees. */
  get isWaiting() {
    return this.shown?.data !== this.data || this.settings.edits !== this.data.settings.edits;
  }

  /** Everything that depends on the edits and on whether the model has answered them. */
  settle() {
    this.showWaiting();
    this.showEdits();
    this.showWords();
    this.rest();
    if (this.isWaiting || !this.isSpeaking) return;
    this.isSpeaking = false;
    this.say();
  }

  showWaiting() {
    this.root.toggleAttribute("data-waiting", this.isWaiting);
    this.root.dataset.drawn = this.isWaiting
      ? ""
      : `${this.data.key} editor ${this.settings.edits}`;
  }

  // --- edits --------------------------------------------------------------------------------------

  /** Show or hide cells, given as places in the matrix. */
  turn(cells, isShown) {
    this.change(edits.editedWith(this.edits, this.base, cells, isShown));
  }

  change(changed) {
    const text = edits.writtenEdits(changed, this.columns);
    if (text === edits.writtenEdits(this.edits, this.columns)) return;
    this.edits = changed;
    this.mask = edits.flipped(this.base, changed);
    this.settings = { ...this.settings, edits: text };
    // With what they are edits of, should another map be on its way.
    this.conversation.change({ edits: text, edits_of: this.data.settings.edits_of });
    this.settle();
  }

  rowCells() {
    return Array.from({ length: this.columns }, (_, j) => this.at[0] * this.columns + j);
  }

  keyCells() {
    return Array.from({ length: this.rows }, (_, i) => i * this.columns + this.at[1]);
  }

  isHidden(cells) {
    return cells.every((i) => !this.mask[i]);
  }

  /** Hide a row or a column; one that is hidden becomes as it was before all edits. */
  turnLine(cells) {
    if (!this.isHidden(cells)) return this.turn(cells, false);
    const inLine = new Set(cells);
    this.change(new Set([...this.edits].filter((i) => !inLine.has(i))));
  }

  flip([row, column]) {
    const i = row * this.columns + column;
    this.turn([i], !this.mask[i]);
  }

  // --- mouse --------------------------------------------------------------------------------------

  /** The mouse turns the cell over and paints what it passes; a finger scrolls, and taps a cell. */
  pressed(event) {
    this.isPainting = false;
    const cell = event.button === 0 && event.pointerType !== "touch" && this.heatMap.cellAt(event);
    if (!cell || this.heatMap.sizes.drag === "zoom") return;
    this.isPainting = true;
    this.map.focus({ preventScroll: true });
    const isShown = !this.mask[cell.row * this.columns + cell.column];
    this.at = [cell.row, cell.column];
    this.turn([cell.row * this.columns + cell.column], isShown);
    let last = cell;
    const paint = (moved) => {
      const to = this.heatMap.cellAt(moved);
      if (!to || (to.row === last.row && to.column === last.column)) return;
      const passed = edits.cellsBetween(last, to);
      last = to;
      this.at = [to.row, to.column];
      this.turn(
        passed.map(({ row, column }) => row * this.columns + column),
        isShown,
      );
      this.rest();
    };
    const stop = () => {
      removeEventListener("pointermove", paint, true);
      for (const end of ["pointerup", "pointercancel"]) removeEventListener(end, stop, true);
    };
    addEventListener("pointermove", paint, true);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, stop, true);
  }

  clicked(row, column) {
    if (this.isPainting) return; // turned over when it was pressed
    this.at = [row, column];
    this.flip(this.at);
  }

  dragTo(value) {
    this.heatMap.sizes.drag = value === "zoom" ? "zoom" : false;
    this.heatMap.draw(this.heatMap.picture, this.palette);
  }

  // --- keyboard -----------------------------------------------------------------------------------

  key(event) {
    const [row, column] = this.at;
    const to = {
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      Home: [row, 0],
      End: [row, this.columns - 1],
      PageUp: [row - PAGE, column],
      PageDown: [row + PAGE, column],
    }[event.key];
    if (to) this.moveTo(to);
    else if (event.key === "Enter" || event.key === " ") {
      this.isSpeaking = true; // the answer is worth hearing
      this.flip(this.at);
      this.say();
    } else return;
    event.preventDefault();
  }

  moveTo([row, column]) {
    const within = (x, n) => Math.min(Math.max(x, 0), n - 1);
    this.at = [within(row, this.rows), within(column, this.columns)];
    this.rest();
    this.showButtons();
    this.say();
  }

  say() {
    const words = this.said.textContent;
    if (this.spoken.textContent !== words) this.spoken.textContent = words;
  }

  // --- words and marks ----------------------------------------------------------------------------

  rest() {
    this.show(...this.at);
  }

  /** Frame a cell and say what is in it. */
  show(row, column) {
    this.heatMap.mark(row, column, row === this.at[0] && column === this.at[1]);
    this.said.replaceChildren(...this.words(row, column));
  }

  words(row, column) {
    const i = row * this.columns + column;
    const [query, key] = [this.query(row), this.keyed(column)];
    const edited = this.edits.has(i) ? " (edited)" : "";
    if (!this.mask[i]) return [...key, " is hidden from ", ...query, edited];
    const reads = [...query, " reads ", ...key];
    if (this.isWaiting) return [...reads, ": the model is running …", edited];
    const weight = html("b", { "data-number": "weight" }, digits(this.shown.values.values[i]));
    return [...reads, ": ", weight, edited];
  }

  query(row) {
    return quoted(this.labels.queryLabels[row]);
  }

  keyed(column) {
    return quoted(this.labels.keyLabels[column]);
  }

  showWords() {
    const places = [...this.edits].sort((a, b) => a - b);
    const told = places.slice(0, NAMED).flatMap((i, nth) => {
      const [query, key] = [this.query(Math.floor(i / this.columns)), this.keyed(i % this.columns)];
      const reads = this.mask[i] ? " now reads " : " no longer reads ";
      return [nth ? "; " : "", ...query, reads, ...key];
    });
    const n = places.length;
    this.changed.replaceChildren(
      n ? `${n} ${n === 1 ? "cell" : "cells"} changed: ` : "No cell changed. ",
      ...told,
      n > NAMED ? `; and ${n - NAMED} more.` : n ? "." : "",
      n ? "" : "Click a cell to hide or show it; press and move to paint.",
    );
    this.showEmptyRows();
    this.showButtons();
  }

  showEmptyRows() {
    const rows = edits.emptyRows(this.mask, this.columns);
    const told = rows
      .slice(0, NAMED)
      .map((row) => html("span", {}, ...this.query(row), " may read nothing: its row is zero. "));
    const rest = rows.length - NAMED;
    if (rest > 0) told.push(`So ${rest === 1 ? "is 1 more row" : `are ${rest} more rows`}.`);
    this.empty.replaceChildren(...told);
    this.empty.hidden = !rows.length;
  }

  showButtons() {
    const [row, column] = this.at;
    const [isEmpty, isHidden] = [this.isHidden(this.rowCells()), this.isHidden(this.keyCells())];
    const name = (label) => html("bdi", {}, label);
    this.rowButton.replaceChildren(
      isEmpty ? "Restore this row: " : "Empty this row: ",
      name(this.labels.queryLabels[row]),
    );
    this.keyButton.replaceChildren(
      isHidden ? "Show this key again: " : "Hide this key from all: ",
      name(this.labels.keyLabels[column]),
    );
    this.resetButton.setAttribute("aria-disabled", String(!this.edits.size)); // it keeps the focus
  }

  /** A mark on every edited cell; over cells the model has not answered yet, hatching or nothing. */
  showEdits() {
    const hidden = this.heatMap.picture?.hidden;
    if (hidden?.length !== this.mask?.length) return; // the map of a new sentence is being drawn
    const paths = { hiding: "", hatching: "", showing: "", dots: "" };
    for (let i = 0; i < this.mask.length; i++) {
      const isPending = Boolean(hidden[i]) === Boolean(this.mask[i]);
      if (!isPending && !this.edits.has(i)) continue;
      const box = this.heatMap.boxOf(Math.floor(i / this.columns), i % this.columns);
      if (!box) continue;
      if (this.edits.has(i)) paths.dots += dotIn(box);
      if (isPending) paths[this.mask[i] ? "showing" : "hiding"] += rectangle(box);
      if (isPending && !this.mask[i]) paths.hatching += stroke(box);
    }
    this.marks.replaceChildren(
      ...Object.entries(paths).map(([name, d]) => svg("path", { class: `hl-${name}`, d })),
    );
  }

  showBars() {
    const { data } = this.shown;
    this.barsTitle.textContent = data.barsTitle;
    const rows = data.bars.map(({ label, before, after }) => ({
      label,
      before: before ?? 0,
      after: after ?? 0,
      number: change(before, after),
    }));
    if (!rows.length) return this.bars.replaceChildren();
    drawBars(this.bars, rows, {
      palette: this.palette,
      width: Math.max(280, this.bars.parentElement.clientWidth),
      legend: "grey: as the mask was → colour: with your edits",
    });
    const told = data.bars
      .slice(0, NAMED)
      .map((row) => `${row.label}: ${digits(row.before ?? NaN)}, now ${digits(row.after ?? NaN)}`);
    this.bars.setAttribute("aria-label", `${data.barsTitle}. ${told.join("; ")}.`);
  }
}

/** A probability as it was and is; once where four digits do not tell them apart. */
function change(before, after) {
  const [was, is] = [before, after].map((value) => digits(value ?? NaN));
  return was === is ? is : `${was} → ${is}`;
}

/** The strongest pair of a pattern, the first key and the diagonal last: where to look first. */
function strongest(values) {
  const [pair] = strongestPairs(values, 1);
  return pair ? [pair.query, pair.key] : [0, 0];
}

function quoted(label) {
  return ["“", html("bdi", {}, label), "”"];
}

function rectangle({ left, top, width, height }) {
  return `M${left} ${top}h${width}v${height}h${-width}Z`;
}

/** A stroke as the map hatches hidden cells. */
function stroke({ left, top, width, height }) {
  return `M${left} ${top + height}l${width} ${-height}`;
}

/** A diamond in a cell's upper right corner, no larger than a third of it. */
function dotIn({ left, top, width, height }) {
  const r = Math.min(DOT, width / 3, height / 3);
  const [x, y] = [left + width - r - Math.min(2, width / 9), top + Math.min(2, height / 9)];
  return `M${x} ${y}l${r} ${r}l${-r} ${r}l${-r} ${-r}Z`;
}
