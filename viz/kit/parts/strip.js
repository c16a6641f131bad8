// The model at a glance, in one line above every page: Home's small maps, and each part is a way to the
// page that is about it. It is drawn of what Python says at once, and asks for nothing more.

import { bytesOf } from "../arrays.js";
import { dressed, watchTheme } from "../colors.js";
import { equals, html } from "../dom.js";
import { Lifetime } from "../lifetime.js";
import { nameOf } from "./home/axis.js";
import { N_COLUMNS } from "./home/layout.js";
import { drawMap } from "./home/maps.js";
import { Run } from "./home/numbers.js";
import { picturesOf } from "./home/pictures.js";

/** @import { Palette } from "../wire.js" */
/** @import { Model } from "../model.js" */
/** @import { Column, HomeSpec } from "./home/numbers.js" */
/** @import { Scene } from "./home/scene.js" */

const SIZE = 44; // pixels of a map, twice as many as it has on screen

/**
 * Beside what Home is told, with one map for each column: their mean.
 *
 * @typedef {object} More
 * @property {number[]} n_heads of each column
 * @property {{kind: string, labels: string[], given: (number | null)[] | null, legend: string}[]} tokens of each band
 * @property {string} told what stands in their place, or nothing
 * @property {string} position the scheme
 * @property {{label: string, given: number} | null} best the most likely next token
 * @property {{bdata: string}} maps bytes: 0 is masked, from 1 on a weight
 * @property {{bdata: string}} embed signed bytes
 * @property {{bdata: string}} positions signed bytes
 * @property {Record<string, string>} ways titles of pages by parts, `end` with what it is called
 * @property {string} lit the part that the page is about
 * @property {string} layer the one that is chosen, such as decoder.attn.3
 */
/** @typedef {HomeSpec & More} StripSpec */

export default {
  /** @param {{model: Model, el: HTMLElement, signal: AbortSignal}} shown */
  render({ model, el, signal }) {
    const strip = new Strip(model, el);
    const draw = () => strip.draw();
    for (const name of /** @type {const} */ (["spec", "themes"])) model.on(name, draw, signal);
    watchTheme(new Lifetime(signal), draw);
    el.addEventListener("keydown", (event) => strip.step(event), { signal });
    draw();
    return strip;
  },
};

class Strip {
  /** @type {StripSpec} */
  spec;

  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.el = el;
  }

  draw() {
    const { el, model } = this;
    this.spec = /** @type {StripSpec} */ (model.get("spec"));
    this.palette = dressed(el, /** @type {any} */ (model.get("themes")));
    const [maps, embed, positions] = [this.spec.maps, this.spec.embed, this.spec.positions].map(
      ({ bdata }) => bytesOf(bdata),
    );
    const none = new Float32Array(1);
    this.run = new Run(this.spec, {
      pattern: Float32Array.from(maps, (byte) => (byte - 1) / 254),
      mask: maps,
      norms: none,
      ffn: none,
      embed: new Int8Array(embed.buffer),
      positions: new Int8Array(positions.buffer),
    });
    this.pictures = picturesOf(this.run, this.palette);
    const focused = el.querySelector(":focus")?.getAttribute("data-part");
    const bands = this.spec.bands.map((_, band) => this.#band(band));
    const parts = [...bands.flat(), ...this.#end()];
    el.replaceChildren(html("nav", { class: "hl-line", "aria-label": "Map of the model" }, parts));
    const [first] = el.querySelectorAll("a[data-layer]");
    (el.querySelector("a[data-layer][aria-current]") ?? first)?.setAttribute("tabindex", "0");
    if (focused) /** @type {HTMLElement | null} */ (this.#named(focused))?.focus();
    this.#bring();
  }

  /** @param {string} part */
  #named(part) {
    return this.el.querySelector(`[data-part="${CSS.escape(part)}"]`);
  }

  /** What has no room scrolls: the part that the page is about is in sight. */
  #bring() {
    const [nav, lit] = [this.el.firstElementChild, this.el.querySelector("[aria-current]")];
    if (!nav || !lit) return;
    const more = lit.getBoundingClientRect().right - nav.getBoundingClientRect().right;
    if (more > 0) nav.scrollLeft += more;
  }

  /** @param {number} band */
  #band(band) {
    const { spec } = this;
    const of = spec.bands.length > 1 ? `${spec.bands[band].name} ` : "";
    const columns = spec.columns.flatMap((column, i) => (column.band === band ? [i] : []));
    const isLast = band === spec.bands.length - 1;
    return [
      this.#tokens(band, of),
      this.#part("embed", "embedding", this.#vectors("embed", band)),
      ...("positions" in spec.ways ? [this.#positions(band)] : []),
      ...columns.map((column) => this.#layer(column)),
      ...(isLast && "stream" in spec.ways ? [this.#part("stream", "stream", null)] : []),
    ];
  }

  /**
   * A part of the model: what is drawn of it above its name, a link where a page is about it.
   *
   * @param {string} part
   * @param {string} name
   * @param {Node | null} above
   * @param {import("../dom.js").Attributes} [more]
   */
  #part(part, name, above, more = {}) {
    const { ways, lit } = this.spec;
    const page = ways[part];
    const current = lit === part && { "aria-current": "true" };
    const given = { class: `hl-part hl-part-${part}`, "data-part": part, ...current, ...more };
    const inside = [html("span", { class: "hl-above" }, above), html("span", null, name)];
    if (!page) return html("span", given, inside);
    const to = { href: `?${new URLSearchParams({ page })}`, "data-page": page };
    return html("a", { title: page, ...to, ...given }, inside);
  }

  /**
   * @param {number} band
   * @param {string} of which text, where there are several
   */
  #tokens(band, of) {
    const { tokens, told } = this.spec;
    const { kind, labels, given, legend } = tokens[band];
    const chips = labels.map((label, i) => chip(label, given?.[i], given ? `token ${i}` : ""));
    const strip = told
      ? html("span", { class: "hl-strip" }, told)
      : html(
          "div",
          { class: "hl-strip", tabindex: "0", role: "group", "aria-label": "Tokens" },
          chips,
        );
    const named = this.#part("tokens", `${of}${kind === "patches" ? kind : "tokens"}`, null);
    const below = html("span", { class: "hl-legend", title: legend }, named, told ? "" : legend);
    return html("div", { class: "hl-tokens" }, strip, below);
  }

  /** @param {number} band */
  #positions(band) {
    const { position, has_positions } = this.spec;
    const above = has_positions ? this.#vectors("positions", band) : html("small", null, position);
    return this.#part("positions", "position", above);
  }

  /**
   * Some numbers of the vectors of a band.
   *
   * @param {"embed" | "positions"} name
   * @param {number} band
   */
  #vectors(name, band) {
    const { from, to } = this.spec.bands[band];
    const canvas = html("canvas", { width: 2 * N_COLUMNS, height: SIZE, "aria-hidden": "true" });
    const context = canvas.getContext("2d");
    const picture = this.pictures?.[name];
    if (!context || !picture) return canvas;
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, from, N_COLUMNS, to - from, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  /** @param {number} i column */
  #layer(i) {
    const { columns, n_heads, ways, layer: chosen } = this.spec;
    const { title, layer, group } = columns[i];
    const at = `${group}.${layer}`;
    const name = `${title}${title ? "layer" : "Layer"} ${layer}`;
    const hasSeveral = new Set(columns.map((column) => column.group)).size > 1;
    const changes = new URLSearchParams({
      ...(hasSeveral && { attention: group }),
      layer: `${layer}`,
    });
    const [isChosen, isLit] = [at === chosen, this.spec.lit === "layer"];
    const number = nameOf(columns[i], this.spec).replace("layer ", "").replace("cross ", "×");
    const link = this.#part("layer", number, this.#map(i), {
      "aria-current": isChosen && isLit ? "true" : null,
      "data-chosen": isChosen && !isLit,
      "data-part": at,
      "data-layer": "",
      "aria-label": name,
      title: `${name}: the mean of its ${n_heads[i]} heads. ${ways.layer}`,
      tabindex: "-1",
      "data-with": `${changes}`,
    });
    link.setAttribute("href", `?${new URLSearchParams({ page: ways.layer })}&${changes}`);
    return link;
  }

  /**
   * The small map of a column as Home draws it, small.
   *
   * @param {number} column
   */
  #map(column) {
    const canvas = html("canvas", { width: SIZE, height: SIZE, "aria-hidden": "true" });
    const context = canvas.getContext("2d");
    if (!context || !this.run) return canvas;
    context.imageSmoothingEnabled = false;
    const place = { x: 0, width: SIZE, heads: [{ x: 0, y: 0, size: SIZE }] };
    const { run, palette, pictures } = this;
    const still = {
      time: { isPlaying: false },
      isGrown: false,
      dim: 0,
      query: run.asked,
      size: run.n,
    };
    const flow = { columns: { [column]: place }, unit: 1 };
    const scene = { context, flow, run, palette, pictures, ...still };
    drawMap(/** @type {any} */ (scene), column, 0, Infinity);
    return canvas;
  }

  /** What comes out: the most likely next token, where that is known. */
  #end() {
    const { best, ways } = this.spec;
    if (!ways.called) return [];
    const above = best ? chip(best.label, best.given, "most likely") : null;
    return [this.#part("end", ways.called, above)];
  }

  /**
   * The layers are one stop of the tab key: arrows lead from one to the next.
   *
   * @param {KeyboardEvent} event
   */
  step(event) {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { target } = event;
    if (!way || !(target instanceof HTMLElement) || !("layer" in target.dataset)) return;
    event.stopPropagation();
    event.preventDefault();
    const layers = /** @type {HTMLElement[]} */ ([...this.el.querySelectorAll("[data-layer]")]);
    const next = layers[layers.indexOf(target) + way];
    if (!next) return;
    [target.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
  }
}

/**
 * A token, underlined by a probability where one is known.
 *
 * @param {string} label
 * @param {number | null | undefined} share undefined: nothing is predicted here
 * @param {string} about
 */
function chip(label, share, about) {
  const known = share == null ? "nothing before it" : `p ${equals(share)}`;
  const title = share === undefined ? null : `${about}: ${known}`;
  const style = `--share: ${Math.round(100 * (share ?? 0))}%`;
  return html("span", { class: "hl-token", title, style }, html("bdi", null, label));
}
