// A figure made in Python. Streamlit's own chart is taken off the page and put on again for every
// change; this one is drawn again in its place.

import { html } from "../../kit/dom.js";
import { Lifetime } from "../../kit/lifetime.js";
import { NO_CLOUD, loadPlotly } from "../../kit/plotly.js";
import { roomOnWall } from "../../kit/wall.js";

/** @import { Chart as Drawn } from "../../kit/plotly.js" */
/** @import { Receiver } from "../../kit/wire.js" */
/** @import { ChartData } from "./wire.js" */

/** @typedef {{data: object[], layout: Record<string, unknown>}} Figure */

const PATIENCE_MS = 300; // how long a figure out of sight lets others go before it
const NARROW = 500; // pixels; titles of wider figures are in one line
const STRETCH = 1.5; // how much higher than Python says a figure may be to fill a wall
const LETTER = 6.6; // pixels of an average letter of a title in several lines
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

export class Chart {
  /** @type {ChartData} */
  data;
  /** @type {Figure} */
  #figure;
  #config = {};
  #width = 0;
  #listens = false;
  /** @type {Promise<unknown>} */
  #drawing = Promise.resolve();

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver = {}) {
    this.root = root;
    this.receiver = receiver;
    this.lifetime = new Lifetime();
    this.chart = /** @type {Drawn} */ (/** @type {HTMLElement} */ (html("div")));
    root.replaceChildren(this.chart);
    root.setAttribute("role", "figure");
    this.lifetime.watchSize(root, () => this.#resized());
    this.lifetime.keep(() => this.#purge());
  }

  /** @param {ChartData} data */
  receive(data) {
    const before = this.data;
    this.data = data;
    this.root.setAttribute("aria-label", data.alt);
    this.root.toggleAttribute("data-clicks", data.is_clickable);
    if (before?.image_format !== data.image_format || before?.name !== data.name)
      this.#config = this.#configOf(data);
    else if (before.spec === data.spec) return;
    this.#figure = JSON.parse(data.spec);
    this.#draw();
  }

  /** @param {ChartData} data */
  #configOf(data) {
    const { name, image_format: format } = data;
    const act = () => (document.fullscreenElement ? document.exitFullscreen() : this.#enlarge());
    /** @type {{editable?: boolean}[]} */
    const shapes = JSON.parse(data.spec).layout.shapes ?? [];
    return {
      ...NO_CLOUD,
      edits: { shapePosition: shapes.some((shape) => shape.editable) },
      displaylogo: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      modeBarButtonsToAdd: [
        { name: "fullScreen", title: "Full screen", icon: FULL_SCREEN, click: act },
      ],
      toImageButtonOptions: { format, filename: name, scale: 2 },
    };
  }

  #enlarge() {
    this.root.requestFullscreen().catch(() => {}); // a frame may forbid it
  }

  /** One drawing after the other, and only the newest figure of those that wait. */
  #draw() {
    const figure = this.#figure;
    this.root.toggleAttribute("data-busy", true);
    const drawing = this.#drawing
      .then(() => (figure === this.#figure && !this.lifetime.isOver ? this.#react() : null))
      .catch((error) => this.#say(error))
      .then(() => {
        if (this.#drawing === drawing) this.root.removeAttribute("data-busy");
      });
    this.#drawing = drawing;
  }

  async #react() {
    const Plotly = await loadPlotly();
    if (!this.#isInSight) await this.lifetime.rest(PATIENCE_MS); // what is seen comes first
    if (this.lifetime.isOver || !this.root.clientWidth) return;
    this.#width = this.root.clientWidth;
    const { data, layout } = this.#figure;
    const size = { width: this.#width, height: this.#height };
    const shown = { ...layout, ...size, title: titleWithin(layout.title, this.#width) };
    await Plotly.react(this.chart, data, shown, this.#config);
    if (this.#listens || this.lifetime.isOver) return;
    this.#listens = true;
    this.chart.on("plotly_click", (event) => this.#clicked(event));
    this.chart.on("plotly_relayout", (event) => this.#dragged(event));
  }

  get #isInSight() {
    const { top, bottom } = this.root.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  }

  get #height() {
    const { height } = this.data;
    if (document.fullscreenElement === this.root) return innerHeight;
    return Math.max(height, Math.min(roomOnWall(this.root), STRETCH * height));
  }

  /** @param {any} event */
  #clicked(event) {
    const [point] = event?.points ?? [];
    if (point && this.data.is_clickable) this.receiver.picked?.({ x: point.x, y: point.y });
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
    if (!shape || !this.data.is_clickable) return;
    this.receiver.picked?.({ handle: Number(handle), x: shape.xanchor, y: shape.yanchor });
  }

  /** @param {unknown} error */
  #say(error) {
    if (this.lifetime.isOver) return;
    this.root.replaceChildren(`This figure could not be drawn: ${error}`);
  }

  #resized() {
    const width = this.root.clientWidth;
    if (this.#figure && width > 0 && Math.abs(width - this.#width) > 1) this.#draw();
  }

  /** Plotly must not be in the middle of a drawing when its chart is let go. */
  async #purge() {
    await this.#drawing;
    if (this.chart._fullLayout) (await loadPlotly()).purge(this.chart);
  }

  /** It was taken off the page: release everything. */
  destroy() {
    this.lifetime.end();
  }
}
