// The line below the model: it names the stages, says how far the pass has come, and can be dragged.

import { html } from "../../dom.js";
import { clamp, frontAt, stageAt } from "./layout.js";
import { EMBED, LAYERS, TOKENS } from "./timeline.js";

/** @import { Flow } from "./layout.js" */
/** @import { HomeSpec } from "./numbers.js" */
/** @import { Timeline } from "./timeline.js" */

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
    this.knob = html("b");
    this.node = html(
      "div",
      {
        class: "hl-home-axis",
        role: "slider",
        tabindex: 0,
        "aria-label": "How far the pass has come",
      },
      ...[this.line, this.knob],
    );
    /** @param {PointerEvent} event */
    const drag = ({ clientX }) => {
      const { left } = this.node.getBoundingClientRect();
      if (this.#flow) seek(stageAt(this.#flow, clientX - left + this.#flow.tokens.x));
    };
    this.node.addEventListener("pointerdown", (event) => {
      this.node.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.node.addEventListener("pointermove", (event) => event.buttons && drag(event));
    this.node.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      seek(clamp(this.#stage + step, 0, this.#last));
    });
  }

  /** @param {HomeSpec} spec */
  build({ n_layers, has_positions }) {
    const layers = Array.from({ length: n_layers }, (_, i) => {
      return { name: n_layers > 8 ? `${i}` : `layer ${i}`, stage: LAYERS + i };
    });
    const names = [
      { name: "tokens", stage: TOKENS },
      { name: "embedding", stage: EMBED },
      ...(has_positions ? [{ name: "+ position", stage: EMBED }] : []),
      ...layers,
      { name: "next token", stage: LAYERS + n_layers },
    ];
    this.#names = names.map((about) => ({ ...about, node: html("span", null, about.name) }));
    this.#last = LAYERS + n_layers + 1;
    this.node.replaceChildren(this.line, this.knob, ...this.#names.map(({ node }) => node));
    this.node.setAttribute("aria-valuemin", "0");
    this.node.setAttribute("aria-valuemax", String(this.#last));
  }

  /** @param {Flow} flow */
  place(flow) {
    this.#flow = flow;
    const { tokens, embed, positions, layers, next, stops } = flow;
    const right = stops[stops.length - 1];
    const centres = [embed, ...(positions ? [positions] : [])].map(({ x, width }) => x + width / 2);
    const maps = layers.map(({ heads: [{ x, size }] }) => x + size / 2);
    const places = [tokens.x + 20, ...centres, ...maps, next ? next.x + 40 : right - 40];
    this.node.style.left = `${tokens.x}px`;
    this.node.style.width = `${right - tokens.x}px`;
    this.#names.forEach(({ node }, i) => (node.style.left = `${places[i] - tokens.x}px`));
    this.#names[this.#names.length - 1].node.hidden = !next; // the list stands elsewhere
  }

  /**
   * @param {Flow} flow
   * @param {Timeline} time
   */
  mark(flow, time) {
    const [left, right] = [flow.tokens.x, flow.stops[flow.stops.length - 1]];
    const front = frontAt(flow, Math.min(time.at, time.DRAW));
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
