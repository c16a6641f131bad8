// Step by step: each stage of a head as a heat map, and the numbers of the cell under the mouse.

import { button, check, fillOnce, html, radios } from "../../../dom.js";
import { HeatMap } from "../../../marks/heatmap.js";
import { cellAfter } from "../../../keyboard.js";
import { rowOf } from "../../../maths.js";
import { argmax } from "../../../measures.js";
import { FIRST_HIDDEN, focusable, pairsInWords } from "../../../patterns.js";
import { Formula } from "../formulas.js";
import { Operands } from "../operands.js";
import { pictureOf, worded } from "../pictures.js";
import { View } from "../view.js";

/** @import { StepName } from "../../../maths.js" */
/** @import { Drawing, Table } from "../../../patterns.js" */
/** @import { Palette } from "../../../wire.js" */
/** @import { Head } from "../../../run.js" */
/** @import { Attention, Step } from "../../attention.js" */

const LONG = 28; // tokens from which a map needs more width than half the page
const HEIGHTS = { usual: 560, long: 660 };
const PLAY_MS = 2000;
const BARS = "Bars: right, row entropy; below, total attention received.";
const CITED = "Formula: Vaswani et al. 2017, eq. 1.";
/** @type {Record<string, string>} */
const MORE_CITED = {
  capped: "Soft cap: Gemma 2 (2024), §2.",
  sunk: "Sink: Xiao et al. 2024, §3.3.",
};
const PLAY = "▶ Play";
const STOP = "■ Stop";

/** The steps of one head, and the numbers of the cell under the mouse. */
export class MapView extends View {
  /** The dimension of z to spell out. */
  #dimension = 0;
  /** The cell in view. @type {[number, number]} */
  #at = [0, 0];
  /** What the panel is laid out for. @type {[Head, Palette] | null} */
  #openFor = null;
  /** @type {(() => void) | null} */
  #stopPlaying = null;

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    this.stages = html("div");
    this.playButton = button(PLAY, () => this.play());
    this.says = html("p", { class: "hl-caption hl-says" });
    this.map = html("div", { class: "hl-map" });
    this.legend = html("p", { class: "hl-caption" });
    this.formula = new Formula();
    this.panel = html("div", { class: "hl-operands hl-cell-panel" });
    const label = { class: "hl-row hl-stages" };
    const controls = html("div", label, this.stages, this.playButton, this.says);
    const main = html("div", { class: "hl-main" }, this.map, this.legend);
    host.append(controls, this.formula.node, main);
    this.heatMap = new HeatMap(this.map, this.lifetime, {
      point: (row, column) => this.#point(row, column),
      pick: (row, column) => this.#pick(row, column),
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
    const stage = this.#drawStages(loaded);
    this.says.textContent = stage.says;
    this.#dimension = Math.min(this.#dimension, (loaded.head.v?.columns ?? 1) - 1);
    if (this.#openFor?.[0] !== loaded || this.#openFor[1] !== palette) {
      this.operands.open({ ...loaded, ...between }, palette);
      this.formula.open(loaded);
    }
    this.#openFor = [loaded, palette];
    const weights = this.#weights();
    const picture = pictureOf(this.#stage, {
      ...{ loaded, between, weights },
      pick: (row, column) => this.#pick(row, column),
    });
    const hidden = picture.blank?.some(Boolean) ? FIRST_HIDDEN : "";
    const bars = picture.sides ? BARS : "";
    const cited = loaded.head.stages.map((name) => MORE_CITED[name]);
    this.legend.textContent = [bars, hidden, CITED, ...cited].filter(Boolean).join(" ");
    const pairs = pairsInWords(weights);
    focusable(
      this.map,
      `${stage.text} of ${this.scope.headName}. ${pairs} Arrow keys move the cell, Enter pins and unpins it.`,
    );
    await this.heatMap.draw(picture, palette);
    this.#rest();
  }

  /** The stage on screen: the chosen one, where this head has it. @returns {StepName} */
  get #stage() {
    const { settings, loaded } = this.scope;
    return settings.stage in loaded.steps ? settings.stage : "weights";
  }

  /**
   * The buttons of the stages that a head has, the chosen one checked.
   *
   * @param {Head} loaded
   * @returns {Step} the chosen one
   */
  #drawStages({ head, steps }) {
    const there = this.scope.data.stages.filter(({ name }) => name in steps);
    const stages = there.map((stage) => worded(stage, head));
    fillOnce(this.stages, JSON.stringify(stages), () => {
      const options = stages.map(({ name, text, says }) => ({ value: name, text, title: says }));
      /** @param {string} stage */
      const pick = (stage) => this.scope.set({ stage: /** @type {StepName} */ (stage) });
      return [radios("hl-stage", "Stage", options, "", pick)];
    });
    check(this.stages, this.#stage);
    return stages.find(({ name }) => name === this.#stage) ?? stages[0];
  }

  /** The weights between tokens: stages know no words. */
  #weights() {
    const { head, steps } = this.scope.loaded;
    return this.shownInTokens(steps.weights, head.mask.values);
  }

  // --- cells --------------------------------------------------------------------------------------

  get #isOutput() {
    return this.#stage === "output";
  }

  /**
   * The mouse is over a cell: show it unless one is pinned.
   *
   * @param {number} row
   * @param {number} column
   */
  #point(row, column) {
    if (this.#isOutput) this.#dimension = column;
    if (!this.scope.settings.cell) this.#show(row, this.#keyOf(row, column));
    else if (this.#isOutput) this.#rest();
  }

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
   * @param {number} row
   * @param {number} column
   */
  #pick(row, column) {
    const { cell: pinned } = this.scope.settings;
    /** @type {[number, number]} */
    const cell = [row, this.#keyOf(row, column)];
    const isAgain = pinned && pinned[0] === cell[0] && pinned[1] === cell[1];
    if (isAgain) this.scope.looked = cell; // unpinned, it stays in view
    this.scope.setQuietly({ cell: isAgain ? null : cell });
    this.#rest();
    this.map.focus({ preventScroll: true });
  }

  #rest() {
    this.#show(...this.scope.cell());
  }

  /**
   * @param {number} query
   * @param {number} key
   */
  #show(query, key) {
    const { settings, loaded } = this.scope;
    const stage = this.#stage;
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

  // --- play ---------------------------------------------------------------------------------------

  /** Go through all stages, or stop. */
  play() {
    if (this.#stopPlaying) return this.#stop();
    const { steps } = this.scope.loaded;
    const stages = this.scope.data.stages.filter(({ name }) => name in steps);
    this.playButton.textContent = STOP;
    this.scope.set({ stage: stages[0].name });
    let at = 0;
    this.#stopPlaying = this.lifetime.interval(() => {
      at += 1;
      if (at >= stages.length) this.#stop();
      else this.scope.set({ stage: stages[at].name });
    }, PLAY_MS);
  }

  #stop() {
    this.#stopPlaying?.();
    this.#stopPlaying = null;
    this.playButton.textContent = PLAY;
  }

  /** @override */
  leave() {
    this.#stop();
    this.panel.remove();
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
    if (!picture) return null;
    const { queries, keys } = this.scope.between;
    const corner = `${picture.rowTitle} \\ ${picture.columnTitle}`;
    const columns = this.#isOutput ? null : keys.labels;
    return { values: picture.values, rows: queries.labels, columns, corner };
  }

  /**
   * @override
   * @returns {Promise<Drawing[]>}
   */
  async drawings() {
    const caption = `${this.says.textContent} ${this.scope.said}.`;
    return [{ caption, drawing: await this.heatMap.svgText() }, ...this.operands.drawings()];
  }
}
