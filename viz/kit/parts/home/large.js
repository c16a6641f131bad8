// One head, large: it grows out of its small map into a heat map. A click keeps it, a second one opens
// its own page.

import { digits, html, setAll, wordsIn } from "../../dom.js";
import { drawingOf } from "../../export.js";
import { HeatMap } from "../../marks/heatmap.js";
import { matrix } from "../../maths.js";
import { COMES_LATER, WEIGHTS, pictured } from "../../patterns.js";
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
        const { rows, columns } = this.#sides();
        this.map.mark(row, column);
        this.#say(rows.from + row, columns.from + column);
        look(rows.from + row);
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
      before?.run === run && before.head.column === head.column && before.head.head === head.head;
    if (isSame) return;
    this.#shown = { run, head };
    this.node.hidden = false;
    this.#place(flow, head);
    const { opens } = run.spec.columns[head.column];
    this.link.hidden = !opens;
    this.link.href = opens.replace("{head}", String(head.head));
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
  #place(flow, { column, head }) {
    const { x, y, size } = flow.columns[column].heads[head];
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
  #grow(flow, { column, head }) {
    const { x, y, size } = flow.columns[column].heads[head];
    const { offsetLeft, offsetTop, offsetWidth } = this.node;
    const from = `translate(${x - offsetLeft}px,${y - offsetTop}px) scale(${size / offsetWidth})`;
    this.node.animate([{ transform: from }, { transform: "none" }], { duration: GROWS_MS });
  }

  /**
   * @param {Run} run
   * @param {Head} head
   * @param {Palette} palette
   */
  async #draw(run, head, palette) {
    const { rows, columns } = this.#sides();
    const [high, wide] = [rows.to - rows.from, columns.to - columns.from];
    /** @param {(row: number, key: number) => number} of */
    const cells = (of) =>
      Array.from({ length: high * wide }, (_, i) =>
        of(rows.from + Math.floor(i / wide), columns.from + (i % wide)),
      );
    const weights = cells((row, key) => run.weight(head.column, head.head, row, key));
    const values = matrix(high, wide, Float32Array.from(weights));
    const blank = Uint8Array.from(cells((row) => (run.isToken(row) ? 0 : 1)));
    const hidden = Uint8Array.from(
      cells((row, key) => (run.isToken(row) && run.isMasked(head.column, row, key) ? 1 : 0)),
    );
    const titles = { rowTitle: "query", columnTitle: "key" };
    const { axis, looks } = run.spec;
    const labels = {
      rowLabels: axis.slice(rows.from, rows.to),
      columnLabels: axis.slice(columns.from, columns.to),
      rowLooks: looks?.slice(rows.from, rows.to),
      columnLooks: looks?.slice(columns.from, columns.to),
    };
    pictured(this.host, `Attention of ${run.nameOf(head)} as a heat map`);
    await this.map.draw({ values, hidden, blank, scale: WEIGHTS, ...titles, ...labels }, palette);
  }

  /** The rows of its queries and of its keys. */
  #sides() {
    const { run, head } = /** @type {{run: Run, head: Head}} */ (this.#shown);
    const { band, keys } = run.spec.columns[head.column];
    return { rows: run.rowsOf(band), columns: run.rowsOf(keys) };
  }

  /**
   * @param {number} query
   * @param {number | null} key null: what it attends to most
   */
  #say(query, key) {
    if (!this.#shown) return;
    const { run, head } = this.#shown;
    const from = run.queryIn(query, head.column);
    const row = run.row(from, head);
    const to = key ?? row.indexOf(Math.max(...row));
    const why = to > from && run.isLater(from, to) ? COMES_LATER : "masked";
    const number = run.isMasked(head.column, from, to) ? why : digits(row[to], 3);
    const { labels } = run.spec;
    const name = html("b", null, run.nameOf(head));
    this.title.replaceChildren(
      name,
      " ",
      quoted(labels[from]),
      " → ",
      quoted(labels[to]),
      ` ${number}`,
    );
  }

  /** What it shows; null where no head is large. */
  read() {
    return this.node.hidden ? null : { ...wordsIn({ title: this.title }), map: this.map.read() };
  }

  /** Its frame, where it stands, with the map in it. */
  async drawing() {
    const picture = drawingOf(this.node, ".hl-home-large > div, .hl-home-open, button");
    const map = await this.map.drawing();
    const { left: x, top: y, width, height } = this.map.chart.getBoundingClientRect();
    setAll(map, { x, y, width, height });
    picture.append(map);
    return picture;
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
