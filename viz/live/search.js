// Search: a box that finds pages, lessons and terms while a person types. All of it is here already;
// a link is followed as any other of the app (address.js).

import { html } from "../kit/dom.js";

/**
 * @typedef {object} Entry
 * @property {"page" | "term" | "lesson" | "step"} kind
 * @property {string} title
 * @property {string} line what it is, in a sentence
 * @property {string} also what it is called elsewhere
 * @property {string} [page] it leads to, with all else as it is
 * @property {string} [changes] but for these
 * @property {string} [address] or a whole one
 */

const LEAST = 3; // letters that are looked for when the last ones are dropped
const TRY = ["softmax", "nucleus", "BERT"];

/**
 * Words as they are compared: without case, accents and signs.
 *
 * @param {string} text
 */
function wordsOf(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}√]+/u).filter((word) => word);
}

/**
 * How well a word is met: where an entry's own name, another name, or its sentence begins with it, or
 * has it within.
 *
 * @param {string} word
 * @param {string[][]} fields
 */
function met(word, fields) {
  const scores = fields.map((words, i) => {
    if (words.includes(word)) return 12 >> i;
    if (words.some((other) => other.startsWith(word))) return 8 >> i;
    return word.length >= LEAST && words.some((other) => other.includes(word)) ? 3 >> i : 0;
  });
  return Math.max(...scores);
}

/**
 * What is found, best first; where nothing is, what a beginning of the last word finds.
 *
 * @param {Entry[]} entries
 * @param {string} query
 * @returns {Entry[]}
 */
export function found(entries, query) {
  const words = wordsOf(query);
  const scored = entries.map((entry) => {
    const fields = [entry.title, entry.also, entry.line].map(wordsOf);
    const scores = words.map((word) => met(word, fields));
    const isWhole = wordsOf(entry.title).join(" ") === words.join(" ");
    const all = scores.reduce((sum, score) => sum + score, isWhole ? 9 : 0);
    return { entry, score: scores.every((score) => score) ? all : 0 };
  });
  const best = scored.filter(({ score }) => score || !query.trim());
  const isShort = wordsOf(query).join("").length <= LEAST;
  if (!best.length && !isShort) return found(entries, query.trim().slice(0, -1));
  return best.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}

export class Search {
  /** @type {Entry[]} */
  entries = [];
  #at = 0;

  constructor() {
    this.list = html("div", { id: "hl-found", role: "listbox", "aria-label": "Found" });
    this.says = html("p", { role: "status", class: "hl-said" });
    this.input = html("input", {
      ...{ type: "search", role: "combobox", "aria-expanded": "true", autocomplete: "off" },
      ...{ "aria-controls": "hl-found", "aria-label": "Search pages, lessons and terms" },
      ...{ placeholder: "A page, a lesson or a term", oninput: () => this.filter() },
    });
    const on = {
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#step(event),
      onclick: (/** @type {MouseEvent} */ event) => this.#leave(event),
    };
    const parts = [this.input, this.list, this.says];
    this.node = html("dialog", { class: "hl-search", "aria-label": "Search", ...on }, parts);
    document.body.append(this.node);
  }

  /** @param {Entry[]} entries */
  open(entries) {
    if (this.node.open) return this.node.close();
    this.entries = entries;
    this.input.value = "";
    this.node.showModal();
    this.filter();
  }

  filter() {
    const query = this.input.value.trim();
    const all = found(this.entries, query);
    this.list.replaceChildren(...all.map(option));
    this.list.hidden = !all.length;
    this.list.scrollTop = 0;
    const others = TRY.flatMap((word, i) => [i ? " or " : "", html("b", null, word)]);
    const none = ["Nothing is called “", html("bdi", null, query), "”; try ", ...others, "."];
    this.says.replaceChildren(...(all.length ? [`${all.length} found`] : none));
    this.#mark(0);
  }

  /** @param {number} at */
  #mark(at) {
    const { children } = this.list;
    this.#at = Math.max(0, Math.min(at, children.length - 1));
    for (const [i, one] of [...children].entries())
      one.setAttribute("aria-selected", String(i === this.#at));
    const chosen = children[this.#at];
    chosen?.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", chosen?.id ?? "");
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    event.stopPropagation(); // no keys of the page behind it
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way) this.#mark(this.#at + way);
    else if (event.key === "Escape")
      this.node.close(); // at once, whatever is typed
    else if (event.key === "Enter")
      /** @type {HTMLElement | undefined} */ (this.list.children[this.#at])?.click();
    else return;
    event.preventDefault();
  }

  /**
   * A click beside the box or on what was found closes it; what opens elsewhere does not.
   *
   * @param {MouseEvent} event
   */
  #leave({ target, ctrlKey, metaKey, shiftKey }) {
    const isLink = target instanceof Element && target.closest("a") !== null;
    if (target === this.node || (isLink && !ctrlKey && !metaKey && !shiftKey)) this.node.close();
  }
}

/**
 * @param {Entry} entry
 * @param {number} i
 */
function option({ kind, title, line, page, changes, address }, i) {
  const query = new URLSearchParams({ page: page ?? "" });
  const to = page
    ? { href: `?${query}${changes ? `&${changes}` : ""}`, "data-page": page, "data-with": changes }
    : { href: address };
  const parts = [html("b", null, title), html("small", null, kind), html("span", null, line)];
  return html("a", { role: "option", id: `hl-found-${i}`, tabindex: "-1", ...to }, parts);
}
