// The model at a glance, in one line above every page: Home's small maps, and each part is a way to the
// page that is about it. What was drawn stays until the arrays of another run are there.

import { valuesOf } from "../arrays.js";
import { same } from "../conversation.js";
import { equals, html, wordsIn } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { RolesLegend } from "../looks.js";
import { Tokens, dress, readToken } from "../marks/tokens.js";
import { nameOf } from "./home/axis.js";
import { N_COLUMNS } from "./home/layout.js";
import { drawMap } from "./home/maps.js";
import { Run } from "./home/numbers.js";
import { picturesOf } from "./home/pictures.js";

const SIZE = 44; // pixels of a map, twice as many as it has on screen

/** @import { InstrumentData } from "../wire.js" */

/** @typedef {InstrumentData & import("./home/numbers.js").HomeSpec & Record<string, any>} StripSpec see strip.py */

/** @extends {Instrument<StripSpec>} */
class Strip extends Instrument {
  /** @override */
  static needs = ["pattern", "mask", "embed", "positions", "given"];
  /** What it was drawn of: a run of the page that says the same again draws nothing. @type {unknown[]} */
  #shown = [];
  /** @type {Run} */
  run;
  /** @type {ReturnType<typeof picturesOf>} */
  pictures;

  /** @param {import("../instrument.js").Place} place */
  constructor(place) {
    super(place);
    this.lifetime.watchSize(this.root, () => this.#bring());
  }

  /** @override */
  redraw() {
    const { root, data, palette } = this;
    const shown = [data, this.model.get("arrays"), palette];
    if (same(this.#shown, shown)) return;
    this.#shown = shown;
    const { pattern, mask, embed, positions } = valuesOf(this.arrays);
    const none = new Float32Array(1);
    this.run = new Run(data, { pattern, mask, embed, positions, norms: none, ffn: none });
    this.pictures = picturesOf(this.run, palette);
    const focused = root.querySelector(":focus")?.getAttribute("data-part");
    root.replaceChildren(this.#line());
    const isIn = focused && root.querySelector(`[data-part="${CSS.escape(focused)}"]`);
    if (isIn instanceof HTMLElement) isIn.focus();
    this.#bring();
  }

  /** What has no room scrolls: the part that the page is about is in sight. */
  #bring() {
    const [nav, lit] = [this.root.firstElementChild, this.root.querySelector("[aria-current]")];
    const [right, most] = [lit, nav].map((one) => one?.getBoundingClientRect().right ?? 0);
    if (nav && right > most) nav.scrollLeft += right - most;
  }

  #line() {
    const { data } = this;
    const parts = data.bands.flatMap((_, band) => this.#band(band));
    const best = data.best && dress(html("span"), looks(data.best, "most likely"));
    if (data.ways.called) parts.push(this.#part("end", data.ways.called, best));
    const given = { class: "hl-line", "aria-label": "Map of the model", onkeydown: step };
    const node = html("nav", given, parts);
    const layers = [...node.querySelectorAll("a[data-layer]")];
    const first = layers.find((layer) => layer.ariaCurrent) ?? layers[0];
    first.setAttribute("tabindex", "0"); // one stop of the tab key for all
    return node;
  }

  /** What is on screen: the parts, where each leads and which one it is about, and the tokens. */
  read() {
    /** @type {NodeListOf<HTMLElement>} */
    const parts = this.root.querySelectorAll(".hl-part");
    /** @type {NodeListOf<HTMLElement>} */
    const tokens = this.root.querySelectorAll(".hl-token");
    return {
      parts: Array.from(parts, (part) => ({
        ...wordsIn({ name: part }),
        ...{ title: part.title, to: part.getAttribute("href"), isLit: part.ariaCurrent === "true" },
      })),
      tokens: Array.from(tokens, readToken),
      roles: this.root.querySelector(".hl-roles")?.textContent ?? "",
    };
  }

  /** @param {number} band */
  #band(band) {
    const { bands, columns, ways, has_positions, position } = this.data;
    const above = has_positions ? this.#vectors("positions", band) : html("small", null, position);
    return [
      this.#tokens(band, bands.length > 1 ? `${bands[band].name} ` : ""),
      this.#part("embed", "embedding", this.#vectors("embed", band)),
      ways.positions ? this.#part("positions", "position", above) : "",
      ...columns.map((column, i) => (column.band === band ? this.#layer(i) : "")),
      ways.stream && band === bands.length - 1 ? this.#part("stream", "stream", null) : "",
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
    const { ways, lit } = this.data;
    const { [part]: page } = ways;
    const inside = [html("span", { class: "hl-part-drawn" }, above), html("span", null, name)];
    const to = page && {
      href: `?${new URLSearchParams({ page })}`,
      "data-page": page,
      title: page,
    };
    const given = { class: `hl-part hl-part-${part}`, "data-part": part, ...to };
    const current = { "aria-current": lit === part ? "true" : null };
    return html(page ? "a" : "span", { ...given, ...current, ...more }, inside);
  }

  /**
   * @param {number} band
   * @param {string} of which text, where there are several
   */
  #tokens(band, of) {
    const { told, tokens } = this.data;
    const { called, labels, looks: own, is_given, legend } = tokens[band];
    const given = this.arrays.given.values;
    const row = new Tokens("hl-strip", "Tokens");
    row.show(
      labels.map((/** @type {string} */ label, /** @type {number} */ i) => {
        const one = looks({ label, given: is_given ? given[i] : NaN }, is_given && `token ${i}`);
        return own ? { ...one, title: one.title || `token ${i}`, look: own[i] } : one;
      }),
    );
    const named = this.#part("tokens", `${of}${called}`, null);
    row.node.addEventListener("click", () => named.click()); // a word leads where their name does
    row.node.tabIndex = 0;
    const roles = new RolesLegend();
    roles.show(own);
    const title = [...(roles.read() ?? []), legend].filter(Boolean).join("; ");
    const strip = told ? html("div", { class: "hl-strip" }, told) : row.node;
    return html(
      "div",
      { class: "hl-tokens" },
      strip,
      html("span", { class: "hl-legend", title }, named, told ? "" : [roles.node, legend]),
    );
  }

  /**
   * @param {number} width of what is drawn
   * @param {(context: CanvasRenderingContext2D) => void} draw
   */
  #drawn(width, draw) {
    const canvas = html("canvas", { width, height: SIZE, "aria-hidden": "true" });
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.imageSmoothingEnabled = false;
    draw(context);
    return canvas;
  }

  /**
   * Some numbers of the vectors of a band.
   *
   * @param {"embed" | "positions"} name
   * @param {number} band
   */
  #vectors(name, band) {
    const { from, to } = this.data.bands[band];
    const [picture, width] = [this.pictures[name], 2 * N_COLUMNS];
    return this.#drawn(width, (context) =>
      context.drawImage(picture, 0, from, N_COLUMNS, to - from, 0, 0, width, SIZE),
    );
  }

  /**
   * The small map of a column as Home draws it, and a way to its layer.
   *
   * @param {number} i
   */
  #layer(i) {
    const { columns, n_heads, ways, lit, layer: chosen } = this.data;
    const { title, layer, group } = columns[i];
    const { run, palette, pictures } = this;
    const map = this.#drawn(SIZE, (context) => {
      const place = { x: 0, width: SIZE, heads: [{ x: 0, y: 0, size: SIZE }] };
      const still = { time: {}, dim: 0, query: run.asked, size: run.n };
      const scene = { context, flow: { columns: { [i]: place }, unit: 1 }, run, palette, pictures };
      drawMap(/** @type {any} */ ({ ...scene, ...still }), i, 0, Infinity);
    });
    const name = `${title}${title ? "layer" : "Layer"} ${layer}`;
    const changes = `attention=${group}&layer=${layer}`;
    const is = chosen === `${group}.${layer}`;
    const number = nameOf(columns[i], this.data).replace("layer ", "").replace("cross ", "×");
    return this.#part("layer", number, map, {
      ...{ "aria-label": name, "data-part": changes, "data-layer": "", tabindex: "-1" },
      title: `${name}: the mean of its ${n_heads[i]} heads. ${ways.layer}`,
      ...{ "aria-current": is && lit === "layer" ? "true" : null, "data-chosen": is },
      ...{ href: `?${new URLSearchParams({ page: ways.layer })}&${changes}`, "data-with": changes },
    });
  }
}

/**
 * Arrows lead from one layer to the next.
 *
 * @param {KeyboardEvent} event
 */
function step(event) {
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const { target, currentTarget } = event;
  if (!way || !(target instanceof HTMLElement) || !("layer" in target.dataset)) return;
  event.stopPropagation(); // a lesson has arrows, too
  const nav = /** @type {HTMLElement} */ (currentTarget);
  const layers = /** @type {HTMLElement[]} */ ([...nav.querySelectorAll("[data-layer]")]);
  const next = layers[layers.indexOf(target) + way] ?? target;
  target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/**
 * A token, underlined by a probability where one is known.
 *
 * @param {{label: string, given: number}} token
 * @param {string | false} about nothing: none is predicted here
 */
function looks({ label, given }, about) {
  const words = Number.isNaN(given) ? "nothing before it" : `p ${equals(given)}`;
  return { label, title: about ? `${about}: ${words}` : "", share: given || 0 };
}

export default partOf("strip", Strip);
