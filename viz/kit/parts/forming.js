// Heads as they form: what each attends to on one text, at every step of a training that was kept, and
// how it differs from another step.

import { MASKED, signedByte, tileByte } from "../atlas.js";
import { button, digits, fillLists, html, moveSlider, wordsIn, select, slider } from "../dom.js";
import { pictureMenu } from "../export.js";
import { Instrument, partOf } from "../instrument.js";
import { GAP, Grid } from "../marks/grid.js";
import { HeatMap } from "../marks/heatmap.js";
import { matrix } from "../maths.js";
import { WEIGHTS, pictured, weightAt } from "../patterns.js";
import { headName } from "../names.js";

/** @import { Place } from "../instrument.js" */
/** @import { At } from "../marks/grid.js" */
/** @import { InstrumentData } from "../wire.js" */

/**
 * @typedef {object} FormingFields
 * @property {string} text
 * @property {number[]} steps
 * @property {{queries: string[], keys: string[]}} labels
 * @property {{queries: string[], keys: string[]}} axis the same for Plotly
 * @property {boolean} is_self whether queries and keys are one text
 * @property {number} n_layers
 * @property {number} n_heads
 * @property {{step: number, against: number, head: string}} settings
 */

/** @typedef {InstrumentData & FormingFields} FormingData */

const MARGIN = { left: 30, top: 22, beside: 4 };
const TILE = { least: 24, most: 190 }; // pixels of a small map’s width
const MAP_HEIGHT = 460;
const TURN_MS = 450; // from a step to the next, while it plays
const CHANGES = { name: "change of attention weight", low: -1, high: 1, signed: true };

/** @extends {Instrument<FormingData>} */
export class Forming extends Instrument {
  /** @override */
  static needs = ["mask", "steps"];

  /** The number of the step on screen while it plays. @type {number | null} */
  #playing = null;
  #pause = () => {};
  #turn = 0;
  /** Of every head on screen, (layers · heads · queries · keys). @type {Float32Array} */
  #values = new Float32Array();
  /** What a person points at. @type {string} */
  #pointed = "";

  /** @param {Place} place */
  constructor(place) {
    super(place);
    const show = (/** @type {number} */ at) => this.data?.steps[at].toLocaleString("en") ?? "";
    const field = { bounds: { low: 0, high: 0, step: 1 }, value: 0, show };
    this.step = slider("Step", field, (at) => this.#goTo(at));
    this.play = button("Play", () => (this.#playing === null ? this.#begin() : this.#end()));
    this.since = html("div");
    this.controls = html("div", { class: "hl-row" }, this.step, this.play, this.since);
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.grid = new Grid("hl-overview", MARGIN, {
      point: (at) => this.#point(at),
      pick: ({ layer, head }) => {
        if (layer !== undefined && head !== undefined) this.#pick(layer, head);
      },
      step: ([down, right]) => this.#move(down, right),
    });
    this.heads = html("div", { class: "hl-all-heads" }, this.grid.node);
    this.title = html("h3");
    this.cell = html("p", { class: "hl-caption" });
    this.host = html("div");
    this.map = new HeatMap(this.host, this.lifetime, {
      most: MAP_HEIGHT,
      point: (row, column) => this.#say(row, column),
      leave: () => this.#say(),
    });
    const large = html("section", { class: "hl-main" }, this.title, this.host, this.cell);
    const both = html("div", { class: "hl-forming" }, this.heads, large);
    const saves = pictureMenu(() => this.#shown, this.cell);
    place.el.replaceChildren(this.controls, this.says, both, saves);
    this.lifetime.watchSize(this.heads, () => this.#values.length && this.#drawGrid());
  }

  /**
   * What Python says, with the steps.
   *
   * @override
   */
  get spec() {
    return { ...super.spec, steps: [...this.arrays.steps.values] };
  }

  /** The number of the step on screen. */
  get at() {
    const { steps } = this.data;
    const found = this.#playing ?? steps.indexOf(this.settings.step);
    return found in steps ? found : steps.length - 1;
  }

  /** The number of the step that is taken away; −1 for none. */
  get #before() {
    return this.data.steps.indexOf(this.settings.against);
  }

  /** The layer and the head that are large. */
  get head() {
    const { n_layers, n_heads } = this.data;
    const [, layer, head] = /^(\d+)\.(\d+)$/.exec(this.settings.head)?.map(Number) ?? [];
    return layer < n_layers && head < n_heads ? [layer, head] : [0, 0];
  }

  /** @override */
  redraw() {
    return this.lifetime.busy(this.#draw());
  }

  async #draw() {
    const turn = ++this.#turn;
    const [at, before] = [this.at, this.#before];
    const wanted = [at, before].filter((i) => i >= 0).map((i) => this.model.load("patterns", i));
    const [now, then] = await Promise.all(wanted);
    if (turn !== this.#turn || this.lifetime.isOver) return;
    this.#values = Float32Array.from(now.values, (x, i) => x - (then ? then.values[i] : 0));
    this.#drawControls(at);
    this.#drawGrid();
    await this.#drawMap();
  }

  /** @param {number} at */
  #drawControls(at) {
    const { steps } = this.data;
    const said = steps.map((step) => step.toLocaleString("en"));
    this.controls.hidden = steps.length < 2;
    moveSlider(this.step, at, { words: said[at], high: steps.length - 1 });
    this.play.textContent = this.#playing === null ? "Play" : "Stop";
    /** @type {[number, string][]} */
    const options = [[-1, "no step"]];
    steps.forEach((step, i) => options.push([step, `step ${said[i]}`]));
    const pick = (/** @type {string} */ step) => this.set({ against: Number(step) });
    fillLists(this.since, said.join(), () => [select("Change since", options, pick)], [
      this.#before < 0 ? -1 : this.settings.against,
    ]);
    this.#speak();
  }

  /** What is on screen, and of what a person points at its name. */
  #speak() {
    const { text, is_self } = this.data;
    const what = is_self
      ? `Attention of every head on “${text}”`
      : `What each token of the target attends to by every head, source: “${text}”`;
    this.says.textContent = `${what}: ${this.#when}${this.#pointed}`;
  }

  get #when() {
    const [now, then] = [this.at, this.#before].map((i) =>
      this.data.steps[i]?.toLocaleString("en"),
    );
    return then === undefined ? `step ${now}` : `step ${now} − step ${then}`;
  }

  get #isChange() {
    return this.#before >= 0;
  }

  #drawGrid() {
    const { n_layers, n_heads, labels } = this.data;
    const [rows, columns] = [labels.queries.length, labels.keys.length];
    const hidden = this.#hidden;
    const byteOf = this.#isChange ? signedByte : tileByte;
    const bytes = Uint8Array.from(this.#values, (value, i) =>
      hidden[i % hidden.length] ? MASKED : byteOf(value),
    );
    const [ratio, right] = [Math.min(Math.max(rows / columns, 1 / 2), 2), this.heads.clientWidth];
    const room = (right - MARGIN.left - MARGIN.beside) / n_heads - GAP;
    const wide = Math.min(TILE.most, room, MAP_HEIGHT / n_layers / ratio);
    const x = Math.max(TILE.least, wide) + GAP;
    const y = (x - GAP) * ratio + GAP;
    const tiles = { shape: [n_layers * n_heads, rows, columns], bytes };
    const codes = { masked: MASKED, isSigned: this.#isChange };
    this.grid.build({ tiles, n_layers, n_heads }, codes, this.palette, { x, y });
    const [layer, head] = this.head;
    this.grid.frame([layer, head]);
    const label = `Every head at ${this.#when}; arrow keys choose one, ${headName(layer, head)} is large.`;
    this.grid.node.setAttribute("aria-label", label);
  }

  /** 1 where a query must not attend. */
  get #hidden() {
    return Uint8Array.from(this.arrays.mask.values, (isAllowed) => Number(!isAllowed));
  }

  /** The pattern of the head that is large, and where it is masked. */
  get shown() {
    const { labels, n_heads } = this.data;
    const [rows, columns] = [labels.queries.length, labels.keys.length];
    const [layer, head] = this.head;
    const from = (layer * n_heads + head) * rows * columns;
    const values = this.#values.subarray(from, from + rows * columns);
    return { values: matrix(rows, columns, values), hidden: this.#hidden };
  }

  async #drawMap() {
    const [layer, head] = this.head;
    const { axis } = this.data;
    this.title.textContent = `${headName(layer, head)}: ${this.#when}`;
    pictured(this.host, this.title.textContent);
    this.#say();
    const names = { rowLabels: axis.queries, columnLabels: axis.keys };
    const titles = { rowTitle: "query", columnTitle: "key" };
    const scale = this.#isChange ? CHANGES : WEIGHTS;
    await this.map.draw({ ...this.shown, ...names, ...titles, scale }, this.palette);
  }

  /**
   * Say a cell of the large map; without one, what a person can do.
   *
   * @param {number} [row]
   * @param {number} [column]
   */
  #say(row, column) {
    const { labels } = this.data;
    if (row === undefined || column === undefined) {
      this.cell.textContent = "A click on a small map, or the arrow keys, makes another one large.";
      return;
    }
    const { shown } = this;
    const at = row * labels.keys.length + column;
    const change = shown.values.values[at];
    const value =
      this.#isChange && !shown.hidden[at]
        ? `${change > 0 ? "+" : ""}${digits(change)} since step ${this.settings.against.toLocaleString("en")}`
        : weightAt(shown, row, column);
    this.cell.textContent = `${labels.queries[row]} attends to ${labels.keys[column]}: ${value}`;
  }

  /** @param {At} at */
  #point({ layer, head }) {
    const isHead = layer !== undefined && head !== undefined;
    this.#pointed = isHead ? ` · ${headName(layer, head)}` : "";
    if (this.data) this.#speak();
  }

  /**
   * @param {number} layer
   * @param {number} head
   */
  #pick(layer, head) {
    this.set({ head: `${layer}.${head}` });
  }

  /**
   * @param {number} down
   * @param {number} right
   */
  #move(down, right) {
    const { n_layers, n_heads } = this.data;
    const [layer, head] = this.head;
    const within = (/** @type {number} */ i, /** @type {number} */ n) =>
      Math.min(Math.max(i, 0), n - 1);
    this.#pick(within(layer + down, n_layers), within(head + right, n_heads));
  }

  /** @param {number} at */
  #goTo(at) {
    this.#end();
    this.set({ step: this.data.steps[at] });
  }

  /** Show one step after the other, from the first where the last is on screen. */
  #begin() {
    const last = this.data.steps.length - 1;
    this.#playing = this.at === last ? 0 : this.at;
    this.#pause = this.lifetime.interval(() => {
      if (this.#playing === null || this.#playing >= last) return this.#end();
      this.#playing += 1;
      this.redraw();
    }, TURN_MS);
    this.redraw();
  }

  /** Stay where it is. */
  #end() {
    if (this.#playing === null) return;
    const { at } = this;
    this.#pause();
    this.#playing = null;
    this.set({ step: this.data.steps[at] });
  }

  /** What is saved. @returns {import("../export.js").Saved} */
  get #shown() {
    const { says, grid, title, map, palette, head } = this;
    const name = `forming-l${head[0]}-h${head[1]}-step-${this.data.steps[this.at]}`;
    return {
      ...{ name, title: "Heads as they form", palette },
      shows: [
        [says.textContent, grid.node],
        [title.textContent, map],
      ],
    };
  }

  /** What is on screen, by names. */
  read() {
    const { step, since, says, title, cell, grid, map } = this;
    const words = wordsIn({ step, since: since.firstElementChild, says, title, cell });
    return { ...words, heads: grid.read(), map: map.read() };
  }
}

export default partOf("forming", Forming);
