// The small maps as things to point at: mouse, touch and keys, as calls of Home.

import { html } from "../../dom.js";
import { clamp } from "./layout.js";

/** @import { Flow } from "./layout.js" */
/** @import { Head, HomeSpec, Run } from "./numbers.js" */

const LEAVE_MS = 140; // so long after it has gone everything is as before
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/**
 * What is done to Home from here.
 *
 * @typedef {object} Hands
 * @property {{flow: Flow | undefined}} screen
 * @property {Run | undefined} run
 * @property {Head | null} focus
 * @property {import("../../lifetime.js").Lifetime} lifetime
 * @property {import("./tokens.js").HomeTokens} tokens
 * @property {import("./large.js").Large} large
 * @property {(head: Head) => void} point
 * @property {() => void} enlarge
 * @property {() => void} shrink
 * @property {() => void} rest
 * @property {() => void} letGo
 */

/**
 * Whether a place is none of those that keep what is looked at.
 *
 * @param {EventTarget | null} target
 */
export function isAside(target) {
  const kept = ".hl-home-large, .hl-home-heads, .hl-home-tokens, .hl-home-next, .hl-home-share";
  return target instanceof Element && !target.closest(kept);
}

export class Heads {
  #leave = () => {};

  /** @param {Hands} home */
  constructor(home) {
    this.home = home;
    this.node = html("div", { class: "hl-home-heads", role: "application", tabindex: 0 });
    this.node.setAttribute("aria-roledescription", "map of heads");
    this.node.addEventListener("pointermove", (event) => this.#moved(event));
    this.node.addEventListener("click", (event) => this.#clicked(event));
    this.node.addEventListener("keydown", (event) => this.#step(event));
    // The others are there only once all of Home is made.
    queueMicrotask(() => {
      for (const node of [this.node, home.tokens.node, home.large.node])
        node.addEventListener("pointerleave", (event) => this.#left(event));
      for (const node of [home.tokens.node, home.large.node])
        for (const type of ["pointerenter", "pointermove"])
          node.addEventListener(type, () => this.#leave());
    });
  }

  /** @param {HomeSpec} spec */
  build({ columns }) {
    const n_heads = columns.reduce((sum, column) => sum + column.n_heads, 0);
    const words = `${columns.length} attention layers with ${n_heads} heads; arrow keys go from head to head, Enter opens one`;
    this.node.setAttribute("aria-label", words);
  }

  /**
   * The head at a place, or null.
   *
   * @param {{clientX: number, clientY: number}} event
   * @returns {Head | null}
   */
  #at({ clientX, clientY }) {
    const { left, top } = this.node.getBoundingClientRect();
    const [x, y] = [clientX - left, clientY - top];
    for (const [column, { heads }] of (this.home.screen.flow?.columns ?? []).entries()) {
      const head = heads.findIndex(
        (map) => x >= map.x && x <= map.x + map.size && y >= map.y && y <= map.y + map.size,
      );
      if (head >= 0) return { column, head };
    }
    return null;
  }

  /** @param {PointerEvent} event */
  #moved(event) {
    const { home } = this;
    if (event.pointerType !== "mouse" || home.large.isOpen) return;
    const head = this.#at(event);
    this.node.style.cursor = head ? "pointer" : "";
    if (!head) return this.#goSoon();
    this.#leave();
    home.point(head);
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const head = this.#at(event);
    if (!head) return this.home.letGo();
    this.#leave();
    this.home.point(head);
    this.home.enlarge();
  }

  /** @param {PointerEvent} event */
  #left({ pointerType }) {
    if (pointerType === "mouse" && !this.home.large.isOpen) this.#goSoon();
  }

  #goSoon() {
    this.#leave();
    const { home } = this;
    this.#leave = home.lifetime.timeout(() => home.large.isOpen || home.rest(), LEAVE_MS);
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const { home } = this;
    const { columns = [] } = home.run?.spec ?? {};
    const move = MOVES[event.key];
    if (event.key === "Enter" && home.focus) {
      home.enlarge();
      home.large.host.focus();
    } else if (move) {
      this.#leave(); // whatever the mouse did a moment ago
      const first = home.screen.flow?.page.from ?? 0;
      const before = home.focus ?? { column: first - move[0], head: -move[1] };
      const column = clamp(before.column + move[0], 0, columns.length - 1);
      home.shrink();
      home.point({
        column,
        head: clamp(before.head + move[1], 0, columns[column].n_heads - 1),
      });
    } else return;
    event.preventDefault();
  }
}
