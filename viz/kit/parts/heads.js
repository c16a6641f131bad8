// All heads of a run as small maps, and the chosen one as a large one.

import { dressed, watchTheme } from "../colors.js";
import { html } from "../dom.js";
import { called } from "../groups.js";
import { cellAfter } from "../keyboard.js";
import { Lifetime } from "../lifetime.js";
import { Grids } from "../marks/grids.js";
import { HeatMap } from "../marks/heatmap.js";
import { matrix } from "../maths.js";
import { focusable, pairsInWords, shownPattern, weightAt, weightScale } from "../patterns.js";
import { loadPlotly } from "../plotly.js";

/** @import { Chosen } from "../groups.js" */
/** @import { Model } from "../model.js" */
/** @import { Shown } from "../patterns.js" */
/** @import { Group } from "../wire.js" */

const MOST = 460; // pixels of the large map's height

export default {
  /** @param {{model: Model, el: HTMLElement, signal: AbortSignal}} shown */
  render({ model, el, signal }) {
    new Heads(model, el, signal).draw();
  },
};

class Heads {
  #turn = 0;
  /** The large map on screen. @type {Shown | undefined} */
  #shown;

  /**
   * @param {Model} model
   * @param {HTMLElement} el
   * @param {AbortSignal} signal
   */
  constructor(model, el, signal) {
    this.model = model;
    this.el = el;
    this.lifetime = new Lifetime(signal);
    const grids = html("div", { class: "hl-grids-of-heads" });
    this.grids = new Grids(grids, this.lifetime, (at) => this.#open(at));
    this.title = html("h3");
    this.host = html("div", { class: "hl-map" });
    this.map = new HeatMap(this.host, this.lifetime, {
      point: (row, column) => this.#look([row, column]),
      leave: () => this.#look(this.#pinned),
      pick: (row, column) => this.#pin([row, column]),
      most: MOST,
      drag: false,
    });
    this.says = html("p", { class: "hl-caption hl-all-heads-says", role: "status" });
    this.failure = html("p", { class: "hl-error", role: "alert", hidden: true });
    const large = html("section", { class: "hl-panel" }, this.title, this.says, this.host);
    el.replaceChildren(this.failure, html("div", { class: "hl-all-heads" }, grids, large));
    this.host.addEventListener("keydown", (event) => this.#step(event));
    for (const name of /** @type {const} */ (["spec", "state", "arrays", "themes"]))
      model.on(name, () => this.draw(), signal);
    watchTheme(this.lifetime, () => this.draw());
  }

  /** @returns {Chosen} */
  get #chosen() {
    const { attention, layer, head } = this.model.get("state");
    /** @type {Group[]} */
    const groups = this.model.get("spec").groups;
    const group = groups.find(({ name }) => name === attention) ?? groups[0];
    return { group, layer, head, over: "head" };
  }

  /** The cell that was chosen, where the map has it. @returns {[number, number] | null} */
  get #pinned() {
    const { cell } = this.model.get("state");
    const { rows = 0, columns = 0 } = this.#shown?.values ?? {};
    return cell && cell[0] < rows && cell[1] < columns ? cell : null;
  }

  // --- what a person does -------------------------------------------------------------------------

  /** @param {string} at as `spelled` has it */
  #open(at) {
    const [, attention, layer, head] = /^(.*)\.(\d+)\.(\d+)$/.exec(at) ?? [];
    this.model.choose({ attention, layer: Number(layer), head: Number(head) });
  }

  /** @param {[number, number]} cell */
  #pin(cell) {
    this.model.choose({ cell });
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    if (!this.#shown) return;
    const to = cellAfter(event.key, this.#pinned ?? [0, 0], this.#shown.values);
    if (!to) return;
    event.preventDefault();
    this.#pin(to);
  }

  /**
   * Frame a cell and say its weight; without one, the strongest pairs.
   *
   * @param {[number, number] | null} cell
   */
  #look(cell) {
    const shown = this.#shown;
    if (!shown) return;
    const isPinned = cell !== null && String(cell) === String(this.#pinned);
    this.map.mark(cell && cell[0], cell ? cell[1] : 0, isPinned);
    this.says.textContent = cell
      ? `“${shown.rows[cell[0]]}” attends to “${shown.columns[cell[1]]}”: ${weightAt(shown, ...cell)}`
      : pairsInWords(shown);
  }

  // --- drawing ------------------------------------------------------------------------------------

  /** Draw what counts now; what is on screen stays until the arrays for it are here. */
  async draw() {
    const turn = ++this.#turn;
    const isPast = () => turn !== this.#turn || this.lifetime.isOver;
    try {
      const chosen = this.#chosen;
      const arrays = Promise.all([this.#load(chosen), this.#drawGrids(chosen, isPast)]);
      loadPlotly().catch(() => {}); // it comes meanwhile; the large map says where it does not
      const [shown] = await arrays;
      if (!isPast()) await this.#drawMap(chosen, shown);
      if (isPast()) return;
      this.failure.hidden = true;
      this.el.dataset.drawn = [called(chosen), ...(this.#pinned ?? [])].join(" ");
    } catch (error) {
      if (isPast()) return;
      this.failure.hidden = false;
      this.failure.textContent = `What belongs here did not arrive. ${/** @type {Error} */ (error).message}`;
    }
  }

  /**
   * @param {Chosen} chosen
   * @param {() => boolean} isPast
   */
  async #drawGrids(chosen, isPast) {
    const { groups, tile_codes } = this.model.get("spec");
    const arrays = this.model.get("arrays");
    /** @param {Group} group */
    const withTiles = async (group) => {
      const { values, shape } = await this.model.load(`${group.name} tiles`);
      return { ...group, tiles: { shape: shape.slice(1), bytes: values } };
    };
    const all = await Promise.all(groups.map(withTiles));
    const key = all.map(({ name }) => arrays[`${name} tiles`].id).join();
    if (isPast()) return;
    this.grids.draw({ key, groups: all, tile_codes }, chosen, this.#palette());
  }

  #palette() {
    const { light, dark } = this.model.get("themes");
    return dressed(this.el, { light, dark });
  }

  /**
   * @param {Chosen} chosen
   * @returns {Promise<Shown>}
   */
  async #load({ group, layer, head }) {
    const { streams } = this.model.get("spec");
    const [patterns, masks] = ["pattern", "mask"].map((what) => `${group.name} ${layer} ${what}`);
    const nMasks = this.model.get("arrays")[masks]?.shape[0] ?? 1; // one for all heads, or each its own
    const [pattern, mask] = await Promise.all([
      this.model.load(patterns, head),
      this.model.load(masks, Math.min(head, nMasks - 1)),
    ]);
    const [rows, columns] = pattern.shape;
    return shownPattern(matrix(rows, columns, pattern.values), mask.values, {
      kind: group.kind,
      queries: streams[group.queries],
      keys: streams[group.keys],
      rowTitle: "query",
      columnTitle: "key",
    });
  }

  /**
   * @param {Chosen} chosen
   * @param {Shown} shown
   */
  async #drawMap(chosen, shown) {
    this.#shown = shown;
    this.title.textContent = called(chosen);
    focusable(
      this.host,
      `${called(chosen)}. ${pairsInWords(shown)} Arrow keys go from cell to cell.`,
    );
    await this.map.draw({ ...shown, scale: weightScale(shown) }, this.#palette());
    if (shown === this.#shown) this.#look(this.#pinned);
  }
}
