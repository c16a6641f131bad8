// All heads at a glance: a grid of small maps for each kind of attention. Hover names a head, a click
// or the arrow keys open it; the bars beside a grid stand for whole layers and whole heads and open
// their mean.

import { digits, html, setAll, svg } from "../../kit/dom.js";
import { mean } from "../../kit/measures.js";
import { atlas } from "../../kit/atlas.js";
import { GAP, pitchOf, spaced } from "./tiling.js";
import { chips, headsOf, pairsInWords, rolesInWords, says } from "./roles.js";

/** @import { Lifetime } from "../../kit/lifetime.js" */
/** @import { Palette } from "../../kit/wire.js" */
/** @import { Group, MicroscopeData } from "./wire.js" */

const MARGIN = { left: 30, top: 22, bars: 44 };
const REST =
  "The stronger the colour, the larger the weight (its square root). A word on a map says what its head does most on this sentence. Bars: sharpness, the mean of each row’s maximum";
const FIRST_ROW = ", in self-attention without the first row"; // as model.analysis.heads.sharpness
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** @typedef {{attention: string, layer: number, head: number}} Chosen */

/**
 * What a person does here.
 *
 * @typedef {object} Actions
 * @property {(chosen: Chosen) => void} open a head
 * @property {(chosen: Partial<Chosen>, over: "layer" | "head") => void} openMean of a layer or head
 * @property {(chosen: Chosen) => void} [near] the mouse is on a tile: a click may follow
 */

/**
 * What the overview needs of what the microscope is sent.
 *
 * @typedef {MicroscopeData} OverviewData
 */

export class Overview {
  /** @type {OverviewData | undefined} */
  #data;
  /** @type {Palette} */
  #palette;
  /** @type {Chosen} */
  #chosen;
  #width = 0;
  /** @type {Grid[]} */
  #grids = [];

  /**
   * @param {HTMLElement} host
   * @param {Lifetime} lifetime
   * @param {Actions} actions
   */
  constructor(host, lifetime, actions) {
    this.host = host;
    this.actions = actions;
    this.pictures = html("div");
    this.caption = html("p", { class: "hl-caption" });
    this.longest = html("p", { "aria-hidden": "true" }); // unseen, it keeps room for what may be said
    const said = html("div", { class: "hl-said" }, this.caption, this.longest);
    host.append(this.pictures, said);
    lifetime.watchSize(host, () => {
      if (this.#data) this.draw(this.#data, this.#chosen, this.#palette);
    });
  }

  /**
   * Draw the tiles of `data` with the chosen head framed.
   *
   * @param {OverviewData} data
   * @param {Partial<Chosen> & {layer: number, head: number}} chosen
   * @param {Palette} palette
   */
  draw(data, chosen, palette) {
    const width = this.host.clientWidth;
    const isSame = this.#data === data && this.#palette === palette && this.#width === width;
    this.#data = data;
    this.#palette = palette;
    this.#chosen = { attention: data.groups[0].name, ...chosen };
    this.#width = width;
    if (!width) return;
    if (!isSame) this.#build(data, palette, width);
    for (const grid of this.#grids) grid.frame(this.#chosen);
    this.rest();
  }

  /**
   * @param {OverviewData} data
   * @param {Palette} palette
   * @param {number} width
   */
  #build(data, palette, width) {
    const names = data.groups.map(({ name }) => name).join();
    if (names !== this.#grids.map(({ group }) => group.name).join()) {
      this.#grids = data.groups.map((group) => new Grid(this, group));
      const hasTitles = data.groups.length > 1;
      const parts = this.#grids.map(({ group, picture }) => [
        hasTitles ? html("h3", { class: "hl-grid-title" }, group.title) : null,
        picture,
      ]);
      this.pictures.replaceChildren(...parts.flat().filter((part) => part !== null));
    }
    this.#grids.forEach((grid, i) => grid.build(data, data.groups[i], palette, width));
    const all = [this.#atRest(), ...this.#grids.flatMap((grid) => grid.sayings())];
    this.longest.textContent = all.reduce((a, b) => (b.length > a.length ? b : a));
  }

  /** Say what there is to see while nobody points at a head. */
  rest() {
    this.say(this.#atRest());
  }

  #atRest() {
    const hasSelf = this.#data?.groups.some(({ kind }) => kind === "self");
    return `${REST}${hasSelf ? FIRST_ROW : ""}.`;
  }

  /** @param {string} words */
  say(words) {
    this.caption.textContent = words;
  }
}

/** The grid of one group: a row per layer, a column per head. */
class Grid {
  /** @type {OverviewData} */
  data;
  /** The frame around the chosen head, and the one around that under the mouse. */
  #chosenFrame = svg("rect", { class: "hl-frame" });
  #hoverFrame = svg("rect", { class: "hl-frame hl-frame-hover", visibility: "hidden" });
  /** Pixels from one tile to the next. */
  #pitch = { x: 0, y: 0 };
  /** @type {Chosen} */
  #chosen;

  /**
   * @param {Overview} overview
   * @param {Group} group
   */
  constructor(overview, group) {
    this.overview = overview;
    this.group = group;
    this.picture = svg("svg", {
      class: "hl-overview",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "map of heads",
    });
    this.picture.addEventListener("pointermove", (event) => this.#hover(event));
    this.picture.addEventListener("pointerleave", () => this.#rest());
    this.picture.addEventListener("click", (event) => this.#click(event));
    this.picture.addEventListener("keydown", (event) => this.#step(event));
  }

  /**
   * Draw the tiles of a group in a host of some width.
   *
   * @param {OverviewData} data
   * @param {Group} group
   * @param {Palette} palette
   * @param {number} hostWidth
   */
  build(data, group, palette, hostWidth) {
    this.data = data;
    this.group = group;
    const { n_layers, n_heads } = group;
    const [, rows, columns] = group.tiles.shape;
    const room = hostWidth - MARGIN.left - MARGIN.bars - 2;
    this.#pitch = pitchOf(rows / columns, room / n_heads);
    const [width, height] = [this.#pitch.x * n_heads, this.#pitch.y * n_layers];
    const box = [MARGIN.left + width + MARGIN.bars, MARGIN.top + height + MARGIN.bars];
    setAll(this.picture, { viewBox: `0 0 ${box[0]} ${box[1]}`, width: box[0], height: box[1] });
    const gaps = { x: GAP / (this.#pitch.x - GAP), y: GAP / (this.#pitch.y - GAP) };
    const isSmooth = columns > this.#pitch.x * devicePixelRatio;
    const image = svg("image", {
      href: atlas(group, data.tile_codes, palette, gaps),
      ...{ x: MARGIN.left, y: MARGIN.top, width, height },
      preserveAspectRatio: "none",
      style: `image-rendering:${isSmooth ? "auto" : "pixelated"}`,
    });
    const frames = [this.#hoverFrame, this.#chosenFrame];
    const corner = { x: MARGIN.left + this.#pitch.x - GAP, y: MARGIN.top };
    const words = chips(data, group, this.#pitch, corner);
    this.picture.replaceChildren(image, ...this.#labels(), ...this.#bars(), ...words, ...frames);
    this.picture.setAttribute("aria-label", this.#alternative());
  }

  #labels() {
    const { n_layers, n_heads } = this.group;
    const { x: wide, y: high } = this.#pitch;
    /** @type {(x: number, y: number, anchor: string, words: string) => SVGElement} */
    const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor }, words);
    const layers = spaced(n_layers, high).map((i) =>
      text(MARGIN.left - 6, MARGIN.top + (i + 0.5) * high + 4, "end", `L${i}`),
    );
    const heads = spaced(n_heads, wide).map((i) =>
      text(MARGIN.left + (i + 0.5) * wide, MARGIN.top - 7, "middle", `H${i}`),
    );
    return [...layers, ...heads];
  }

  /** Mean sharpness of each layer, right of its row, and of each head, below its column. */
  #bars() {
    const { n_layers, n_heads } = this.group;
    const { x: wide, y: high } = this.#pitch;
    const [right, below] = [MARGIN.left + wide * n_heads + 4, MARGIN.top + high * n_layers + 4];
    const most = MARGIN.bars - 8;
    const layers = Array.from({ length: n_layers }, (_, i) => {
      const height = Math.min(high * 0.5, 14);
      const y = MARGIN.top + (i + 0.5) * high - height / 2;
      const width = most * this.#layerSharpness(i);
      return svg("rect", { class: "hl-bar", x: right, y, height, width });
    });
    const heads = Array.from({ length: n_heads }, (_, i) => {
      const width = Math.min(wide * 0.5, 14);
      const x = MARGIN.left + (i + 0.5) * wide - width / 2;
      const height = most * this.#headSharpness(i);
      return svg("rect", { class: "hl-bar", x, y: below, width, height });
    });
    return [...layers, ...heads];
  }

  /** All that can be said of heads here. */
  sayings() {
    return headsOf(this.group).map(({ layer, head }) => says(this.data, this.group, layer, head));
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
    this.#chosenFrame.setAttribute("visibility", isMine ? "visible" : "hidden");
    this.#place(this.#chosenFrame, chosen.layer, chosen.head);
    this.#hoverFrame.setAttribute("visibility", "hidden");
  }

  /**
   * @param {Element} node
   * @param {number} layer
   * @param {number} head
   */
  #place(node, layer, head) {
    const { x: width, y: height } = this.#pitch;
    const x = MARGIN.left + head * width - GAP / 2;
    setAll(node, { x, y: MARGIN.top + layer * height - GAP / 2, width, height });
  }

  /**
   * What a place on the picture is: a head, a whole layer or head number for a bar, or nothing.
   *
   * @param {MouseEvent} event
   * @returns {{layer?: number, head?: number}}
   */
  #at(event) {
    const box = this.picture.getBoundingClientRect();
    const shrunk = this.picture.viewBox.baseVal.width / box.width || 1; // by a narrow page
    const x = (event.clientX - box.left) * shrunk - MARGIN.left;
    const y = (event.clientY - box.top) * shrunk - MARGIN.top;
    const [head, layer] = [Math.floor(x / this.#pitch.x), Math.floor(y / this.#pitch.y)];
    const isLayer = layer >= 0 && layer < this.group.n_layers;
    const isHead = head >= 0 && head < this.group.n_heads;
    if (isLayer && isHead) return { layer, head };
    if (isLayer && x > 0) return { layer };
    return isHead && y > 0 ? { head } : {};
  }

  /** @param {MouseEvent} event */
  #hover(event) {
    const { layer, head } = this.#at(event);
    const isTile = layer !== undefined && head !== undefined;
    this.#hoverFrame.setAttribute("visibility", isTile ? "visible" : "hidden");
    if (isTile) {
      this.#place(this.#hoverFrame, layer, head);
      this.overview.say(says(this.data, this.group, layer, head));
      this.overview.actions.near?.({ attention: this.group.name, layer, head });
    } else if (layer !== undefined) {
      const value = digits(this.#layerSharpness(layer), 2);
      this.overview.say(`L${layer}: mean sharpness of its heads ${value}. Click for the mean map.`);
    } else if (head !== undefined) {
      const value = digits(this.#headSharpness(head), 2);
      this.overview.say(`H${head}: mean sharpness over layers ${value}. Click for the mean map.`);
    } else this.#rest();
  }

  #rest() {
    this.#hoverFrame.setAttribute("visibility", "hidden");
    this.overview.rest();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const attention = this.group.name;
    const { layer, head } = this.#at(event);
    const { open, openMean } = this.overview.actions;
    if (layer !== undefined && head !== undefined) open({ attention, layer, head });
    else if (layer !== undefined) openMean({ attention, layer }, "layer");
    else if (head !== undefined) openMean({ attention, head }, "head");
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const { name, n_layers, n_heads } = this.group;
    const isMine = this.#chosen.attention === name;
    const from = isMine ? this.#chosen : { layer: -move[0], head: -move[1] }; // into its first head
    const layer = Math.min(Math.max(from.layer + move[0], 0), n_layers - 1);
    const head = Math.min(Math.max(from.head + move[1], 0), n_heads - 1);
    this.overview.actions.open({ attention: name, layer, head });
    this.overview.say(says(this.data, this.group, layer, head));
  }

  #alternative() {
    const { n_layers, n_heads } = this.group;
    return (
      `All ${n_layers} layers and ${n_heads} heads as small maps; arrow keys choose one. ` +
      `${rolesInWords(this.data, this.group)}${pairsInWords(this.data, this.group)}`
    );
  }
}
