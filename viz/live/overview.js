// All layers × heads as one picture. Hover names a head, a click or the arrow keys open it; the bars
// beside it stand for whole layers and whole heads and open their mean.

import { bytesOf } from "./arrays.js";
import { ramp, rgb } from "./colors.js";
import { digits, html, svg } from "./dom.js";
import { mean } from "./maths.js";

const GAP = 3;
const MARGIN = { left: 30, top: 22, bars: 44 };
const MOST_TILE = 74;

export class Overview {
  constructor(host, { open, openMean, near = () => {} }) {
    this.near = near; // the mouse is on a tile: a click may follow
    this.open = open;
    this.openMean = openMean;
    this.picture = svg("svg", {
      class: "hl-overview",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "map of heads",
    });
    this.caption = html("p", { class: "hl-caption" });
    host.append(this.picture, this.caption);
    this.host = host;
    this.picture.addEventListener("pointermove", (event) => this.hover(event));
    this.picture.addEventListener("pointerleave", () => this.rest());
    this.picture.addEventListener("click", (event) => this.click(event));
    this.picture.addEventListener("keydown", (event) => this.step(event));
    new ResizeObserver(() => this.data && this.draw(this.data, this.chosen, this.palette)).observe(
      host,
    );
  }

  /** Draw the tiles of `data` with the chosen [layer, head] framed. */
  draw(data, chosen, palette) {
    const same =
      this.data === data && this.palette === palette && this.width === this.host.clientWidth;
    Object.assign(this, { data, chosen, palette, width: this.host.clientWidth });
    if (!same && this.width) this.build();
    if (this.width) this.frame(this.frameNode, ...chosen);
    this.rest();
  }

  build() {
    const { n_layers, n_heads } = this.data;
    const room = this.width - MARGIN.left - MARGIN.bars - 2;
    this.pitch = Math.max(6, Math.min(MOST_TILE + GAP, room / n_heads));
    const [width, height] = [this.pitch * n_heads, this.pitch * n_layers];
    const box = [MARGIN.left + width + MARGIN.bars, MARGIN.top + height + MARGIN.bars];
    this.picture.setAttribute("viewBox", `0 0 ${box[0]} ${box[1]}`);
    this.picture.setAttribute("width", box[0]);
    this.picture.setAttribute("height", box[1]);
    const size = this.data.tiles.shape[2];
    const image = svg("image", {
      href: atlas(this.data, this.palette, GAP / (this.pitch - GAP)),
      x: MARGIN.left,
      y: MARGIN.top,
      width,
      height,
      preserveAspectRatio: "none",
      style: `image-rendering:${size > this.pitch * devicePixelRatio ? "auto" : "pixelated"}`,
    });
    this.frameNode = svg("rect", { class: "hl-frame" });
    this.hoverNode = svg("rect", { class: "hl-frame hl-frame-hover", visibility: "hidden" });
    this.picture.replaceChildren(
      image,
      ...this.labels(),
      ...this.bars(),
      this.hoverNode,
      this.frameNode,
    );
    this.picture.setAttribute("aria-label", this.alternative());
  }

  labels() {
    const { n_layers, n_heads } = this.data;
    const every = Math.ceil(22 / this.pitch);
    const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor }, words);
    const layers = Array.from({ length: n_layers }, (_, i) =>
      i % every
        ? null
        : text(MARGIN.left - 6, MARGIN.top + (i + 0.5) * this.pitch + 4, "end", `L${i}`),
    );
    const heads = Array.from({ length: n_heads }, (_, i) =>
      i % every
        ? null
        : text(MARGIN.left + (i + 0.5) * this.pitch, MARGIN.top - 7, "middle", `H${i}`),
    );
    return [...layers, ...heads].filter(Boolean);
  }

  /** Mean focus of each layer, right of its row, and of each head, below its column. */
  bars() {
    const { n_layers, n_heads } = this.data;
    const [right, below] = [
      MARGIN.left + this.pitch * n_heads + 4,
      MARGIN.top + this.pitch * n_layers + 4,
    ];
    const most = MARGIN.bars - 8;
    const thick = Math.min(this.pitch * 0.5, 14);
    const layers = Array.from({ length: n_layers }, (_, i) =>
      svg("rect", {
        class: "hl-bar",
        x: right,
        y: MARGIN.top + (i + 0.5) * this.pitch - thick / 2,
        height: thick,
        width: most * this.layerFocus(i),
      }),
    );
    const heads = Array.from({ length: n_heads }, (_, i) =>
      svg("rect", {
        class: "hl-bar",
        x: MARGIN.left + (i + 0.5) * this.pitch - thick / 2,
        y: below,
        width: thick,
        height: most * this.headFocus(i),
      }),
    );
    return [...layers, ...heads];
  }

  layerFocus(layer) {
    return mean(this.data.focus[layer]);
  }

  headFocus(head) {
    return mean(this.data.focus.map((layer) => layer[head]));
  }

  frame(node, layer, head) {
    const set = (name, value) => node.setAttribute(name, value);
    set("x", MARGIN.left + head * this.pitch - GAP / 2);
    set("y", MARGIN.top + layer * this.pitch - GAP / 2);
    set("width", this.pitch);
    set("height", this.pitch);
  }

  /** What a place on the picture is: {layer, head}, one of the two for a bar, or null. */
  at(event) {
    const box = this.picture.getBoundingClientRect();
    const shrunk = this.picture.viewBox.baseVal.width / box.width || 1; // by a narrow page
    const x = (event.clientX - box.left) * shrunk - MARGIN.left;
    const y = (event.clientY - box.top) * shrunk - MARGIN.top;
    const [head, layer] = [Math.floor(x / this.pitch), Math.floor(y / this.pitch)];
    const isLayer = layer >= 0 && layer < this.data.n_layers;
    const isHead = head >= 0 && head < this.data.n_heads;
    if (isLayer && isHead) return { layer, head };
    if (isLayer && x > 0) return { layer };
    return isHead && y > 0 ? { head } : null;
  }

  hover(event) {
    const place = this.at(event);
    this.hoverNode.setAttribute(
      "visibility",
      place?.layer != null && place?.head != null ? "visible" : "hidden",
    );
    if (!place) return this.rest();
    if (place.layer != null && place.head != null) {
      this.frame(this.hoverNode, place.layer, place.head);
      this.caption.textContent = this.strongest(place.layer, place.head);
      this.near(place.layer, place.head);
    } else if (place.layer != null) {
      this.caption.textContent = `L${place.layer}: mean focus of its heads ${digits(this.layerFocus(place.layer), 2)}. Click for the mean map.`;
    } else {
      this.caption.textContent = `H${place.head}: mean focus over layers ${digits(this.headFocus(place.head), 2)}. Click for the mean map.`;
    }
  }

  rest() {
    this.hoverNode?.setAttribute("visibility", "hidden");
    this.caption.textContent =
      "The stronger the colour, the larger the weight (its square root). Bars: focus, the mean of each row’s largest weight.";
  }

  click(event) {
    const place = this.at(event);
    if (place?.layer != null && place?.head != null) this.open(place.layer, place.head);
    else if (place?.layer != null) this.openMean("layer", place.layer);
    else if (place?.head != null) this.openMean("head", place.head);
  }

  step(event) {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[
      event.key
    ];
    if (!move) return;
    event.preventDefault();
    const layer = Math.min(Math.max(this.chosen[0] + move[0], 0), this.data.n_layers - 1);
    const head = Math.min(Math.max(this.chosen[1] + move[1], 0), this.data.n_heads - 1);
    this.open(layer, head);
    this.caption.textContent = this.strongest(layer, head);
  }

  strongest(layer, head) {
    const [query, key, weight] = this.data.strongest[layer][head];
    return `L${layer} H${head} · strongest: ${this.data.queryLabels[query]} → ${this.data.keyLabels[key]} ${digits(weight, 3)}`;
  }

  alternative() {
    const all = this.data.strongest.flatMap((heads, layer) =>
      heads.map((pair, head) => ({ layer, head, weight: pair[2] })),
    );
    const top = all.sort((a, b) => b.weight - a.weight).slice(0, 3);
    return (
      `All ${this.data.n_layers} layers and ${this.data.n_heads} heads as small maps; arrow keys choose one. ` +
      `Strongest pairs: ${top.map(({ layer, head }) => this.strongest(layer, head)).join("; ")}.`
    );
  }
}

/** The tiles as a picture: gap, masked, zero and weight each in its colour. */
function atlas({ tiles, n_layers, n_heads }, palette, gapShare) {
  const size = tiles.shape[2];
  const gap = Math.max(1, Math.round(size * gapShare));
  const pitch = size + gap;
  const canvas = html("canvas", { width: pitch * n_heads, height: pitch * n_layers });
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const table = byteColors(palette);
  const pixels = new Uint32Array(image.data.buffer);
  bytesOf(tiles.bdata).forEach((level, i) => {
    const [tile, cell] = [Math.floor(i / (size * size)), i % (size * size)];
    const x = (tile % n_heads) * pitch + (cell % size);
    const y = Math.floor(tile / n_heads) * pitch + Math.floor(cell / size);
    pixels[y * canvas.width + x] = table[level];
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** A little-endian RGBA word for each byte: 1 is masked, above 2 the weight. */
function byteColors(palette) {
  const scale = ramp(palette.sequential);
  const [r, g, b] = rgb(palette.masked);
  return Uint32Array.from({ length: 256 }, (_, level) => {
    const [red, green, blue] = level === 1 ? [r, g, b] : scale.subarray(3 * level, 3 * level + 3);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}
