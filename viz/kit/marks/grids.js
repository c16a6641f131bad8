// All heads of all kinds of attention as small maps: one picker that goes from one to the next.

import { atlas } from "../atlas.js";
import { html, setAll, svg } from "../dom.js";
import { called, spelled } from "../groups.js";

/** @import { Lifetime } from "../lifetime.js" */
/** @import { Group, Palette } from "../wire.js" */
/** @import { Chosen } from "../groups.js" */

/**
 * What is drawn: the groups side by side, under a key that is new when their numbers are.
 *
 * @typedef {{key: string, groups: Group[], tile_codes: {masked: number}}} Groups
 */

const GAP = 3;
const MARGIN = { left: 26, top: 16 };
const TILE = { least: 12, most: 48 };
const MOST_STRETCH = 2; // of a map's longer side to its shorter
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Grids {
  /** @type {Groups | undefined} */
  #data;
  /** @type {Palette} */
  #palette;
  /** @type {Chosen} */
  #chosen;
  #drawn = "";
  /** @type {Grid[]} */
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
    const drawn = `${data.key} ${palette.background} ${width}`;
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
      this.grids = data.groups.map((_, i) => new Grid(this, i));
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
    this.grids[groups.indexOf(group)].picture.focus();
  }
}

/** The small maps of one group. */
class Grid {
  #frame = svg("rect", { class: "hl-frame" });
  #hover = svg("rect", { class: "hl-frame hl-frame-hover", visibility: "hidden" });
  #pitch = { x: 0, y: 0 };
  /** @type {Group} */
  #group;
  /** @type {Chosen} */
  #chosen;

  /**
   * @param {Grids} grids
   * @param {number} i
   */
  constructor(grids, i) {
    this.grids = grids;
    this.i = i;
    this.picture = svg("svg", { class: "hl-grid-of-heads", tabindex: 0, role: "application" });
    this.picture.setAttribute("aria-roledescription", "map of heads");
    this.title = html("h3", { class: "hl-grid-title" });
    this.node = html("figure", null, this.title, this.picture);
    this.picture.addEventListener("pointermove", (event) => this.#point(event));
    this.picture.addEventListener("pointerleave", () =>
      this.#hover.setAttribute("visibility", "hidden"),
    );
    this.picture.addEventListener("click", (event) => {
      const at = this.#at(event);
      if (at) grids.pick(spelled(this.#group, ...at));
    });
    this.picture.addEventListener("keydown", (event) => this.#step(event));
  }

  /**
   * @param {Groups} data
   * @param {Group} group
   * @param {Palette} palette
   * @param {number} pitch
   */
  build(data, group, palette, pitch) {
    this.#group = group;
    const [, rows, columns] = group.tiles.shape;
    const stretch = Math.min(Math.max(rows / columns, 1 / MOST_STRETCH), MOST_STRETCH);
    this.#pitch = { x: pitch, y: Math.min(TILE.most, (pitch - GAP) * stretch) + GAP };
    const [width, height] = [pitch * group.n_heads, this.#pitch.y * group.n_layers];
    const box = [MARGIN.left + width + 2, MARGIN.top + height + 2];
    setAll(this.picture, { viewBox: `0 0 ${box[0]} ${box[1]}`, width: box[0], height: box[1] });
    const gaps = { x: GAP / (this.#pitch.x - GAP), y: GAP / (this.#pitch.y - GAP) };
    const image = svg("image", {
      href: atlas(group, data.tile_codes, palette, gaps),
      ...{ x: MARGIN.left, y: MARGIN.top, width, height },
      preserveAspectRatio: "none",
      style: `image-rendering:${columns > pitch * devicePixelRatio ? "auto" : "pixelated"}`,
    });
    const isAlone = data.groups.length === 1;
    this.title.textContent = isAlone ? "All heads" : group.title.replace("-attention", "");
    this.picture.replaceChildren(image, ...this.#labels(), this.#hover, this.#frame);
    this.picture.setAttribute(
      "aria-label",
      `${group.title}: ${group.n_layers} layers and ${group.n_heads} heads as small maps; arrow keys choose one.`,
    );
  }

  /** @returns {{name: string, layers: number, heads: number, framed: string | null}} */
  read() {
    const { name, n_layers: layers, n_heads: heads } = this.#group;
    const isMine = this.#frame.getAttribute("visibility") === "visible";
    return { name, layers, heads, framed: isMine ? called(this.#chosen) : null };
  }

  #labels() {
    const { n_layers, n_heads } = this.#group;
    const { x: wide, y: high } = this.#pitch;
    /** @type {(x: number, y: number, anchor: string, words: string) => SVGElement} */
    const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor }, words);
    return [
      ...Array.from({ length: n_layers }, (_, i) =>
        text(MARGIN.left - 5, MARGIN.top + (i + 0.5) * high + 3, "end", `L${i}`),
      ),
      ...Array.from({ length: n_heads }, (_, i) =>
        text(MARGIN.left + (i + 0.5) * wide, MARGIN.top - 5, "middle", `H${i}`),
      ),
    ];
  }

  /**
   * Frame what is chosen, if it is of this group: a head, its layer, or all.
   *
   * @param {Chosen} chosen
   */
  frame(chosen) {
    this.#chosen = chosen;
    const isMine = chosen.group.name === this.#group.name;
    this.#frame.setAttribute("visibility", isMine ? "visible" : "hidden");
    const { n_layers, n_heads } = this.#group;
    const { layer, head, over } = chosen;
    const first = [over === "all" ? 0 : layer, over === "head" ? head : 0];
    const size = [over === "all" ? n_layers : 1, over === "head" ? 1 : n_heads];
    this.#put(this.#frame, first, size);
    if (isMine) this.picture.setAttribute("aria-description", called(chosen));
  }

  /**
   * @param {Element} node
   * @param {number[]} first layer and head
   * @param {number[]} size layers and heads
   */
  #put(node, [layer, head], [n_layers, n_heads]) {
    const { x, y } = this.#pitch;
    setAll(node, {
      x: MARGIN.left + head * x - GAP / 2,
      y: MARGIN.top + layer * y - GAP / 2,
      width: n_heads * x,
      height: n_layers * y,
    });
  }

  /**
   * The layer and head at a place, or null.
   *
   * @param {MouseEvent} event
   * @returns {[number, number] | null}
   */
  #at(event) {
    const box = this.picture.getBoundingClientRect();
    const shrunk = this.picture.viewBox.baseVal.width / box.width || 1;
    const head = Math.floor(((event.clientX - box.left) * shrunk - MARGIN.left) / this.#pitch.x);
    const layer = Math.floor(((event.clientY - box.top) * shrunk - MARGIN.top) / this.#pitch.y);
    const { n_layers, n_heads } = this.#group;
    return layer >= 0 && head >= 0 && layer < n_layers && head < n_heads ? [layer, head] : null;
  }

  /** @param {MouseEvent} event */
  #point(event) {
    const at = this.#at(event);
    this.#hover.setAttribute("visibility", at ? "visible" : "hidden");
    if (at) this.#put(this.#hover, at, [1, 1]);
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const { group, layer, head } = this.#chosen;
    if (group.name === this.#group.name) this.grids.step(this.i, [layer, head], move);
    else this.grids.pick(spelled(this.#group, 0, 0));
  }
}
