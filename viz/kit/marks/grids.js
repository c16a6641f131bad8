// All heads of all kinds of attention as small maps: one picker that goes from one to the next.

import { html } from "../dom.js";
import { called, spelled } from "../groups.js";
import { GAP, Grid } from "./grid.js";

/** @import { Lifetime } from "../lifetime.js" */
/** @import { Group, Palette } from "../wire.js" */
/** @import { Chosen } from "../groups.js" */

/**
 * What is drawn: the groups side by side, under a key that is new when their numbers are.
 *
 * @typedef {{key: string, groups: Group[], tile_codes: {masked: number}}} Groups
 */

const MARGIN = { left: 26, top: 16, beside: 2 };
const TILE = { least: 12, most: 48 };
const MOST_STRETCH = 2; // of a map's longer side to its shorter

export class Grids {
  /** @type {Groups | undefined} */
  #data;
  /** @type {Palette} */
  #palette;
  /** @type {Chosen} */
  #chosen;
  #drawn = "";
  /** @type {Named[]} */
  grids = [];

  /**
   * @param {HTMLElement} host
   * @param {Lifetime} lifetime
   * @param {(at: string) => void} pick
   */
  constructor(host, lifetime, pick) {
    this.host = host;
    this.pick = pick;
    lifetime.watchSize(host, () => {
      if (this.#data) this.draw(this.#data, this.#chosen, this.#palette);
    });
  }

  /**
   * @param {Groups} data
   * @param {Chosen} chosen
   * @param {Palette} palette
   */
  draw(data, chosen, palette) {
    this.#data = data;
    this.#palette = palette;
    this.#chosen = chosen;
    const width = this.host.clientWidth;
    if (!width) return;
    const drawn = `${data.key} ${palette.background} ${palette.small_weights} ${width}`;
    if (drawn !== this.#drawn) this.#build(data, palette, width);
    this.#drawn = drawn;
    for (const grid of this.grids) grid.frame(chosen);
  }

  /**
   * @param {Groups} data
   * @param {Palette} palette
   * @param {number} width
   */
  #build(data, palette, width) {
    if (this.grids.length !== data.groups.length) {
      this.grids = data.groups.map((_, i) => new Named(this, i));
      this.host.replaceChildren(...this.grids.map(({ node }) => node));
    }
    const n_columns = Math.max(...data.groups.map(({ n_heads }) => n_heads));
    const room = (width - 2 * 14) / data.groups.length - MARGIN.left;
    const pitch = Math.min(TILE.most, Math.max(TILE.least, room / n_columns));
    this.grids.forEach((grid, i) => grid.build(data, data.groups[i], palette, pitch));
  }

  /** The grids on screen: how many layers and heads, and what is framed. */
  read() {
    return this.grids.map((grid) => grid.read());
  }

  /**
   * The head that a key leads to from a head: past the end of a grid, the next one.
   *
   * @param {number} i of the grid
   * @param {[number, number]} from layer and head
   * @param {[number, number]} move
   */
  step(i, [layer, head], [down, right]) {
    const groups = this.#data?.groups ?? [];
    const to = head + right;
    const isPast = to < 0 || to >= groups[i].n_heads;
    const group = groups[isPast ? i + right : i];
    if (!group) return;
    const next = isPast ? (right > 0 ? 0 : group.n_heads - 1) : to;
    const row = Math.min(Math.max(layer + down, 0), group.n_layers - 1);
    this.pick(spelled(group, row, next));
    this.grids[groups.indexOf(group)].grid.node.focus();
  }
}

/** The small maps of one group, and its name. */
class Named {
  /** @type {Group} */
  group;
  /** @type {Chosen} */
  #chosen;

  /**
   * @param {Grids} grids
   * @param {number} i
   */
  constructor(grids, i) {
    this.grid = new Grid("hl-grid-of-heads", MARGIN, {
      point: () => {},
      pick: ({ layer, head }) => {
        if (layer !== undefined && head !== undefined) grids.pick(spelled(this.group, layer, head));
      },
      step: (move) => {
        const { group, layer, head } = this.#chosen;
        if (group.name === this.group.name) grids.step(i, [layer, head], move);
        else grids.pick(spelled(this.group, 0, 0));
      },
    });
    this.title = html("h3", { class: "hl-grid-title" });
    this.node = html("figure", null, this.title, this.grid.node);
  }

  /**
   * @param {Groups} data
   * @param {Group} group
   * @param {Palette} palette
   * @param {number} pitch
   */
  build(data, group, palette, pitch) {
    this.group = group;
    const [, rows, columns] = group.tiles.shape;
    const stretch = Math.min(Math.max(rows / columns, 1 / MOST_STRETCH), MOST_STRETCH);
    const y = Math.min(TILE.most, (pitch - GAP) * stretch) + GAP;
    this.grid.build(group, data.tile_codes, palette, { x: pitch, y });
    const isAlone = data.groups.length === 1; // else up to three stand side by side
    this.title.textContent = isAlone ? "All heads" : group.title.replace("-attention", "");
    const { title, n_layers, n_heads } = group;
    const words = `${n_layers} layers and ${n_heads} heads as small maps; arrow keys choose one.`;
    this.grid.node.setAttribute("aria-label", `${title}: ${words}`);
  }

  /**
   * Frame what is chosen, if it is of this group: a head, its layer, or all.
   *
   * @param {Chosen} chosen
   */
  frame(chosen) {
    this.#chosen = chosen;
    if (chosen.group.name !== this.group.name) return this.grid.frame(null);
    const { n_layers, n_heads } = this.group;
    const { layer, head, over } = chosen;
    const size = [over === "all" ? n_layers : 1, over === "head" ? 1 : n_heads];
    this.grid.frame([over === "all" ? 0 : layer, over === "head" ? head : 0], [size[0], size[1]]);
    return this.grid.node.setAttribute("aria-description", called(chosen));
  }

  /** @returns {{name: string, layers: number, heads: number, framed: string | null}} */
  read() {
    const { name, n_layers: layers, n_heads: heads } = this.group;
    return { name, layers, heads, framed: this.grid.isFramed ? called(this.#chosen) : null };
  }
}
