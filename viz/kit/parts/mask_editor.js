// The mask editor: one head's pattern under a mask whose cells a person turns over, and what the model,
// run again under that mask, says next. A weight on screen is always the model's for these edits;
// until it has answered, the figures are dimmed.

import { button, html, radios, wordsIn, svg } from "../dom.js";
import { ZOOMED_FROM } from "../figure.js";
import { Instrument, partOf } from "../instrument.js";
import { cellAfter, within } from "../keyboard.js";
import { TokenBars } from "../marks/bars.js";
import { HeatMap } from "../marks/heatmap.js";
import { matrix } from "../maths.js";
import { strongestPairs } from "../measures.js";
import { WEIGHTS, focusable, pairsInWords, shownPattern } from "../patterns.js";
import * as edits from "../edits.js";
import { editMarks } from "./mask_editor/marks.js";
import { drawNext } from "./mask_editor/next_tokens.js";
import { keepFingers, paintFrom } from "./mask_editor/painting.js";
import { RUNNING, cellInWords, editsInWords, emptyRowsInWords } from "./mask_editor/words.js";

/** @import { Place } from "../instrument.js" */
/** @import { Cell } from "../keyboard.js" */
/** @import { Matrix } from "../maths.js" */
/** @import { InstrumentData, Stream } from "../wire.js" */

/**
 * What the mask editor is told: of bars the probabilities under the mask as it was and under the edited
 * one, where a broken number is null. `edits` names the cells that differ from the mask as it was,
 * query-key: 3-1.5-2, and `edits_of` which mask that was.
 *
 * @typedef {object} MaskEditorFields
 * @property {string} head its name
 * @property {Stream} stream the tokens on both sides
 * @property {{label: string, before: number | null, after: number | null}[]} bars
 * @property {string} bars_title
 * @property {{edits: string, edits_of?: string}} settings
 */

/** @typedef {InstrumentData & MaskEditorFields} MaskEditorData */

const LEGEND = "grey: as the mask was → colour: with your edits";
const QUIET_MS = 20; // a click is meant at once; moves of a painting mouse come closer than this
const NOT_HERE =
  "No model runs here: what it does under another mask is shown where Headlight itself runs.";

/** @extends {Instrument<MaskEditorData>} */
export class MaskEditor extends Instrument {
  /** @override */
  static needs = ["pattern", "mask", "base"];
  /** The marked cell. @type {Cell} */
  #at = [0, 0];
  #hasMark = false;
  #rows = 0;
  #columns = 0;
  /**
   * The tokens of both axes; the same as long as the key is, so that labels stay as drawn.
   *
   * @type {Stream}
   */
  #stream;
  /** The mask as it was. */
  #base = new Uint8Array();
  /** @type {Set<number>} */
  #edits = new Set();
  /** The mask as edited. */
  #mask = new Uint8Array();
  /** What is on screen. @type {{data: MaskEditorData, values: Matrix} | null} */
  #shown = null;
  #isPainting = false;
  /** Whether the next answer is to be read aloud. */
  #isSpeaking = false;

  /** @param {Place} place */
  constructor(place) {
    super(place, QUIET_MS);
    const { root } = this;
    this.title = html("h2");
    this.waits = html("span", { class: "hl-caption hl-wait" }, RUNNING);
    this.spoken = html("p", { class: "hl-hidden", "aria-live": "polite" });
    this.map = html("div", { class: "hl-map hl-editable" });
    this.said = html("p", { class: "hl-said" });
    this.changed = html("p", { class: "hl-caption", "data-edits": "" });
    this.empty = html("p", { class: "hl-caption", "data-empty": "" });
    this.marks = svg("svg", { class: "hl-sides hl-edits", "aria-hidden": "true" });
    this.resetButton = button("Reset", () => this.#change(new Set()), { "data-do": "reset" });
    this.rowButton = button("", () => this.#turnLine(this.#line(0)), { "data-do": "row" });
    this.keyButton = button("", () => this.#turnLine(this.#line(1)), { "data-do": "key" });
    this.drag = this.#makeDrag();
    this.heatMap = this.#makeMap();
    this.nextTitle = html("h3");
    this.bars = new TokenBars();
    this.next = html("section", { class: "hl-operands", "aria-label": "Next tokens" });
    this.legend = html("p", { class: "hl-caption" }, LEGEND);
    this.next.append(this.nextTitle, this.bars.node, this.legend, this.changed, this.empty);
    const editor = html("div", { class: "hl-mask-editor" }, this.#layoutMap(), this.next);
    root.replaceChildren(this.spoken, editor);
  }

  #makeDrag() {
    const options = [
      { name: "paint", text: "Drag paints" },
      { name: "zoom", text: "Drag zooms" },
    ];
    return radios("hl-drag", "Dragging the mouse", options, "paint", (value) => {
      this.heatMap.sizes.drag = value === "zoom" ? "zoom" : false;
      const { picture } = this.heatMap;
      if (picture) this.heatMap.draw(picture, this.palette);
    });
  }

  #makeMap() {
    const heatMap = new HeatMap(this.map, this.lifetime, {
      point: (row, column) => this.#show([row, column]),
      pick: (row, column) => this.#clicked([row, column]),
      leave: () => this.#rest(),
      over: () => this.#showEdits(),
      name: (axis, i) => this.#moveTo(axis === "row" ? [i, this.#at[1]] : [this.#at[0], i]),
      drag: false,
    });
    heatMap.guides[0].before(this.marks);
    this.map.addEventListener("pointerdown", (event) => this.#pressed(event), true);
    keepFingers(this.map, heatMap);
    this.map.addEventListener("keydown", (event) => this.#key(event));
    return heatMap;
  }

  #layoutMap() {
    const head = html("div", { class: "hl-row hl-head-row" }, this.title, this.waits);
    const buttons = html("div", { class: "hl-row" });
    if (this.model.isLive) buttons.append(this.resetButton, this.rowButton, this.keyButton);
    else buttons.append(html("p", { class: "hl-caption" }, NOT_HERE));
    buttons.append(this.drag);
    const label = { class: "hl-main", "aria-label": "The mask and the pattern" };
    return html("section", label, head, buttons, this.said, this.map);
  }

  // --- what Python sends --------------------------------------------------------------------------

  /**
   * Take a run of the model; edits Python has not acknowledged stay.
   *
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    if (isNew) this.#stream = this.data.stream;
    const { pattern, mask, base } = this.arrays;
    const [rows, columns] = pattern.shape;
    const values = matrix(rows, columns, pattern.values);
    [this.#rows, this.#columns] = [rows, columns];
    this.#base = Uint8Array.from(base.values);
    const [{ query, key } = { query: 0, key: 0 }] = strongestPairs(values, 1); // to look at first
    this.#at = within(this.#hasMark ? this.#at : [query, key], { rows, columns });
    this.#hasMark = true;
    this.#edits = edits.readEdits(this.settings.edits, rows, columns);
    this.#mask = edits.flipped(this.#base, this.#edits);
    this.#drawAnswer(this.data, values, mask.values);
  }

  /**
   * Draw the model's numbers; they count as shown once all are on screen.
   *
   * @param {MaskEditorData} data
   * @param {Matrix} values
   * @param {import("../maths.js").Numbers} mask
   */
  async #drawAnswer(data, values, mask) {
    const sides = { queries: this.#stream, keys: this.#stream };
    const titles = { kind: /** @type {const} */ ("self"), rowTitle: "query", columnTitle: "key" };
    const shown = shownPattern(values, mask, { ...sides, ...titles });
    const picture = { ...shown, revision: data.key };
    this.#settle();
    try {
      await this.heatMap.draw({ ...picture, scale: WEIGHTS }, this.palette);
    } catch (error) {
      this.changed.textContent = error instanceof Error ? error.message : String(error);
      return;
    }
    if (data !== this.data || this.lifetime.isOver) return; // a newer answer is being drawn
    this.#shown = { data, values };
    this.title.textContent = `${data.head} under this mask`;
    this.drag.hidden = this.#columns <= ZOOMED_FROM;
    const says = `Pattern of ${data.head}. ${pairsInWords(picture)}`;
    const edit = this.model.isLive ? ", Space or Enter hides or shows it" : "";
    focusable(this.map, `${says} Arrow keys move the cell${edit}.`);
    this.nextTitle.textContent = data.bars_title;
    this.legend.hidden = !data.bars.length;
    drawNext(this.bars, data);
    this.#settle();
  }

  /** Whether the numbers on screen are not, or not yet, those for the edits a person sees. */
  get #isWaiting() {
    return this.#shown?.data !== this.data || this.settings.edits !== this.data.settings.edits;
  }

  /** Everything that depends on the edits and on whether the model has answered them. */
  #settle() {
    const isWaiting = this.#isWaiting;
    this.root.toggleAttribute("data-waiting", isWaiting);
    this.#showEdits();
    this.#showWords();
    this.#rest();
    if (isWaiting || !this.#isSpeaking) return;
    this.#isSpeaking = false;
    this.#say();
  }

  // --- edits --------------------------------------------------------------------------------------

  /**
   * Show or hide cells, given as places in the matrix.
   *
   * @param {number[]} cells
   * @param {boolean} isShown
   */
  #turn(cells, isShown) {
    this.#change(edits.editedWith(this.#edits, this.#base, cells, isShown));
  }

  /** @param {Set<number>} changed */
  #change(changed) {
    if (!this.model.isLive) return;
    const text = edits.writtenEdits(changed, this.#columns);
    if (text === edits.writtenEdits(this.#edits, this.#columns)) return;
    this.#edits = changed;
    this.#mask = edits.flipped(this.#base, changed);
    // With what they are edits of, should another map be on its way.
    this.setQuietly({ edits: text, edits_of: this.data.settings.edits_of });
    this.#settle();
  }

  /**
   * The cells of the row, or of the column, that the marked one is in.
   *
   * @param {0 | 1} side
   */
  #line(side) {
    const length = side ? this.#rows : this.#columns;
    return Array.from({ length }, (_, i) =>
      this.#place(side ? [i, this.#at[1]] : [this.#at[0], i]),
    );
  }

  /**
   * A cell's place in the matrix.
   *
   * @param {Cell} cell
   */
  #place([row, column]) {
    return row * this.#columns + column;
  }

  /** @param {number[]} cells */
  #isHidden(cells) {
    return cells.every((i) => !this.#mask[i]);
  }

  /**
   * Hide a row or a column; one that is hidden becomes as it was before all edits.
   *
   * @param {number[]} cells
   */
  #turnLine(cells) {
    if (!this.#isHidden(cells)) return this.#turn(cells, false);
    const inLine = new Set(cells);
    this.#change(new Set([...this.#edits].filter((i) => !inLine.has(i))));
  }

  #flip() {
    const i = this.#place(this.#at);
    this.#turn([i], !this.#mask[i]);
  }

  // --- pointer ------------------------------------------------------------------------------------

  /**
   * Mouse, pen or finger turn the cell over and paint what they pass. Where the browser takes a
   * finger for something else, such as a second one to zoom, nothing was painted.
   *
   * @param {PointerEvent} event
   */
  #pressed(event) {
    this.#isPainting = false;
    const isFirst = event.button === 0 && event.isPrimary && this.model.isLive;
    const cell = isFirst && this.heatMap.cellAt(event);
    if (!cell || this.heatMap.sizes.drag === "zoom") return;
    this.#isPainting = true;
    this.map.focus({ preventScroll: true });
    this.#at = [cell.row, cell.column];
    const before = this.#edits;
    const isShown = !this.#mask[this.#place(this.#at)];
    this.#turn([this.#place(this.#at)], isShown);
    /** @param {{row: number, column: number}[]} passed */
    const paint = (passed) => {
      const cells = passed.map(({ row, column }) => /** @type {Cell} */ ([row, column]));
      this.#at = cells[cells.length - 1];
      this.#turn(
        cells.map((each) => this.#place(each)),
        isShown,
      );
      this.#rest();
    };
    paintFrom(this.heatMap, this.lifetime, cell, paint, () => this.#change(before));
  }

  /** @param {Cell} cell */
  #clicked(cell) {
    if (this.#isPainting) return; // turned over when it was pressed
    this.#moveTo(cell);
    this.#flip();
  }

  // --- keyboard -----------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event */
  #key(event) {
    const to = cellAfter(event.key, this.#at, { rows: this.#rows, columns: this.#columns });
    if (to) this.#moveTo(to);
    else if (event.key === "Enter" || event.key === " ") {
      this.#isSpeaking = true; // the answer is worth hearing
      this.#flip();
      this.#say();
    } else return;
    event.preventDefault();
  }

  /** @param {Cell} cell */
  #moveTo(cell) {
    this.#at = within(cell, { rows: this.#rows, columns: this.#columns });
    this.#rest();
    this.#showButtons();
    this.#say();
  }

  #say() {
    const words = this.said.textContent;
    if (this.spoken.textContent !== words) this.spoken.textContent = words;
  }

  // --- words and marks ----------------------------------------------------------------------------

  #rest() {
    this.#show(this.#at);
  }

  /**
   * Frame a cell and say what is in it.
   *
   * @param {Cell} cell
   */
  #show(cell) {
    const [row, column] = cell;
    this.heatMap.mark(row, column, row === this.#at[0] && column === this.#at[1]);
    const weight = this.#isWaiting ? undefined : this.#shown?.values.values[this.#place(cell)];
    const isHidden = !this.#mask[this.#place(cell)];
    const what = { isHidden, isEdited: this.#edits.has(this.#place(cell)), weight };
    this.said.replaceChildren(...cellInWords(this.#stream, cell, what));
    this.said.dataset.pair = cell.join("-");
  }

  #showWords() {
    this.changed.hidden = !this.model.isLive && !this.#edits.size;
    this.changed.replaceChildren(...editsInWords(this.#stream, this.#mask, this.#edits));
    const rows = edits.emptyRows(this.#mask, this.#columns);
    this.empty.replaceChildren(...emptyRowsInWords(this.#stream, rows));
    this.empty.hidden = !rows.length;
    this.#showButtons();
  }

  #showButtons() {
    const lines = /** @type {const} */ ([
      [this.rowButton, "Restore this row: ", "Mask whole row: "],
      [this.keyButton, "Restore this key for all queries: ", "Mask this key for all queries: "],
    ]);
    lines.forEach(([node, restore, mask], side) => {
      const isHidden = this.#isHidden(this.#line(side ? 1 : 0));
      const label = html("bdi", null, this.#stream.labels[this.#at[side]]);
      node.replaceChildren(isHidden ? restore : mask, label);
    });
    this.resetButton.setAttribute("aria-disabled", String(!this.#edits.size)); // it keeps the focus
  }

  /** A mark on every edited cell; over cells the model has not answered yet, hatching or nothing. */
  #showEdits() {
    const hidden = this.heatMap.picture?.hidden;
    if (hidden?.length !== this.#mask.length) return; // the map of a new sentence is being drawn
    const marks = editMarks(this.#mask, hidden, this.#edits, (i) =>
      this.heatMap.boxOf(Math.floor(i / this.#columns), i % this.#columns),
    );
    this.marks.replaceChildren(...marks);
  }

  read() {
    const { title, waits, said: cell, spoken, changed, empty, map: says } = this;
    const words = wordsIn({ title, waits, says, cell, spoken, changed, empty });
    return { ...words, map: this.heatMap.read(), next: this.bars.read() };
  }
}

export default partOf("mask_editor", MaskEditor);
