// A figure of Plotly, drawn again in its place.

import { html } from "../dom.js";
import { NO_CLOUD, loadPlotly } from "../plotly.js";
import { roomOnWall } from "../wall.js";

/** @import { Lifetime } from "../lifetime.js" */
/** @import { Chart } from "../plotly.js" */

/** @typedef {Record<string, any>} Trace */
/** @typedef {{data: Trace[], layout: Record<string, any>, height: number}} Figure height in pixels */
/** @typedef {{x: unknown, y: unknown, handle?: number}} Picked where, or which handle was dragged there */

const PATIENCE_MS = 300; // how long a figure out of sight lets others go before it
const NARROW = 500; // pixels; titles of wider figures are in one line
const STRETCH = 1.5; // how much higher than it should be a figure may be to fill a wall
const LETTER = 6.6; // pixels of an average letter of a title in several lines
// Pixels as viz/charts/room.py reckons them, which leaves room below for the legend's lines on a phone.
const ENTRY = { letter: 6.9, beside: 46, line: 22 };
const [PHONE, RIGHT] = [340, 24]; // pixels of a figure there, and right of its axes
const FULL_SCREEN = {
  width: 24,
  height: 24,
  path: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
};

/**
 * A title in lines that a narrow figure has room for; Plotly would cut it.
 *
 * @param {any} title as in Plotly's layout
 * @param {number} width pixels
 */
function titleWithin(title, width) {
  const most = Math.floor((width - 30) / LETTER);
  if (!title?.text || width > NARROW || title.text.length <= most) return title;
  const lines = [""];
  for (const word of title.text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length >= most) lines.push(word);
    else lines[last] += lines[last] ? ` ${word}` : word;
  }
  return { ...title, text: lines.join("<br>"), font: { ...title.font, size: 13 } };
}

/**
 * The margins with room for as many lines of a legend below as it has in this width: the axes take
 * what is left of the room for a phone's.
 *
 * @param {Trace[]} data
 * @param {Record<string, any>} layout
 * @param {number} width pixels
 */
function marginsFor(data, { margin, legend }, width) {
  if (legend?.yanchor !== "bottom") return margin;
  const named = data.filter(({ name, showlegend }) => name && showlegend !== false);
  const wide = named.map(({ name }) => ENTRY.letter * name.length + ENTRY.beside);
  /** @type {(room: number) => number} */
  const lines = (room) =>
    wide.reduce((a, b) => a + b, 0) <= room
      ? 1
      : Math.ceil(wide.length / Math.max(1, Math.floor(room / Math.max(...wide))));
  const spare = lines(PHONE - margin.l) - lines(width - margin.l - RIGHT);
  return { ...margin, b: margin.b - ENTRY.line * Math.max(spare, 0) };
}

export class Plot {
  /** @type {Figure | undefined} */
  #figure;
  #config = {};
  #width = 0;
  #listens = false;
  /** @type {Promise<unknown>} */
  #drawing = Promise.resolve();

  /**
   * @param {HTMLElement} host
   * @param {Lifetime} lifetime
   * @param {{pick?: (picked: Picked) => void, buttons?: object[]}} [options] `buttons` stand beside
   *   Plotly's own
   */
  constructor(host, lifetime, { pick = () => {}, buttons = [] } = {}) {
    this.host = host;
    this.lifetime = lifetime;
    this.pick = pick;
    this.buttons = buttons;
    this.chart = /** @type {Chart} */ (/** @type {HTMLElement} */ (html("div")));
    host.replaceChildren(this.chart);
    lifetime.watchSize(host, () => this.#resized());
    lifetime.keep(() => this.#purge());
  }

  /**
   * Draw a figure, one after the other, and only the newest of those that wait.
   *
   * @param {Figure} figure
   * @param {object} [image] how it is saved, as Plotly has it
   */
  draw(figure, image) {
    this.#figure = figure;
    if (image) this.#config = this.#configOf(figure, image);
    this.#drawing = this.#drawing
      .then(() => (figure === this.#figure && !this.lifetime.isOver ? this.#react(figure) : null))
      .catch((error) => this.#say(error));
    this.lifetime.busy(this.#drawing);
  }

  /**
   * @param {Figure} figure
   * @param {object} image
   */
  #configOf({ layout: { shapes = [] } }, image) {
    const act = () => (document.fullscreenElement ? document.exitFullscreen() : this.#enlarge());
    return {
      ...NO_CLOUD,
      edits: {
        shapePosition: shapes.some((/** @type {{editable?: boolean}} */ shape) => shape.editable),
      },
      displaylogo: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      modeBarButtonsToAdd: [
        ...this.buttons,
        { name: "fullScreen", title: "Full screen", icon: FULL_SCREEN, click: act },
      ],
      toImageButtonOptions: image,
    };
  }

  #enlarge() {
    this.host.requestFullscreen().catch(() => {}); // a frame may forbid it
  }

  /** @param {Figure} figure */
  async #react({ data, layout, height }) {
    const Plotly = await loadPlotly();
    if (!this.isInSight) await this.lifetime.rest(PATIENCE_MS); // what is seen comes first
    if (this.lifetime.isOver || !this.host.clientWidth) return;
    this.#width = this.host.clientWidth;
    const size = { width: this.#width, height: this.#heightOf(height) };
    const title = titleWithin(layout.title, this.#width);
    const shown = { ...layout, ...size, title, margin: marginsFor(data, layout, this.#width) };
    await Plotly.react(this.chart, data, shown, this.#config);
    if (this.#listens || this.lifetime.isOver) return;
    this.#listens = true;
    this.chart.on("plotly_click", (event) => this.#clicked(event));
    this.chart.on("plotly_relayout", (event) => this.#dragged(event));
  }

  /** Whether a part of it is on the screen. */
  get isInSight() {
    const { top, bottom } = this.host.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  }

  /** @param {number} height */
  #heightOf(height) {
    if (document.fullscreenElement === this.host) return innerHeight;
    return Math.max(height, Math.min(roomOnWall(this.host), STRETCH * height));
  }

  /** @param {any} event */
  #clicked(event) {
    const [point] = event?.points ?? [];
    if (point) this.pick({ x: point.x, y: point.y });
  }

  /**
   * Tell where a handle was dragged to: a shape that may be moved, of a size in pixels.
   *
   * @param {any} event
   */
  #dragged(event) {
    const [name] = Object.keys(event ?? {}).filter((key) => key.endsWith(".xanchor"));
    const [, handle] = /^shapes\[(\d+)\]/.exec(name ?? "") ?? [];
    const shape = handle && this.chart._fullLayout?.shapes[Number(handle)];
    if (shape) this.pick({ handle: Number(handle), x: shape.xanchor, y: shape.yanchor });
  }

  /** @param {unknown} error */
  #say(error) {
    if (!this.lifetime.isOver)
      this.host.replaceChildren(`This figure could not be drawn: ${error}`);
  }

  #resized() {
    const width = this.host.clientWidth;
    if (this.#figure && width > 0 && Math.abs(width - this.#width) > 1) this.draw(this.#figure);
  }

  /** Plotly must not be in the middle of a drawing when its chart is let go. */
  async #purge() {
    await this.#drawing;
    if (this.chart._fullLayout) (await loadPlotly()).purge(this.chart);
  }

  /** What is drawn: its words, and the numbers of each trace. */
  read() {
    const [title, x, y] = ["g", "x", "y"].map(
      (of) => this.chart.querySelector(`.${of}title`)?.textContent ?? null,
    );
    const traces = this.chart._fullData.map((trace) => ({
      ...{ name: trace.name, x: Array.from(trace.x ?? []), y: Array.from(trace.y ?? []) },
    }));
    const says = this.chart.ariaLabel ?? this.host.ariaLabel;
    return { says, title, axes: { x, y }, traces };
  }
}
