// One head, large, beside what it explains: where the answers are, right of all small maps, or below
// the picture where these are below as well.

import { digits, html, setAll, wordsIn } from "../../dom.js";
import { drawingOf } from "../../export.js";
import { cellAfter } from "../../keyboard.js";
import { HeatMap } from "../../marks/heatmap.js";
import { matrix } from "../../maths.js";
import { WEIGHTS, focusable } from "../../patterns.js";
import { quoted } from "./caption.js";

/** @import { Lifetime } from "../../lifetime.js" */
/** @import { Palette } from "../../wire.js" */
/** @import { Flow } from "./layout.js" */
/** @import { Head, Run } from "./numbers.js" */

const BESIDE = 10; // pixels from the last small map
const ROUND_MAP = 210; // pixels: the header, and labels and bar around the cells
const GROWS_MS = 170;

export class Large {
  /** What it shows. @type {{run: Run, head: Head} | null} */
  #shown = null;
  /** The cell that is pointed at, in rows of the map. @type {[number, number]} */
  #at = [0, 0];

  /**
   * @param {Lifetime} lifetime
   * @param {{look: (query: number) => void, close: () => void}} act
   */
  constructor(lifetime, { look, close }) {
    this.look = look;
    this.title = html("b");
    this.says = html("p", { role: "status" });
    this.link = html("a", { class: "hl-home-open" }, "Open in Attention");
    const shut = html("button", { type: "button", "aria-label": "Close", onclick: close }, "×");
    const host = html("div");
    const top = html("header", null, this.title, this.link, shut);
    this.node = html("div", { class: "hl-home-large", hidden: true }, top, this.says, host);
    this.host = host;
    host.addEventListener("keydown", (event) => this.#step(event));
    const point = (/** @type {number} */ row, /** @type {number} */ key) => this.#point(row, key);
    this.map = new HeatMap(host, lifetime, { point, pick: point, most: 330, drag: false });
  }

  get isOpen() {
    return !this.node.hidden;
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
    this.#place(flow);
    const { opens } = run.spec.columns[head.column];
    this.link.hidden = !opens;
    this.link.href = opens.replace("{head}", String(head.head));
    this.title.textContent = run.nameOf(head);
    this.#say(query, null);
    if (!isStill && !before && flow.next) this.#grow(flow, head);
    this.map.sizes.most = flow.height - ROUND_MAP;
    await this.#draw(run, head, palette);
  }

  /** @param {Flow} flow */
  #place({ columns, width, next }) {
    const maps = columns.flatMap(({ heads }) => heads.map(({ x, size }) => x + size));
    const left = Math.max(...maps) + BESIDE;
    this.node.style.cssText = next ? `left:${left}px;top:0;width:${width - left}px` : "";
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
    focusable(this.host, `Attention of ${run.nameOf(head)}. Arrow keys move the cell.`);
    await this.map.draw({ values, hidden, blank, scale: WEIGHTS, ...titles, ...labels }, palette);
  }

  /** The rows of its queries and of its keys. */
  #sides() {
    const { run, head } = /** @type {{run: Run, head: Head}} */ (this.#shown);
    const { band, keys } = run.spec.columns[head.column];
    return { rows: run.rowsOf(band), columns: run.rowsOf(keys) };
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  #point(row, column) {
    const { rows, columns } = this.#sides();
    this.#at = [row, column];
    this.map.mark(row, column);
    this.#say(rows.from + row, columns.from + column);
    this.look(rows.from + row);
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const { values } = this.map.picture ?? {};
    const to = values && cellAfter(event.key, this.#at, values);
    if (!to) return;
    event.preventDefault();
    this.#point(...to);
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
    const { rows, columns } = this.#sides();
    const why = this.map.whyHidden(from - rows.from, to - columns.from);
    const { labels } = run.spec;
    const pair = [quoted(labels[from]), " → ", quoted(labels[to])];
    this.says.replaceChildren(...pair, why ? `: ${why}` : ` ${digits(row[to], 3)}`);
  }

  /** What it shows; null where no head is large. */
  read() {
    return this.node.hidden
      ? null
      : { ...wordsIn({ title: this.title, says: this.says }), map: this.map.read() };
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

  close() {
    this.#shown = null;
    this.node.hidden = true;
  }
}
