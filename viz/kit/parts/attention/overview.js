// All heads at a glance: a grid of small maps for each kind of attention. Hover names a head, a click
// or the arrow keys open it; the bars beside a grid stand for whole layers and whole heads and open
// their mean.

import { same } from "../../conversation.js";
import { digits, html, wordsIn, svg } from "../../dom.js";
import { GAP, Grid } from "../../marks/grid.js";
import { mean } from "../../measures.js";
import { chips, headsOf, pairsInWords, rolesInWords, says, stripOf } from "./roles.js";

/** @import { Lifetime } from "../../lifetime.js" */
/** @import { Palette } from "../../wire.js" */
/** @import { Tiles } from "../../atlas.js" */
/** @import { Group } from "../../run.js" */
/** @import { Told } from "./roles.js" */

const MARGIN = { left: 30, top: 22, beside: 44 }; // where the bars are
const TILE = { least: 6, most: 74 };
const MOST_STRETCH = 3; // of a map's longer side to its shorter
const REST =
  "The stronger the colour, the larger the weight. Where there is room a word above a map says what its head does most on this";
const BARS =
  "Grey bars say how sharp a layer’s or a head’s rows are: the mean of each row’s largest weight";
const FOR_MEAN = "Click for the mean map.";
const FIRST_ROW = ", in self-attention without the first row"; // as model.analysis.heads.sharpness

/** @import { At } from "../../marks/grid.js" */
/** @typedef {{attention: string, layer: number, head: number}} Chosen */

/**
 * What a person does here.
 *
 * @typedef {object} Actions
 * @property {(chosen: Chosen) => void} open a head
 * @property {(chosen: Partial<Chosen>, over: "layer" | "head") => void} openMean of a layer or head
 * @property {(chosen: Chosen) => void} [near] the mouse is on a tile: a click may follow
 */

export class Overview {
  /** @type {Told | undefined} */
  #told;
  /** Of each group. @type {Tiles[]} */
  #tiles = [];
  /** @type {Palette} */
  #palette;
  /** @type {Chosen} */
  #chosen;
  #width = 0;
  #turn = 0;
  /** @type {Charted[]} */
  #grids = [];
  /** Says of what a person points at. @type {(() => string) | null} */
  #pointed = null;

  /**
   * @param {HTMLElement} host
   * @param {Lifetime} lifetime
   * @param {Actions} actions
   */
  constructor(host, lifetime, actions) {
    this.host = host;
    this.actions = actions;
    this.pictures = html("div", { class: "hl-pictures" });
    this.caption = html("p", { class: "hl-caption" });
    this.longest = html("p", { class: "hl-caption", "aria-hidden": "true" }); // unseen: it keeps room
    const said = html("div", { class: "hl-said" }, this.caption, this.longest);
    host.append(this.pictures, said);
    lifetime.watchSize(host, () => {
      if (this.#told) this.#show();
    });
  }

  /**
   * Draw the small maps of a run with the chosen head framed; what is on screen stays until they
   * are here.
   *
   * @param {Told} told
   * @param {Partial<Chosen> & {layer: number, head: number}} chosen
   * @param {Palette} palette
   */
  async draw(told, chosen, palette) {
    const { run } = told;
    const turn = ++this.#turn;
    this.#chosen = { attention: run.group(undefined).name, ...chosen };
    const isSame = this.#told?.run === run && same(this.#palette, palette);
    const tiles = isSame ? null : await Promise.all(run.about.groups.map((x) => run.tiles(x)));
    if (turn !== this.#turn) return;
    if (tiles) [this.#told, this.#tiles, this.#palette, this.#width] = [told, tiles, palette, 0];
    this.#show();
  }

  #show() {
    const width = this.host.clientWidth;
    if (!width || !this.#told) return;
    if (this.#width !== width) this.#build(this.#told, width);
    this.#width = width;
    for (const grid of this.#grids) grid.frame(this.#chosen);
    this.#scroll();
    this.say(this.#pointed);
  }

  /** On a phone the maps are in a box: what is chosen is in sight there. */
  #scroll() {
    const framed = this.pictures.querySelector("[visibility=visible]:not(.hl-frame-hover)");
    if (!framed) return;
    const box = this.pictures.getBoundingClientRect();
    const { top, bottom } = framed.getBoundingClientRect();
    if (top < box.top || bottom > box.bottom)
      this.pictures.scrollTop += (top + bottom - box.top - box.bottom) / 2;
  }

  /**
   * @param {Told} told
   * @param {number} width
   */
  #build(told, width) {
    const { groups } = told.run.about;
    if (
      !same(
        groups.map(sizeOf),
        this.#grids.map(({ group }) => sizeOf(group)),
      )
    ) {
      this.#pointed = null;
      this.#grids = groups.map((group) => new Charted(this, group));
      const hasTitles = groups.length > 1;
      const parts = this.#grids.map(({ title, grid }) => [hasTitles ? title : null, grid.node]);
      this.pictures.replaceChildren(...parts.flat().filter((part) => part !== null));
    }
    this.#grids.forEach((grid, i) =>
      grid.build(told, groups[i], { tiles: this.#tiles[i], palette: this.#palette, width }),
    );
    const all = [this.#atRest(), ...this.#grids.flatMap((grid) => grid.sayings())];
    this.longest.textContent = all.reduce((a, b) => (b.length > a.length ? b : a));
  }

  /** What there is to see while nobody points at a head. */
  #atRest() {
    const { about, given } = /** @type {Told} */ (this.#told).run;
    const hasSelf = about.groups.some(({ kind }) => kind === "self");
    return `${REST} ${given}. ${BARS}${hasSelf ? FIRST_ROW : ""}.`;
  }

  /**
   * Say what is pointed at, of the run on screen; it stays said when that is drawn again.
   *
   * @param {(() => string) | null} pointed
   */
  say(pointed) {
    this.#pointed = pointed;
    this.caption.textContent = pointed?.() ?? this.#atRest();
  }

  read() {
    const grids = this.#grids.map(({ title, grid }) => ({ ...wordsIn({ title }), ...grid.read() }));
    return { ...wordsIn({ says: this.caption }), grids };
  }
}

/** The grid of one group: its small maps, what their heads do, and bars beside them. */
class Charted {
  /** @type {Told} */
  told;
  /** @type {Chosen} */
  #chosen;

  /**
   * @param {Overview} overview
   * @param {Group} group
   */
  constructor(overview, group) {
    this.overview = overview;
    this.group = group;
    this.title = html("h3", { class: "hl-grid-title" }, group.title);
    this.grid = new Grid("hl-overview", MARGIN, {
      point: (at) => this.#hover(at),
      pick: (at) => this.#click(at),
      step: (move) => this.#step(move),
    });
  }

  /**
   * Draw the tiles of a group in a host of some width.
   *
   * @param {Told} told
   * @param {Group} group
   * @param {{tiles: Tiles, palette: Palette, width: number}} look
   */
  build(told, group, { tiles, palette, width }) {
    this.told = told;
    this.group = group;
    const [, rows, columns] = tiles.shape;
    const room = width - MARGIN.left - MARGIN.beside - 2;
    const { x, y } = pitchOf(rows / columns, room / group.n_heads);
    const strip = stripOf({ x, y });
    const pitch = { x, y: y + strip };
    this.grid.build({ ...group, tiles }, told.run.about, palette, pitch, strip);
    const corner = { x: MARGIN.left, y: MARGIN.top };
    this.grid.lay([...this.#bars(), ...(strip ? chips(told, group, pitch, corner) : [])]);
    this.grid.node.setAttribute("aria-label", this.#alternative());
  }

  /** Mean sharpness of each layer, right of its row, and of each head, below its column. */
  #bars() {
    const { n_layers, n_heads } = this.group;
    const { x: wide, y: high } = this.grid.pitch;
    const [right, below] = [MARGIN.left + wide * n_heads + 4, MARGIN.top + high * n_layers + 4];
    const most = MARGIN.beside - 8;
    const layers = Array.from({ length: n_layers }, (_, i) => {
      const height = Math.min(high * 0.5, 14);
      const y = MARGIN.top + (i + 0.5) * high + (this.grid.strip - height) / 2;
      const width = Math.max(0, most * this.#layerSharpness(i));
      return svg("rect", { class: "hl-bar", x: right, y, height, width });
    });
    const heads = Array.from({ length: n_heads }, (_, i) => {
      const width = Math.min(wide * 0.5, 14);
      const x = MARGIN.left + (i + 0.5) * wide - width / 2;
      const height = Math.max(0, most * this.#headSharpness(i));
      return svg("rect", { class: "hl-bar", x, y: below, width, height });
    });
    return [...layers, ...heads];
  }

  /** All that can be said of heads here. */
  sayings() {
    return headsOf(this.group).map(({ layer, head }) => says(this.told, this.group, layer, head));
  }

  /** @param {number} layer */
  #layerSharpness(layer) {
    return mean(this.group.sharpness[layer].map((value) => value ?? 0));
  }

  /** @param {number} head */
  #headSharpness(head) {
    return mean(this.group.sharpness.map((layer) => layer[head] ?? 0));
  }

  /**
   * Frame the chosen head, if it is of this group.
   *
   * @param {Chosen} chosen
   */
  frame(chosen) {
    this.#chosen = chosen;
    const isMine = chosen.attention === this.group.name;
    this.grid.frame(isMine ? [chosen.layer, chosen.head] : null);
  }

  /** @param {At} at */
  #hover({ layer, head }) {
    const { overview, group } = this;
    if (layer !== undefined && head !== undefined) {
      overview.say(() => says(this.told, group, layer, head));
      overview.actions.near?.({ attention: group.name, layer, head });
    } else if (layer !== undefined) {
      const value = () => digits(this.#layerSharpness(layer), 2);
      overview.say(() => `L${layer}: mean sharpness of its heads ${value()}. ${FOR_MEAN}`);
    } else if (head !== undefined) {
      const value = () => digits(this.#headSharpness(head), 2);
      overview.say(() => `H${head}: mean sharpness over layers ${value()}. ${FOR_MEAN}`);
    } else overview.say(null);
  }

  /** @param {At} at */
  #click({ layer, head }) {
    const attention = this.group.name;
    const { open, openMean } = this.overview.actions;
    if (layer !== undefined && head !== undefined) open({ attention, layer, head });
    else if (layer !== undefined) openMean({ attention, layer }, "layer");
    else if (head !== undefined) openMean({ attention, head }, "head");
  }

  /** @param {[number, number]} move */
  #step(move) {
    const { name, n_layers, n_heads } = this.group;
    const isMine = this.#chosen.attention === name;
    const from = isMine ? this.#chosen : { layer: -move[0], head: -move[1] }; // into its first head
    const layer = Math.min(Math.max(from.layer + move[0], 0), n_layers - 1);
    const head = Math.min(Math.max(from.head + move[1], 0), n_heads - 1);
    this.overview.actions.open({ attention: name, layer, head });
    this.overview.say(() => says(this.told, this.group, layer, head));
  }

  #alternative() {
    const { n_layers, n_heads } = this.group;
    return (
      `All ${n_layers} layers and ${n_heads} heads as small maps; arrow keys choose one. ` +
      `${rolesInWords(this.told, this.group)}${pairsInWords(this.told, this.group)}`
    );
  }
}

/** @type {(group: Group) => unknown[]} */
const sizeOf = ({ name, n_layers, n_heads }) => [name, n_layers, n_heads];

/**
 * The pitch of tiles in pixels: as wide as there is room for, as high as their maps are.
 *
 * @param {number} ratio height of a map by its width
 * @param {number} room pixels for one tile
 */
function pitchOf(ratio, room) {
  const stretch = Math.min(Math.max(ratio, 1 / MOST_STRETCH), MOST_STRETCH);
  const x = Math.max(TILE.least, Math.min(TILE.most + GAP, room));
  return { x, y: Math.max(TILE.least, (x - GAP) * stretch + GAP) };
}
