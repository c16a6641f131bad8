// The line below the model: it names the stages, says how far the pass has come, and can be dragged.

import { html } from "../../dom.js";
import { goalOf } from "./goals.js";
import { clamp, frontAt, stageAt } from "./layout.js";

/** @import { Flow } from "./layout.js" */
/** @import { HomeSpec } from "./numbers.js" */
/** @import { Timeline } from "./timeline.js" */

const WHOLE = 1 - 1e-6; // of a stage: all of it is drawn, and the next has not begun
const CLICK = 3; // pixels that a hand may move
const NAMED = 16; // columns; of more some are named
const IN_FULL = { one: 8, several: 12 }; // of several bands the stages stand evenly, with more room

/**
 * What a column is called, as far as there is room.
 *
 * @param {import("./numbers.js").Column} column
 * @param {HomeSpec} spec
 */
export function nameOf({ name, layer }, { columns, bands }) {
  const n = columns.length;
  if (n <= IN_FULL[bands.length > 1 ? "several" : "one"]) return `${name} ${layer}`;
  return n > NAMED && layer % 5 ? "" : `${name === "cross" ? "×" : ""}${layer}`;
}

export class Axis {
  /** @type {{name: string, stage: number, node: HTMLElement}[]} */
  #names = [];
  /** @type {Flow | undefined} */
  #flow;
  #stage = 0;
  #last = 0;

  /** @param {(at: number) => void} seek */
  constructor(seek) {
    this.line = html("i");
    this.sight = html("u"); // the layers that are in sight, where these are some of them
    this.knob = html("b");
    this.node = html(
      "div",
      {
        class: "hl-home-axis",
        role: "slider",
        tabindex: 0,
        "aria-label": "How far the pass has come",
      },
      ...[this.line, this.sight, this.knob],
    );
    /** @param {PointerEvent} event */
    const drag = ({ clientX }) => {
      const { left } = this.node.getBoundingClientRect();
      if (this.#flow) seek(stageAt(this.#flow, clientX - left + this.#flow.tokens.x));
    };
    let from = 0;
    this.node.addEventListener("pointerdown", (event) => {
      this.node.setPointerCapture(event.pointerId);
      from = event.clientX;
      const named = this.#names.find(({ node }) => node === event.target);
      if (named) seek(named.stage + WHOLE);
      else drag(event);
    });
    this.node.addEventListener("pointermove", (event) => {
      if (event.buttons && Math.abs(event.clientX - from) > CLICK) drag(event);
    });
    this.node.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      seek(clamp(this.#stage + step, 0, this.#last));
    });
  }

  /**
   * @param {HomeSpec} spec
   * @param {Timeline} time
   */
  build(spec, time) {
    const { columns, bands, has_positions, side } = spec;
    const names = time.stages.slice(0, time.DRAW).flatMap(({ kind, band, column }, stage) => {
      if (kind === "tokens") return [{ name: side ? "patches" : "tokens", stage }];
      if (kind === "next") return [{ name: goalOf(spec).end, stage }];
      if (kind === "embed" && bands.length > 1)
        return [{ name: band ? "decoder" : "encoder", stage }];
      if (kind === "embed")
        return [
          { name: "embedding", stage },
          ...(has_positions ? [{ name: "+ position", stage }] : []),
        ];
      return [{ name: nameOf(columns[column], spec), stage }];
    });
    this.#names = names.map((about) => ({ ...about, node: html("span", null, about.name) }));
    this.#last = time.DRAW;
    const nodes = this.#names.map(({ node }) => node);
    this.node.replaceChildren(this.line, this.sight, this.knob, ...nodes);
    this.node.setAttribute("aria-valuemin", "0");
    this.node.setAttribute("aria-valuemax", String(this.#last));
  }

  /** @param {Flow} flow */
  place(flow) {
    this.#flow = flow;
    const { tokens, next, last, stops, bands, pages, page } = flow;
    const right = stops[stops.length - 1];
    const places = bands.length > 1 ? this.#evenly(stops) : this.#below(flow);
    const [from, to] = [stops[page.from + 2], stops[page.to + 2]]; // after tokens and embedding
    Object.assign(this.sight.style, { left: `${from - tokens.x}px`, width: `${to - from}px` });
    this.sight.hidden = pages.length < 2;
    this.node.style.left = `${tokens.x}px`;
    this.node.style.width = `${right - tokens.x}px`;
    this.#names.forEach(({ node }, i) => (node.style.left = `${places[i] - tokens.x}px`));
    this.#names[this.#names.length - 1].node.hidden = !next && !last; // the list stands elsewhere
  }

  /**
   * The name of each stage where it begins.
   *
   * @param {number[]} stops
   */
  #evenly(stops) {
    return this.#names.map(({ stage }) => (stops[stage] + stops[stage + 1]) / 2);
  }

  /**
   * The name of each stage below what it is about.
   *
   * @param {Flow} flow
   */
  #below({ tokens, embed, positions, columns, pages, last, next, stops }) {
    const centres = [embed, ...(positions ? [positions] : [])].map(({ x, width }) => x + width / 2);
    const maps = columns.map(({ heads: [map] }, i) =>
      pages.length > 1 ? (stops[i + 2] + stops[i + 3]) / 2 : map.x + map.size / 2,
    );
    const answers = next ? next.x + 40 : stops[stops.length - 1] - 40;
    const end = last ? last.x + last.width / 2 : answers;
    return [tokens.x + 20, ...centres, ...maps, end];
  }

  /**
   * @param {Flow} flow
   * @param {Timeline} time
   */
  mark(flow, time) {
    const [left, right] = [flow.tokens.x, flow.stops[flow.stops.length - 1]];
    const front = frontAt(flow.stops, Math.min(time.at, time.DRAW));
    this.line.style.transform = `scaleX(${(front - left) / (right - left)})`;
    this.knob.style.transform = `translateX(${front - left}px)`;
    this.#stage = Math.min(Math.floor(time.at), time.DRAW);
    const now = this.#names.filter(({ stage }) => stage === this.#stage);
    for (const { node, stage } of this.#names)
      node.classList.toggle("hl-now", stage === this.#stage);
    this.node.setAttribute("aria-valuenow", String(this.#stage));
    this.node.setAttribute("aria-valuetext", now[0]?.name ?? "all done");
  }
}
