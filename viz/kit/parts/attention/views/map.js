// Step by step: each stage of a head as a heat map, and the numbers of the cell under the mouse.

import { html, wordsIn } from "../../../dom.js";
import { HeatMap } from "../../../marks/heatmap.js";
import { cellAfter } from "../../../keyboard.js";
import { rowOf } from "../../../maths.js";
import { argmax } from "../../../measures.js";
import { focusable, pairsInWords } from "../../../patterns.js";
import { Formula } from "../formulas.js";
import { Operands } from "../operands.js";
import { legendOf, pictureOf, tableOf } from "../pictures.js";
import { Steps } from "../steps.js";
import { View } from "../view.js";

/** @import { OnCell } from "../../../marks/heatmap.js" */
/** @import { Drawing } from "../../../export.js" */
/** @import { Table } from "../../../patterns.js" */
/** @import { Attention } from "../../attention.js" */

const LONG = 28; // tokens from which a map needs more width than half the page
const HEIGHTS = { usual: 560, long: 660 };

/** The steps of one head, and the numbers of the cell under the mouse. */
export class MapView extends View {
  /** The dimension of z to spell out. */
  #dimension = 0;
  /** The cell in view. @type {[number, number]} */
  #at = [0, 0];

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    this.steps = new Steps(scope, this.lifetime);
    this.map = html("div", { class: "hl-map" });
    this.legend = html("p", { class: "hl-caption" });
    this.formula = new Formula();
    this.panel = html("div", { class: "hl-operands hl-cell-panel" });
    const main = html("div", { class: "hl-main" }, this.map, this.legend);
    host.append(this.steps.node, this.formula.node, main);
    this.heatMap = new HeatMap(this.map, this.lifetime, {
      point: this.#point,
      pick: this.#pick,
      leave: () => this.#rest(),
      morphs: true,
    });
    this.operands = new Operands(this.panel, (words, isAloud) => scope.say(words, isAloud));
    this.map.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @override */
  async draw() {
    const { loaded, palette, between } = this.scope;
    this.#makeRoom();
    const stage = this.steps.draw();
    this.#dimension = Math.min(this.#dimension, (loaded.head.v?.columns ?? 1) - 1);
    if (this.operands.open(loaded, between, palette)) this.formula.open(loaded);
    const { head, steps } = loaded;
    const weights = this.shownInTokens(steps.weights, head.mask.values); // stages know no words
    const picture = pictureOf(this.steps.now, { loaded, between, weights, pick: this.#pick });
    this.legend.textContent = legendOf(picture, head);
    const moves = "Arrow keys move the cell, Enter pins and unpins it.";
    focusable(this.map, `${stage} of ${this.scope.headName}. ${pairsInWords(weights)} ${moves}`);
    await this.heatMap.draw(picture, palette);
    this.#rest();
  }

  // --- cells --------------------------------------------------------------------------------------

  get #isOutput() {
    return this.steps.now === "output";
  }

  /**
   * The mouse is over a cell: show it unless one is pinned.
   *
   * @type {OnCell}
   */
  #point = (row, column) => {
    if (this.#isOutput) this.#dimension = column;
    if (!this.scope.settings.cell) this.#show(row, this.#keyOf(row, column));
    else if (this.#isOutput) this.#rest();
  };

  /**
   * The key a place stands for; in z, whose columns are dimensions, the one already in view.
   *
   * @param {number} row
   * @param {number} column
   */
  #keyOf(row, column) {
    if (!this.#isOutput) return column;
    const { head, steps } = this.scope.loaded;
    const [, key] = this.scope.cell();
    const isOpen = head.mask.values[row * head.mask.columns + key];
    return isOpen ? key : argmax(rowOf(steps.weights, row));
  }

  /**
   * Pin a cell, or unpin it.
   *
   * @type {OnCell}
   */
  #pick = (row, column) => {
    const { cell: pinned } = this.scope.settings;
    /** @type {[number, number]} */
    const cell = [row, this.#keyOf(row, column)];
    const isAgain = pinned && pinned[0] === cell[0] && pinned[1] === cell[1];
    if (isAgain) this.scope.looked = cell; // unpinned, it stays in view
    this.scope.setQuietly({ cell: isAgain ? null : cell });
    this.#rest();
    this.map.focus({ preventScroll: true });
  };

  #rest() {
    this.#show(...this.scope.cell());
  }

  /**
   * @param {number} query
   * @param {number} key
   */
  #show(query, key) {
    const { settings, loaded } = this.scope;
    const stage = this.steps.now;
    const isPinned = Boolean(settings.cell);
    const dimension = this.#dimension;
    this.#at = [query, key];
    this.heatMap.mark(query, this.#isOutput ? dimension : key, isPinned);
    this.operands.show(query, key, { isPinned, stage, dimension });
    this.formula.show(stage, { ...loaded, query, key, dimension });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const [query, key] = this.#at;
    const column = this.#isOutput ? this.#dimension : key;
    const size = this.heatMap.picture?.values ?? { rows: 1, columns: 1 };
    const to = cellAfter(event.key, [query, column], size);
    if (event.key === "Enter" || event.key === " ") this.#pick(query, column);
    else if (event.key === "Escape") this.scope.setQuietly({ cell: null });
    else if (to) this.#moveTo(to);
    else return;
    event.preventDefault();
    if (!to) this.#rest();
  }

  /**
   * Arrow keys carry a pinned cell along; else they only look.
   *
   * @param {[number, number]} place
   */
  #moveTo([row, column]) {
    if (this.#isOutput) this.#dimension = column;
    /** @type {[number, number]} */
    const cell = [row, this.#isOutput ? this.#at[1] : column];
    if (this.scope.settings.cell) this.scope.setQuietly({ cell });
    else this.scope.looked = cell;
    this.#show(...cell);
    this.scope.say(this.scope.said, true);
  }

  /** @override */
  leave() {
    this.steps.stop();
    this.panel.remove();
  }

  /** @override */
  read() {
    const { formula, legend, map, operands, heatMap } = this;
    const { buttons, says: does } = this.steps;
    const words = { stage: buttons.firstElementChild, does, legend, says: map };
    const steps = { stages: this.steps.read(), formula: formula.read() };
    return { ...wordsIn(words), ...steps, map: heatMap.read(), cell: operands.read() };
  }

  /** A long sentence gets the width for its map; the numbers then stand below the overview. */
  #makeRoom() {
    const { between, isWide, slot } = this.scope;
    const isLong = isWide && between.keys.labels.length > LONG;
    this.host.classList.toggle("hl-long", isLong);
    this.heatMap.sizes.most = isLong ? HEIGHTS.long : HEIGHTS.usual;
    const place = isLong ? slot : this.host;
    if (this.panel.parentElement !== place) place.append(this.panel);
  }

  // --- to save ------------------------------------------------------------------------------------

  /**
   * @override
   * @returns {Table | null}
   */
  table() {
    const { picture } = this.heatMap;
    return picture ? tableOf(picture, this.scope.between) : null;
  }

  /**
   * @override
   * @returns {Promise<Drawing[]>}
   */
  async drawings() {
    const caption = `${this.steps.says.textContent} ${this.scope.said}.`;
    return [{ caption, drawing: await this.heatMap.drawing() }, ...this.operands.drawings()];
  }
}
