// The tokens of the text in rows, at the left of everything.

import { html } from "../../dom.js";
import { TOKENS, eased, staggered } from "./timeline.js";

/** @import { Run } from "./numbers.js" */
/** @import { Scene } from "./scene.js" */

/** @typedef {(share: number) => [number, number]} Flight where a token is after a share of its way */

export class Tokens {
  #placed = "";
  #tinted = "";

  /**
   * @param {{look: (i: number) => void, keep: (i: number) => void, rest: () => void}} act
   */
  constructor(act) {
    this.act = act;
    this.node = html("div", { class: "hl-home-tokens", role: "group", "aria-label": "Tokens" });
    this.flying = html("span", { class: "hl-home-flying", translate: "no", hidden: true });
    this.node.append(this.flying);
    this.node.addEventListener("focusout", () => act.rest());
  }

  /** @returns {HTMLButtonElement[]} */
  get buttons() {
    return [...this.node.querySelectorAll("button")];
  }

  /**
   * A button for each token; those that are there stay, they may have the focus.
   *
   * @param {Run} run
   * @param {import("./layout.js").Flow} flow
   */
  build({ spec: { labels, n_folded } }, { tokens, next, height }) {
    const { buttons } = this;
    buttons.slice(labels.length).forEach((button) => button.remove());
    labels.forEach((label, i) => {
      const node = buttons[i] ?? this.#button(i);
      node.replaceChildren(html("bdi", null, label));
      node.disabled = n_folded > 0 && i === 0;
    });
    this.node.style.fontSize = `${tokens.font}px`;
    const names = next ? 0 : tokens.x + tokens.width; // where the rest scrolls below them
    this.node.style.setProperty("--hl-names", `${names}px`);
    this.node.style.setProperty("--hl-high", `${height}px`);
    this.#placed = this.#tinted = "";
  }

  /** @param {number} i */
  #button(i) {
    const { look, keep } = this.act;
    const on = { onpointermove: () => look(i), onclick: () => keep(i) };
    const node = html("button", { type: "button", ...on });
    node.addEventListener("focus", () => node.matches(":focus-visible") && look(i));
    this.node.insertBefore(node, this.flying);
    return node;
  }

  /**
   * @param {Scene} scene
   */
  place({ flow, rows, run, time, flight }) {
    const part = time.isFirst ? time.done(TOKENS) : 1;
    const state = [part, run.n, rows.y(0), flow.tokens.x, flight && time.at].join();
    if (state === this.#placed) return;
    this.#placed = state;
    this.buttons.forEach(({ style }, i) => {
      const p = staggered(part, i, run.n, 0.45);
      const x = flow.tokens.x - 24 * (1 - p);
      style.transform = `translate(${x.toFixed(1)}px,${rows.y(i).toFixed(1)}px) translateY(-50%)`;
      style.opacity = String(p);
    });
    this.flying.hidden = !flight;
    if (!flight) return;
    const share = eased(time.done(time.FLY));
    const [x, y] = flight(share);
    const scale = 1 + 0.6 * Math.sin(Math.PI * share);
    const to = `translate(${x.toFixed(1)}px,${y.toFixed(1)}px) translateY(-50%)`;
    this.flying.style.transform = `${to} scale(${scale.toFixed(3)})`;
  }

  /**
   * Tint every token by what the query gives it of its attention; null tints none.
   *
   * @param {number} query
   * @param {number[] | null} row
   */
  tint(query, row) {
    const state = [query, ...(row ?? [])].join();
    if (state === this.#tinted) return;
    this.#tinted = state;
    const most = Math.max(1e-9, ...(row ?? [1]));
    this.buttons.forEach((node, i) => {
      node.style.setProperty("--share", row ? (row[i] / most).toFixed(3) : "0");
      node.classList.toggle("hl-query", i === query);
      node.classList.toggle("hl-later", Boolean(row) && i > query);
    });
  }
}

/**
 * A way over the maps.
 *
 * @param {[number, number]} from
 * @param {[number, number]} to
 * @returns {Flight}
 */
export function flightOver([x0, y0], [x1, y1]) {
  const [over, high] = [(x0 + x1) / 2, Math.min(y0, y1) - 240];
  return (share) => {
    const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
    return [a * x0 + b * over + c * x1, a * y0 + b * high + c * y1];
  };
}
