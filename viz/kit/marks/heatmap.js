// A Plotly heat map that says which cell the mouse is on, at the speed of the mouse: Plotly's own hover
// reports at most twenty times a second, so the cell is found from its axes here.

import { html, setAll, svg, wordsIn } from "../dom.js";
import { readBands, slant } from "../looks.js";
import {
  ZOOMED_FROM,
  sideLength,
  isInside,
  layout,
  shownLabels,
  span,
  traces,
  unnamed,
} from "../figure.js";
import { cellsOf, fade, haveSameCells, putAt } from "../morph.js";
import { whyHidden } from "../patterns.js";
import { NO_CLOUD, loadPlotly } from "../plotly.js";
import { enlargement, roomOnWall } from "../wall.js";

/** @import { Frame, Picture, SideBar, Sizes } from "../figure.js" */
/** @import { Lifetime } from "../lifetime.js" */
/** @import { Chart, DrawnLayout } from "../plotly.js" */
/** @import { Palette } from "../wire.js" */

const CLICK_SLACK = 4; // pixels a mouse may move between down and up in a click

/** @typedef {(row: number, column: number) => void} OnCell */

/**
 * What a map reports. `point`, `pick` and `leave` are of the mouse on cells, `name` is a click on a
 * label, `over` says that the cells have moved on the screen.
 *
 * @typedef {object} Options
 * @property {OnCell} [point]
 * @property {OnCell} [pick]
 * @property {() => void} [leave]
 * @property {() => void} [over]
 * @property {(axis: "row" | "column", i: number) => void} [name]
 * @property {number} [most] pixels of the height
 * @property {"zoom" | false} [drag]
 * @property {boolean} [morphs] whether a picture of the same cells fades into the next one
 */

// Pixels between the middle of a row or a column and where its label stands.
const [ROW_DOWN, COLUMN_RIGHT] = [4, 3];

export class HeatMap {
  /** What is drawn. @type {Picture | undefined} */
  picture;
  /** @type {Palette} */
  palette;
  /** @type {Frame} */
  #frame;
  #width = 0;
  #listens = false;
  /** What the names on screen depend on. @type {unknown[]} */
  #named = [];
  /** @type {[row: number | null, column: number, isPinned: boolean] | undefined} */
  #marked;
  /** @type {Promise<unknown>} */
  #drawing = Promise.resolve();

  /**
   * @param {HTMLElement} host
   * @param {Lifetime} lifetime
   * @param {Options} [options]
   */
  constructor(host, lifetime, options = {}) {
    const { most = 560, drag, over = () => {}, name, morphs = false } = options;
    this.host = host;
    this.lifetime = lifetime;
    this.over = over;
    this.name = name;
    this.morphs = morphs;
    /** @type {Sizes} */
    this.sizes = { most, drag };
    this.chart = /** @type {Chart} */ (
      /** @type {HTMLElement} */ (html("div", { class: "hl-chart", translate: "no" }))
    );
    this.guides = ["row", "column", "cell"].map((kind) =>
      html("div", { class: `hl-guide hl-guide-${kind}`, hidden: true }),
    );
    this.why = html("div", { class: "hl-guide hl-guide-why", hidden: true });
    this.sides = svg("svg", { class: "hl-sides", "aria-hidden": "true" });
    this.names = svg("svg", { class: "hl-sides hl-names", "aria-hidden": "true" });
    host.classList.add("hl-map");
    host.append(this.chart, this.names, this.sides, ...this.guides, this.why);
    this.#listen(options);
    lifetime.watchSize(host, () => this.#resized());
    lifetime.keep(() => this.#purge());
  }

  /** @param {Options} options */
  #listen({ point, pick, leave }) {
    const { host } = this;
    /** @type {(event: PointerEvent, report: OnCell) => void} */
    const tell = (event, report) => {
      const cell = this.cellAt(event);
      if (cell) report(cell.row, cell.column);
    };
    if (point) host.addEventListener("pointermove", (event) => tell(event, point));
    if (leave) host.addEventListener("pointerleave", leave);
    if (!pick) return;
    /** @param {PointerEvent} down */
    const pressed = (down) => {
      /** @param {PointerEvent} up */
      const released = (up) => {
        const way = Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY);
        if (way <= CLICK_SLACK) tell(up, pick);
      };
      this.lifetime.listen(window, "pointerup", released, { capture: true, once: true });
    };
    host.addEventListener("pointerdown", pressed, true);
  }

  /**
   * Draw a picture; the promise ends when it is on screen.
   *
   * @param {Picture} picture
   * @param {Palette} palette
   */
  draw(picture, palette) {
    return this.lifetime.busy(this.#react(picture, palette));
  }

  /**
   * @param {Picture} picture
   * @param {Palette} palette
   */
  async #react(picture, palette) {
    const Plotly = await loadPlotly();
    if (this.lifetime.isOver) return;
    const canMorph = this.morphs && haveSameCells(this.picture, picture);
    const before = canMorph ? cellsOf(this.chart) : null;
    this.picture = picture;
    this.palette = palette;
    this.#width = this.host.clientWidth;
    const sizes = { ...this.sizes, room: roomOnWall(this.host) };
    const frame = layout(picture, palette, this.#width, sizes);
    const length = Math.min(190, this.#width - frame.margin.l - frame.margin.r);
    this.#frame = frame;
    const data = traces(picture, palette, length);
    this.#drawing = Plotly.react(this.chart, data, unnamed(frame), this.#config(picture));
    await this.#drawing;
    if (this.lifetime.isOver) return;
    if (before) fade(before, this.chart, this.host);
    if (!this.#listens) this.chart.on("plotly_relayout", () => this.drawOverlays());
    this.#listens = true;
    this.drawOverlays();
  }

  /** @param {Picture} picture */
  #config({ values }) {
    const chosenElsewhere = this.sizes.drag === undefined ? [] : ["zoom2d", "pan2d"];
    return {
      ...NO_CLOUD,
      displaylogo: false,
      displayModeBar: values.columns > ZOOMED_FROM ? "hover" : false,
      doubleClick: chosenElsewhere.length ? false : "reset+autosize", // cells may be clicked fast
      showTips: !chosenElsewhere.length, // Plotly's tip is that a double click zooms out
      modeBarButtonsToRemove: [
        ...["toImage", "select2d", "lasso2d", "autoScale2d"],
        ...chosenElsewhere,
      ],
    };
  }

  /** Plotly must not be in the middle of a drawing when its chart is let go. */
  async #purge() {
    await this.#drawing.catch(() => {});
    if (this.chart._fullLayout) (await loadPlotly()).purge(this.chart);
  }

  drawOverlays() {
    const drawn = this.chart._fullLayout;
    if (!drawn || !this.picture) return;
    this.#drawNames(this.picture, drawn);
    this.#drawSides(this.picture, drawn);
    if (this.#marked) this.mark(...this.#marked);
    this.over();
  }

  /**
   * Labels and titles of the axes. Plotly takes 40 ms for 64 labels a side, each time; here they stay
   * until they change.
   *
   * @param {Picture} picture
   * @param {DrawnLayout} drawn
   */
  #drawNames(picture, { xaxis, yaxis, width, height }) {
    const { rowLabels, columnLabels, rowTitle, columnTitle, rowLooks, columnLooks } = picture;
    const named = [rowLabels, columnLabels, columnTitle, `${xaxis.range}`, `${yaxis.range}`];
    const lengths = [xaxis._length, yaxis._length, xaxis._offset, yaxis._offset];
    named.push(String(width), String(height), String(lengths));
    if (this.#named.length && this.#named.every((value, i) => value === named[i])) return;
    this.#named = named;
    const [left, top] = [xaxis._offset, yaxis._offset];
    const rows = shownLabels(rowLabels, yaxis).map(({ label, at, i }) => {
      const place = { x: left - 6, y: at + ROW_DOWN, "text-anchor": "end" };
      const look = { class: `hl-tick-row${slant(rowLooks?.[i])}` };
      return svg("text", { ...look, ...place, ...this.#clicks("row", i) }, label);
    });
    const columns = shownLabels(columnLabels, xaxis).map(({ label, at, i }) => {
      const transform = `translate(${at + COLUMN_RIGHT} ${top - 6}) rotate(-50)`;
      const place = { class: `hl-tick-column${slant(columnLooks?.[i])}`, transform };
      return svg("text", { ...place, ...this.#clicks("column", i) }, label);
    });
    const turned = `translate(13 ${top + yaxis._length / 2}) rotate(-90)`;
    const title = { class: "hl-axis", "text-anchor": "middle" };
    setAll(this.names, { width, height });
    this.names.replaceChildren(
      ...rows,
      ...columns,
      svg("text", { ...title, x: left + xaxis._length / 2, y: 13 }, columnTitle),
      svg("text", { ...title, transform: turned }, rowTitle),
    );
  }

  /**
   * What makes a label a thing to click, where someone listens.
   *
   * @param {"row" | "column"} axis
   * @param {number} i
   */
  #clicks(axis, i) {
    return this.name && { "data-clicks": true, onclick: () => this.name?.(axis, i) };
  }

  /**
   * Bars beside the map, one per row and one per column; a click picks the row or column.
   *
   * @param {Picture} picture
   * @param {DrawnLayout} drawn
   */
  #drawSides({ sides }, { xaxis, yaxis, width, height }) {
    this.sides.replaceChildren();
    if (!sides) return;
    setAll(this.sides, { width, height });
    const [right, below] = [xaxis._offset + xaxis._length + 4, yaxis._offset + yaxis._length + 4];
    /** @type {(box: Record<string, number>, tip: string, pick: () => void) => void} */
    const bar = (box, tip, pick) =>
      this.sides.append(
        svg("rect", { class: "hl-bar", ...box, onclick: pick }, svg("title", null, tip)),
      );
    sides.rows.forEach(({ share, tip }, i) => {
      if (!isInside(yaxis, i)) return;
      const [y, thick] = span(yaxis, i, 0.8);
      const box = { x: right, y, height: thick, width: sideLength(share) };
      bar(box, tip, () => sides.pickRow(i));
    });
    sides.columns.forEach(({ share, tip }, j) => {
      if (!isInside(xaxis, j)) return;
      const [x, thick] = span(xaxis, j, 0.8);
      const box = { x, y: below, width: thick, height: sideLength(share) };
      bar(box, tip, () => sides.pickColumn(j));
    });
  }

  /**
   * Frame a cell, or nothing when row is null.
   *
   * @param {number | null} row
   * @param {number} column
   * @param {boolean} [isPinned]
   */
  mark(row, column, isPinned = false) {
    this.#marked = [row, column, isPinned];
    const drawn = this.chart._fullLayout;
    const box = row != null && this.boxOf(row, column);
    for (const guide of this.guides) guide.hidden = !box;
    this.why.hidden = true;
    if (!box || !drawn) return;
    const { xaxis, yaxis } = drawn;
    const { left, top, width, height } = box;
    putAt(this.guides[0], xaxis._offset, top, xaxis._length, height);
    putAt(this.guides[1], left, yaxis._offset, width, yaxis._length);
    putAt(this.guides[2], left, top, width, height);
    this.guides[2].classList.toggle("hl-pinned", isPinned);
    this.#sayWhy(this.whyHidden(row, column), box);
  }

  /**
   * Why a cell is hatched, as what is drawn has it; empty where it is not.
   *
   * @param {number} row
   * @param {number} column
   */
  whyHidden(row, column) {
    const { values, hidden } = this.picture ?? {};
    if (!values || !hidden?.[row * values.columns + column]) return "";
    return whyHidden((at) => hidden[at], row, column, values);
  }

  /**
   * Above the cell, or below it where there is no room, within the map.
   *
   * @param {string} words
   * @param {{left: number, top: number, width: number, height: number}} box
   */
  #sayWhy(words, box) {
    this.why.textContent = words;
    this.why.hidden = !words;
    const { offsetWidth: wide, offsetHeight: high } = this.why;
    const left = Math.min(box.left + box.width / 2 - wide / 2, this.host.clientWidth - wide);
    const top = box.top < high ? box.top + box.height + 2 : box.top - high - 2;
    Object.assign(this.why.style, { left: `${Math.max(0, left)}px`, top: `${top}px` });
  }

  /**
   * Where a cell is in the host, in pixels, or null when it is out of sight.
   *
   * @param {number} row
   * @param {number} column
   */
  boxOf(row, column) {
    const drawn = this.chart._fullLayout;
    if (!drawn || !this.picture) return null;
    const { xaxis, yaxis } = drawn;
    if (!isInside(yaxis, row) || !isInside(xaxis, column)) return null;
    const [[left, width], [top, height]] = [span(xaxis, column, 1), span(yaxis, row, 1)];
    return { left, top, width, height };
  }

  /**
   * The names and numbers on screen, the words of its bars, and the framed cell; cells without a number
   * are null.
   */
  read() {
    const drawn = this.chart._fullData ?? [];
    const { z = [], zmin: low = null, zmax: high = null } = drawn[0] ?? {};
    const values = z.map((/** @type {Float32Array} */ row) =>
      Array.from(row, (x) => (Number.isNaN(x) ? null : x)),
    );
    const legend = drawn.find(({ showscale }) => showscale);
    const [rows, columns, titles, special] = ["tick-row", "tick-column", "axis", "special"].map(
      (kind) =>
        Array.from(this.names.querySelectorAll(`.hl-${kind}`), ({ textContent }) => textContent),
    );
    const [columnTitle, rowTitle] = titles;
    const bars = Array.from(this.sides.children, ({ textContent }) => textContent);
    const scale = { name: legend?.colorbar.title.text ?? null, low, high };
    const roles = readBands(this.chart._fullLayout?.shapes ?? []);
    const marks = { bars, marked: this.#framed, ...wordsIn({ why: this.why }), special, roles };
    return { rows, columns, rowTitle, columnTitle, values, scale, ...marks };
  }

  /** The cell that the frame lies upon, and whether it is pinned. */
  get #framed() {
    const [, , cell] = this.guides;
    const drawn = this.chart._fullLayout;
    if (cell.hidden || !drawn) return null;
    const { xaxis, yaxis } = drawn;
    const column = xaxis.p2c(cell.offsetLeft + cell.offsetWidth / 2 - xaxis._offset);
    const row = yaxis.p2c(cell.offsetTop + cell.offsetHeight / 2 - yaxis._offset);
    return [Math.round(row), Math.round(column), cell.classList.contains("hl-pinned")];
  }

  /** The picture with Plotly's own labels. */
  async drawing() {
    const Plotly = await loadPlotly();
    const drawn = this.chart._fullLayout;
    if (!drawn) throw new Error("it is not drawn yet");
    const { xaxis, yaxis, width, height } = drawn;
    const frame = {
      ...this.#frame,
      xaxis: { ...this.#frame.xaxis, range: xaxis.range },
      yaxis: { ...this.#frame.yaxis, range: yaxis.range },
    };
    const figure = { data: this.chart.data, layout: frame, config: NO_CLOUD };
    const address = await Plotly.toImage(figure, { format: "svg", width, height });
    const text = decodeURIComponent(address.slice(address.indexOf(",") + 1));
    return new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  }

  /**
   * The cell under the mouse, or null.
   *
   * @param {{clientX: number, clientY: number}} event
   */
  cellAt(event) {
    const drawn = this.chart._fullLayout;
    if (!drawn || !this.picture) return null;
    const { xaxis, yaxis } = drawn;
    const box = this.chart.getBoundingClientRect();
    const enlarged = enlargement(this.chart);
    const x = (event.clientX - box.left) / enlarged - xaxis._offset;
    const y = (event.clientY - box.top) / enlarged - yaxis._offset;
    const [column, row] = [Math.round(xaxis.p2c(x)), Math.round(yaxis.p2c(y))];
    const { rows, columns } = this.picture.values;
    const exists = row >= 0 && column >= 0 && row < rows && column < columns;
    return exists && isInside(yaxis, row) && isInside(xaxis, column) ? { row, column } : null;
  }

  #resized() {
    const width = this.host.clientWidth;
    if (this.picture && Math.abs(width - this.#width) > 2 && width > 0)
      this.draw(this.picture, this.palette);
  }
}
