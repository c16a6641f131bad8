// All heads of one kind of attention as small maps: a row a layer, a column a head.

import { atlas } from "../atlas.js";
import { setAll, svg } from "../dom.js";

/** @import { Tiles } from "../atlas.js" */
/** @import { Palette } from "../wire.js" */

export const GAP = 3; // pixels between two
const LABEL_ROOM = 22; // pixels between two names
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** @typedef {{layer?: number, head?: number}} At a head, or a whole layer, or a head of all layers */
/** @typedef {{tiles: Tiles, n_layers: number, n_heads: number}} Heads */

/**
 * What a person does here.
 *
 * @typedef {object} Acts
 * @property {(at: At) => void} point nothing where it is off the maps
 * @property {(at: At) => void} pick
 * @property {(move: [number, number]) => void} step an arrow key: layers and heads to go
 */

/** @typedef {{left: number, top: number, beside: number}} Margin around the maps */

export class Grid {
  /** Pixels from one map to the next. */
  pitch = { x: 0, y: 0 };
  /** Pixels above each map that a word has. */
  strip = 0;
  /** @type {Heads} */
  #heads;
  #frame = svg("rect", { class: "hl-frame", visibility: "hidden" });
  #pointed = svg("rect", { class: "hl-frame hl-frame-hover", visibility: "hidden" });

  /**
   * @param {string} name its class
   * @param {Margin} margin
   * @param {Acts} acts
   */
  constructor(name, margin, acts) {
    this.margin = margin;
    this.acts = acts;
    this.node = svg("svg", { class: name, tabindex: 0, role: "application" });
    this.node.setAttribute("aria-roledescription", "map of heads");
    this.node.addEventListener("pointermove", (event) => this.#point(this.#at(event)));
    this.node.addEventListener("pointerleave", () => this.#point({}));
    this.node.addEventListener("click", (event) => acts.pick(this.#at(event)));
    this.node.addEventListener("keydown", (event) => {
      const move = MOVES[event.key];
      if (!move) return;
      event.preventDefault();
      acts.step(move);
    });
  }

  /**
   * @param {Heads} heads
   * @param {{masked: number, isSigned?: boolean}} codes bytes that are no weight
   * @param {Palette} palette
   * @param {{x: number, y: number}} pitch
   * @param {number} [strip] pixels above each map that a word has
   */
  build(heads, codes, palette, pitch, strip = 0) {
    this.#heads = heads;
    [this.pitch, this.strip] = [pitch, strip];
    const { left, top, beside } = this.margin;
    const [width, height] = [pitch.x * heads.n_heads, pitch.y * heads.n_layers];
    const box = [left + width + beside, top + height + beside];
    setAll(this.node, { viewBox: `0 0 ${box[0]} ${box[1]}`, width: box[0], height: box[1] });
    const below = GAP + strip;
    const gaps = { x: GAP / (pitch.x - GAP), y: below / (pitch.y - below) };
    const isSmooth = heads.tiles.shape[2] > pitch.x * devicePixelRatio;
    const image = svg("image", {
      href: atlas(heads, codes, palette, gaps),
      ...{ x: left, y: top + strip, width, height },
      preserveAspectRatio: "none",
      style: `image-rendering:${isSmooth ? "auto" : "pixelated"}`,
    });
    this.node.replaceChildren(image, ...this.#names(), this.#pointed, this.#frame);
  }

  #names() {
    const { left, top } = this.margin;
    const { x: wide, y: high } = this.pitch;
    /** @type {(x: number, y: number, anchor: string, words: string) => SVGElement} */
    const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor }, words);
    const layers = spaced(this.#heads.n_layers, high).map((i) =>
      text(left - 5, top + (i + 0.5) * high + this.strip / 2 + 4, "end", `L${i}`),
    );
    const heads = spaced(this.#heads.n_heads, wide).map((i) =>
      text(left + (i + 0.5) * wide, top - 6, "middle", `H${i}`),
    );
    return [...layers, ...heads];
  }

  /**
   * Lay something upon the maps, below the frames.
   *
   * @param {SVGElement[]} nodes
   */
  lay(nodes) {
    for (const node of nodes) this.node.insertBefore(node, this.#pointed);
  }

  /**
   * Frame a map by its layer and head; null frames none.
   *
   * @param {[number, number] | null} at
   */
  frame(at) {
    this.#frame.setAttribute("visibility", at ? "visible" : "hidden");
    if (at) this.#put(this.#frame, at);
  }

  /** What is on screen: how many layers and heads, which is framed, and all words. */
  read() {
    const box = this.node.querySelector("image")?.getBBox() ?? { width: 0, height: 0 };
    const { x, y } = this.#frame.getBBox();
    const at = [
      (y + GAP / 2 - this.strip - this.margin.top) / this.pitch.y,
      (x + GAP / 2 - this.margin.left) / this.pitch.x,
    ];
    return {
      says: this.node.ariaLabel,
      layers: Math.round(box.height / this.pitch.y),
      heads: Math.round(box.width / this.pitch.x),
      framed: this.#frame.getAttribute("visibility") === "visible" ? at.map(Math.round) : null,
      words: Array.from(this.node.querySelectorAll("text"), ({ textContent }) => textContent),
    };
  }

  /**
   * @param {Element} node
   * @param {[number, number]} at
   */
  #put(node, [layer, head]) {
    const { x, y } = this.pitch;
    setAll(node, {
      x: this.margin.left + head * x - GAP / 2,
      y: this.margin.top + layer * y + this.strip - GAP / 2,
      width: x,
      height: y - this.strip,
    });
  }

  /** @param {At} at */
  #point({ layer, head }) {
    const isMap = layer !== undefined && head !== undefined;
    this.#pointed.setAttribute("visibility", isMap ? "visible" : "hidden");
    if (isMap) this.#put(this.#pointed, [layer, head]);
    this.acts.point({ layer, head });
  }

  /**
   * What a place on the picture is: a head; right of the maps a layer; below them a head of all layers.
   *
   * @param {MouseEvent} event
   * @returns {At}
   */
  #at(event) {
    const box = this.node.getBoundingClientRect();
    const shrunk = this.node.viewBox.baseVal.width / box.width || 1; // by a narrow page
    const x = (event.clientX - box.left) * shrunk - this.margin.left;
    const y = (event.clientY - box.top) * shrunk - this.margin.top;
    const [head, layer] = [Math.floor(x / this.pitch.x), Math.floor(y / this.pitch.y)];
    const isLayer = layer >= 0 && layer < this.#heads.n_layers;
    const isHead = head >= 0 && head < this.#heads.n_heads;
    if (isLayer && isHead) return { layer, head };
    if (isLayer && x > 0) return { layer };
    return isHead && y > 0 ? { head } : {};
  }
}

/**
 * The numbers below n whose names have room.
 *
 * @param {number} n
 * @param {number} pitch
 */
function spaced(n, pitch) {
  const every = Math.ceil(LABEL_ROOM / pitch);
  return Array.from({ length: n }, (_, i) => i).filter((i) => i % every === 0);
}
