// Search: a box that finds pages, lessons and terms while a person types. All of it is here already;
// a link is followed as any other of the app (address.js).

import { html } from "../kit/dom.js";

/** @typedef {Record<"kind" | "title" | "line" | "also", string> & Record<string, string>} Entry */

const LEAST = 3; // letters that are looked for within words
const LONGEST = 200; // letters of a text that are looked at
const KEPT = 2 / 3; // of the letters, when the last ones are dropped

/**
 * Words as they are compared: without case, accents and signs.
 *
 * @param {string} text
 */
function wordsOf(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}√]+/u).filter((word) => word);
}

/** @type {WeakMap<Entry, string[][]>} */
const fieldsOfEntries = new WeakMap();

/** @param {Entry} entry */
function fieldsOf(entry) {
  const fields = fieldsOfEntries.get(entry) ?? [entry.title, entry.also, entry.line].map(wordsOf);
  fieldsOfEntries.set(entry, fields);
  return fields;
}

/**
 * What is found, best first: words that an entry's own name, another name, or its sentence has, begins
 * a word with, or has within one. Where nothing is found, what the text without its end finds.
 *
 * @param {Entry[]} entries
 * @param {string} query
 * @param {number} [least] letters that are left
 * @returns {Entry[]}
 */
export function found(entries, query, least) {
  const text = query.trim().slice(0, LONGEST);
  const words = wordsOf(text);
  const n = words.join("").length;
  const fewest = least ?? Math.max(LEAST, KEPT * n);
  const scored = entries.map((entry) => {
    const fields = fieldsOf(entry);
    const scores = words.map((word) => {
      const within = fields.map((others, i) => {
        if (others.includes(word)) return 12 >> i;
        if (others.some((other) => other.startsWith(word))) return 8 >> i;
        if (i < 2 && others.some((other) => isNear(word, other))) return 4 >> i;
        return word.length >= LEAST && others.some((other) => other.includes(word)) ? 3 >> i : 0;
      });
      return Math.max(...within);
    });
    const whole = fields[0].join() === words.join() ? 9 : 0;
    const score = scores.reduce((sum, one) => sum + one, whole);
    return { entry, score: scores.includes(0) ? 0 : score };
  });
  const best = scored.filter(({ score }) => score || !text);
  if (!best.length && n > fewest) return found(entries, text.slice(0, -1), fewest);
  return best.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}

/**
 * Whether two words of some length differ in one letter: another, one more, or one less.
 *
 * @param {string} word
 * @param {string} other
 */
function isNear(word, other) {
  if (Math.min(word.length, other.length) <= LEAST) return false;
  const at = [...word].findIndex((letter, i) => letter !== other[i]);
  const rests = [
    [word.slice(at + 1), other.slice(at + 1)],
    [word.slice(at), other.slice(at + 1)],
    [word.slice(at + 1), other.slice(at)],
  ];
  return rests.some(([rest, others]) => rest === others);
}

export class Search {
  /** @type {Entry[]} */
  #entries = [];
  #at = 0;

  constructor() {
    this.list = html("div", { id: "hl-found", role: "listbox", "aria-label": "Found" });
    this.says = html("p", { role: "status" });
    this.input = html("input", {
      ...{ role: "combobox", "aria-expanded": "true", autocomplete: "off", spellcheck: "false" },
      ...{ "aria-controls": "hl-found", "aria-label": "Search pages, lessons and terms" },
      ...{ placeholder: "A page, a lesson or a term", maxlength: String(LONGEST) },
      ...{ oninput: () => this.#filter() },
    });
    this.node = html("dialog", { class: "hl-search", "aria-label": "Search" });
    this.node.append(this.input, this.list, this.says);
    this.node.addEventListener("keydown", (event) => this.#step(event));
    // A click beside the box or on what was found closes it; what opens elsewhere does not.
    this.node.addEventListener("click", ({ target, ctrlKey, metaKey, shiftKey }) => {
      const isLink = this.list.contains(/** @type {Node} */ (target));
      if (target === this.node || (isLink && !ctrlKey && !metaKey && !shiftKey)) this.node.close();
    });
    document.body.append(this.node);
  }

  /** @param {Entry[]} entries */
  open(entries) {
    if (this.node.open) return this.node.close();
    this.#entries = entries;
    this.input.value = "";
    this.node.showModal();
    this.#filter();
  }

  #filter() {
    const query = this.input.value.trim();
    const all = found(this.#entries, query);
    this.list.replaceChildren(...all.map(option));
    this.list.hidden = !all.length;
    const none = [
      "Nothing is called “",
      html("bdi", null, query),
      "”; try softmax, nucleus or BERT.",
    ];
    this.says.replaceChildren(...(all.length ? [`${all.length} found`] : none));
    this.#mark(0);
  }

  /** @param {number} at */
  #mark(at) {
    const all = [...this.list.children];
    this.#at = Math.max(0, Math.min(at, all.length - 1));
    all.forEach((one, i) => (one.ariaSelected = String(i === this.#at)));
    all[this.#at]?.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", all[this.#at]?.id ?? "");
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation(); // no keys of the page behind it
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = /** @type {HTMLElement | undefined} */ (this.list.children[this.#at]);
    if (way) this.#mark(this.#at + way);
    else if (event.key === "Enter") chosen?.click();
    else if (event.key === "Escape") this.node.close();
    else return;
    event.preventDefault();
  }
}

/**
 * @param {Entry} entry
 * @param {number} i
 */
function option({ kind, title, line, page, changes, address }, i) {
  const query = new URLSearchParams({ page });
  const href = address ?? `?${query}${changes ? `&${changes}` : ""}`;
  const given = { role: "option", id: `hl-found-${i}`, tabindex: "-1", href };
  const parts = [html("b", null, title), html("small", null, kind), html("span", null, line)];
  return html("a", { ...given, "data-page": page, "data-with": changes }, parts);
}
