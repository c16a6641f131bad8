// A row of tokens: of each its label as a person reads it, in a shade, and what is true of it.

import { inkOn } from "../colors.js";
import { html } from "../dom.js";
import { lookClasses, lookInWords } from "../looks.js";

/**
 * How a token looks. `is` says what is true of it, by the names of the style sheet: chosen, masked …
 *
 * @typedef {object} Token
 * @property {string} label
 * @property {Record<string, unknown>} [is]
 * @property {string} [look] who wrote it, and whether it is special
 * @property {string} [title]
 * @property {string} [shade] the colour that it stands on
 * @property {number} [share] from 0 to 1, of what the style sheet shows it by
 * @property {string | null} [number] what stands below it
 * @property {boolean} [isFixed] nothing comes of choosing it
 */

/**
 * What comes of a choice. `step` is one by the arrow keys, where it differs from a click; `leave` is
 * beyond the last token, or Escape. `walks`: the arrow keys only move the focus.
 *
 * @typedef {object} Act
 * @property {(i: number) => void} pick
 * @property {(i: number) => void} [step]
 * @property {() => void} [leave]
 * @property {boolean} [walks]
 */

export class Tokens {
  /** @type {HTMLElement[]} */
  nodes = [];
  /** What each node shows. @type {string[]} */
  #shown = [];
  #at = 0;

  /**
   * @param {string} css the class of the row
   * @param {string} name
   * @param {Act | null} [act] none: its tokens are only read
   */
  constructor(css, name, act = null) {
    this.act = act;
    const onkeydown = (/** @type {KeyboardEvent} */ event) => this.#pressed(event);
    this.node = html("div", { class: css, role: "group", "aria-label": name, onkeydown });
  }

  /**
   * Show tokens. Those that look as before keep their nodes, and with them the keyboard's focus.
   *
   * @param {Token[]} tokens
   */
  show(tokens) {
    const isLonger = tokens.length > this.nodes.length;
    for (const node of this.nodes.splice(tokens.length)) node.remove();
    this.#shown.length = this.nodes.length;
    tokens.forEach((token, i) => this.#showOne(token, i));
    const chosen = tokens.findIndex(({ is }) => is?.chosen);
    if (!this.act?.walks || this.nodes[this.#at]?.getAttribute("tabindex") !== "0")
      this.#at = chosen < 0 ? tokens.length : chosen;
    if (this.act) this.#reach(Math.min(this.#at, tokens.length - 1));
    if (isLonger && chosen < 0) this.node.scrollTop = this.node.scrollHeight;
  }

  /**
   * @param {Token} token
   * @param {number} i
   */
  #showOne(token, i) {
    const what = JSON.stringify(token);
    if (this.#shown[i] === what) return;
    this.#shown[i] = what;
    this.nodes[i] ??= this.node.appendChild(this.#made(i));
    dress(this.nodes[i], token);
  }

  /** @param {number} i */
  #made(i) {
    if (!this.act) return html("span");
    return html("button", { type: "button", onclick: () => this.act?.pick(i) });
  }

  /**
   * The row is one stop of the tab key.
   *
   * @param {number} place
   */
  #reach(place) {
    this.nodes.forEach((node, i) => {
      const index = i === place ? 0 : -1;
      if (node.getAttribute("tabindex") !== String(index)) node.tabIndex = index;
    });
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (!this.act) return;
    const { pick, step = pick, leave } = this.act;
    const open = [...this.nodes.keys()].filter((i) => !this.nodes[i].matches(":disabled"));
    const [before, after] = [open.filter((i) => i < this.#at), open.filter((i) => i > this.#at)];
    /** @type {Record<string, number | undefined>} */
    const ways = {
      ArrowLeft: before.at(-1),
      ArrowRight: after[0],
      Home: open[0],
      End: open.at(-1),
    };
    const { [event.key]: to } = ways;
    const leaves = event.key === "Escape" || (event.key === "ArrowRight" && to === undefined);
    if (to === undefined && !(leaves && leave)) return;
    event.preventDefault();
    if (to === undefined) return leave?.();
    if (this.act.walks) this.#reach((this.#at = to));
    else step(to);
    this.nodes[to].focus({ preventScroll: true });
  }

  read() {
    return this.nodes.map(readToken);
  }
}

/**
 * Have an element show a token.
 *
 * @param {HTMLElement} node
 * @param {Token} token
 */
export function dress(node, token) {
  const { label, is = {}, look, title = "", shade = "", share, number, isFixed } = token;
  const [bdi = html("bdi"), below] = node.children;
  if (bdi.textContent !== label) bdi.textContent = label;
  if (!bdi.parentNode) node.append(bdi); // what is pressed must stay, or there is no click
  below?.remove();
  if (number) node.append(html("small", { "data-number": "weight" }, number));
  const states = [...lookClasses(look), ...Object.keys(is).filter((name) => is[name])];
  node.className = ["hl-token", ...states.map((name) => `hl-${name}`)].join(" ");
  node.title = [title, lookInWords(look)].filter(Boolean).join(", ");
  Object.assign(node.style, { backgroundColor: shade, color: shade && inkOn(shade) });
  node.style.setProperty("--share", share?.toFixed(3) ?? null);
  node.toggleAttribute("disabled", Boolean(isFixed));
  return node;
}

/**
 * What an element shows of a token.
 *
 * @param {HTMLElement} node
 */
export function readToken({ children: [bdi, below], title, style, classList }) {
  const is = [...classList].filter((name) => name !== "hl-token").map((name) => name.slice(3));
  const number = below?.textContent ?? null;
  return { label: bdi.textContent, number, title, is, shade: style.backgroundColor || null };
}
