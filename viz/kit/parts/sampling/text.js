// The text of the writer: a button for each token, shaded, with a mark where something changed.

import { html, setAll } from "../../dom.js";

/**
 * How a token looks.
 *
 * @typedef {object} Look
 * @property {string} label
 * @property {string[]} classes
 * @property {string} style
 * @property {string} title
 * @property {boolean} disabled
 */

/** @type {Record<string, (at: number, last: number) => number>} */
const MOVES = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 1,
  End: (_at, last) => last,
  Escape: (_at, last) => last + 1,
};

export class Text {
  /** @type {HTMLButtonElement[]} */
  #nodes = [];
  /** What each node shows. @type {string[]} */
  #shown = [];
  #at = 0;

  /** @param {(at: number) => void} go a person chose a token; one after the last for none */
  constructor(go) {
    this.go = go;
    this.node = html("div", {
      class: "hl-text",
      role: "group",
      "aria-label": "Text",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#pressed(event),
    });
  }

  /**
   * Show tokens. Those that look as before keep their nodes, and with them the keyboard's focus.
   *
   * @param {Look[]} looks
   * @param {number | null} chosen
   */
  show(looks, chosen) {
    const isLonger = looks.length > this.#nodes.length;
    for (const node of this.#nodes.splice(looks.length)) node.remove();
    this.#shown.length = Math.min(this.#shown.length, looks.length);
    looks.forEach((look, i) => this.#showOne(look, i));
    const had = this.#at;
    this.#at = chosen ?? looks.length;
    const reached = Math.min(this.#at, looks.length - 1);
    this.#nodes.forEach((node, i) => {
      const place = i === reached ? 0 : -1;
      if (node.tabIndex !== place || !node.hasAttribute("tabindex")) node.tabIndex = place;
    });
    const hasFocus = this.node.contains(document.activeElement);
    if (hasFocus && had !== this.#at && chosen !== null)
      this.#nodes[this.#at]?.focus({ preventScroll: true });
    if (isLonger && chosen === null) this.node.scrollTop = this.node.scrollHeight;
  }

  /**
   * @param {Look} look
   * @param {number} i
   */
  #showOne(look, i) {
    const what = JSON.stringify(look);
    if (this.#shown[i] === what) return;
    this.#shown[i] = what;
    const { label, classes, style, title, disabled } = look;
    let node = this.#nodes[i];
    if (!node) {
      node = html(
        "button",
        { type: "button", onclick: () => this.go(i) },
        html("bdi", null, label),
      );
      this.#nodes[i] = node;
      this.node.append(node);
    }
    const bdi = /** @type {HTMLElement} */ (node.firstChild);
    if (bdi.textContent !== label) bdi.textContent = label;
    setAll(node, { class: ["hl-token-button", ...classes].join(" "), style, title });
    node.disabled = disabled;
  }

  /** The tokens, what is said of each, and which is chosen. */
  read() {
    return this.#nodes.map(({ textContent, title, classList }) => ({
      ...{ label: textContent, title, isChosen: classList.contains("hl-chosen") },
      ...{ isNew: classList.contains("hl-new"), isDropped: classList.contains("hl-dropped") },
    }));
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const to = MOVES[event.key]?.(this.#at, this.#nodes.length - 1);
    if (to === undefined || to < 1) return;
    event.preventDefault();
    this.go(to);
  }
}
