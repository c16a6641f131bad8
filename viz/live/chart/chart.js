// A figure made in Python. Streamlit's own chart is taken off the page and put on again for every
// change; this one is drawn again in its place.

import { html } from "../core/dom.js";
import { unescaped } from "../core/heatmap.js";
import { Lifetime } from "../core/lifetime.js";
import { NO_CLOUD, loadPlotly } from "../core/plotly.js";
import * as pointing from "../core/pointed.js";
import * as screen from "../core/screen.js";
import { roomOnWall } from "../core/wall.js";
import { drawnRows, readBack } from "./proof.js";

/** @import { Chart as Drawn } from "../core/plotly.js" */
/** @import { Receiver } from "../core/wire.js" */
/** @import { ChartData, OriginPlace } from "./wire.js" */

/** @typedef {{data: object[], layout: Record<string, unknown>}} Figure */

const PATIENCE_MS = 300; // how long a figure out of sight lets others go before it
const NARROW = 500; // pixels; titles of wider figures are in one line
const CHECK_REST_MS = 150; // after the last thing drawn: a check is never in the way of the hand
const TRIES = 3;
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

/**
 * What an axis says of a value: its title, and the label that stands there.
 *
 * @param {any} axis
 * @param {number | string} value
 */
function nameOn(axis, value) {
  const at = axis?.tickvals?.indexOf(value) ?? -1;
  const label = at < 0 ? value : axis.ticktext?.[at];
  const title = axis?.title?.text;
  return title ? `${title} ${unescaped(String(label))}` : unescaped(String(label));
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
  #cancelCheck = () => {};

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
    else if (before.spec === data.spec && before.token === data.token) return;
    this.#figure = JSON.parse(data.spec);
    this.#withdraw();
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
    this.#drawing = this.#drawing
      .then(() => (figure === this.#figure && !this.lifetime.isOver ? this.#react() : null))
      .catch((error) => this.#say(error));
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
    this.#checkSoon();
    if (this.#listens || this.lifetime.isOver) return;
    this.#listens = true;
    this.chart.on("plotly_click", (event) => this.#clicked(event));
    this.chart.on("plotly_hover", (event) => this.#pointed(event));
    this.chart.on("plotly_relayout", (event) => this.#dragged(event));
  }

  // --- the check ----------------------------------------------------------------------------------

  /** What was said of the last drawing counts no more. */
  #withdraw() {
    this.#cancelCheck();
    if (this.data.origin.length) screen.changes(this.data.key, this);
    else screen.isGone(this.data.key, this);
  }

  #checkSoon() {
    this.#cancelCheck();
    if (!this.data.origin.length || this.lifetime.isOver) return;
    this.#cancelCheck = this.lifetime.timeout(() => this.#check(TRIES), CHECK_REST_MS);
  }

  /**
   * Read the figure back; where the run stays away, nothing is said of it.
   *
   * @param {number} tries how often it is asked for again
   */
  async #check(tries) {
    const { key, token, origin, allowed_error } = this.data;
    const found = await readBack(this.chart, origin, allowed_error).catch(() => null);
    if (token !== this.data.token || this.lifetime.isOver) return;
    if (found) screen.wasRead({ figure: key, token, ...found }, this);
    else if (tries)
      this.#cancelCheck = this.lifetime.timeout(() => this.#check(tries - 1), CHECK_REST_MS);
    else screen.isGone(key, this);
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

  /** @param {any} event */
  #pointed(event) {
    const [at] = event?.points ?? [];
    const { origin } = this.data;
    const indices = [at?.pointNumber ?? at?.pointIndex].flat();
    const place =
      origin.find(({ trace }) => trace === at?.curveNumber) ??
      origin.find(({ property }) => property === "z" && indices.length > 1); // a hatched cell
    if (!place) return pointing.pointAway();
    const address = pointing.within(place.address, indices);
    const of = [at.yaxis, at.xaxis].map((axis, i) => nameOn(axis, i ? at.x : at.y)).join(", ");
    const drawn = at[place.property] ?? this.#written(place, indices[0]);
    pointing.point({ run: place.run, address, drawn, of, host: this.root });
  }

  /**
   * The number that a label has.
   *
   * @param {OriginPlace} place
   * @param {number} at
   */
  #written(place, at) {
    if (place.property === "z") return null;
    const text = String(drawnRows(this.chart, place)[0][at] ?? "").replace("−", "-");
    return text === "" ? null : Number(text);
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
    if (this.data) screen.isGone(this.data.key, this);
    this.lifetime.end();
  }
}
