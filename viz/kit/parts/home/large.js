// One head, large: it grows out of its small map into a heat map. A click keeps it, a second one opens
// its own page.

import { digits, html } from "../../dom.js";
import { HeatMap } from "../../marks/heatmap.js";
import { matrix } from "../../maths.js";
import { pictured } from "../../patterns.js";
import { quoted } from "./caption.js";
import { clamp } from "./layout.js";

/** @import { Lifetime } from "../../lifetime.js" */
/** @import { Palette } from "../../wire.js" */
/** @import { Flow } from "./layout.js" */
/** @import { Head, Run } from "./numbers.js" */

const WIDTH = 430;
const ROUND_MAP = 190; // pixels: the header, and labels and bar around the cells
const GROWS_MS = 170;

export class Large {
  /** What it shows. @type {{run: Run, head: Head} | null} */
  #shown = null;
  isPinned = false;

  /**
   * @param {Lifetime} lifetime
   * @param {{look: (query: number) => void, close: () => void, pin: () => void}} act
   */
  constructor(lifetime, { look, close, pin }) {
    this.title = html("p");
    this.link = html("a", { class: "hl-home-open" }, "Open in Attention");
    const shut = html("button", { type: "button", "aria-label": "Close", onclick: close }, "×");
    const host = html("div");
    const top = html("header", null, this.title, this.link, shut);
    this.node = html("div", { class: "hl-home-large", hidden: true }, top, host);
    this.host = host;
    this.map = new HeatMap(host, lifetime, {
      point: (row, column) => {
        this.map.mark(row, column);
        this.#say(row, column);
        look(row);
      },
      pick: () => (this.isPinned ? this.link.click() : pin()),
      most: 330,
      drag: false,
    });
  }

  /**
   * @param {Run} run
   * @param {Head} head
   * @param {{flow: Flow, palette: Palette, query: number, isStill: boolean}} look
   */
  async open(run, head, { flow, palette, query, isStill }) {
    const before = this.#shown;
    const isSame =
      before?.run === run && before.head.layer === head.layer && before.head.head === head.head;
    if (isSame) return;
    this.#shown = { run, head };
    this.node.hidden = false;
    this.#place(flow, head);
    this.link.hidden = !run.spec.opens;
    this.link.href = run.spec.opens
      .replace("{layer}", String(head.layer))
      .replace("{head}", String(head.head));
    this.#say(query, null);
    if (!isStill && !before) this.#grow(flow, head);
    this.map.sizes.most = flow.height - ROUND_MAP;
    await this.#draw(run, head, palette);
    if (this.#shown?.head === head) this.#place(flow, head);
  }

  /**
   * @param {Flow} flow
   * @param {Head} head
   */
  #place(flow, { layer, head }) {
    const { x, y, size } = flow.layers[layer].heads[head];
    const width = Math.min(WIDTH, flow.width - 8);
    const height = this.node.offsetHeight;
    const left = clamp(
      x + size / 2 - width / 2,
      0,
      Math.max(0, (flow.next ? flow.end : flow.width) - width),
    );
    const top = clamp(y + size / 2 - height / 2, 0, Math.max(0, flow.height - height));
    Object.assign(this.node.style, { left: `${left}px`, top: `${top}px`, width: `${width}px` });
  }

  /**
   * @param {Flow} flow
   * @param {Head} head
   */
  #grow(flow, { layer, head }) {
    const { x, y, size } = flow.layers[layer].heads[head];
    const { offsetLeft, offsetTop, offsetWidth } = this.node;
    const from = `translate(${x - offsetLeft}px,${y - offsetTop}px) scale(${size / offsetWidth})`;
    this.node.animate([{ transform: from }, { transform: "none" }], { duration: GROWS_MS });
  }

  /**
   * @param {Run} run
   * @param {Head} head
   * @param {Palette} palette
   */
  async #draw(run, { layer, head }, palette) {
    const { n, spec } = run;
    const at = (layer * spec.n_heads + head) * n * n;
    const values = matrix(n, n, run.arrays.pattern.subarray(at, at + n * n));
    const mask = run.arrays.mask.subarray(layer * n * n, (layer + 1) * n * n);
    const blank = new Uint8Array(n * n).fill(1, 0, run.first * n);
    const hidden = Uint8Array.from(mask, (allowed, i) => (allowed || blank[i] ? 0 : 1));
    const scale = { name: "weight", low: 0, high: 1 };
    const titles = { rowTitle: "query", columnTitle: "key" };
    const labels = { rowLabels: spec.axis, columnLabels: spec.axis };
    pictured(this.host, `Attention of layer ${layer}, head ${head} as a heat map`);
    await this.map.draw({ values, hidden, blank, scale, ...titles, ...labels }, palette);
  }

  /**
   * @param {number} query
   * @param {number | null} key null: what it attends to most
   */
  #say(query, key) {
    if (!this.#shown) return;
    const { run, head } = this.#shown;
    const row = run.row(query, head);
    const to = key ?? row.indexOf(Math.max(...row));
    const number = run.isMasked(head.layer, query, to) ? "masked" : digits(row[to], 3);
    const { labels } = run.spec;
    const name = html("b", null, `L${head.layer} H${head.head}`);
    this.title.replaceChildren(
      name,
      " ",
      quoted(labels[query]),
      " → ",
      quoted(labels[to]),
      ` ${number}`,
    );
  }

  pin() {
    this.isPinned = true;
    this.node.classList.add("hl-kept");
  }

  close() {
    this.isPinned = false;
    this.node.classList.remove("hl-kept");
    this.#shown = null;
    this.node.hidden = true;
  }
}
