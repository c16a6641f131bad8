// Search: a box that finds pages, lessons and terms while a person types. All of it is here already;
// a link is followed as any other of the app (address.js).

import { html } from "../kit/dom.js";

/** @typedef {Record<"kind" | "title" | "line" | "also" | "seen", string> & Record<string, string>} Entry */

const LEAST = 3; // letters that are looked for within words
const LONGEST = 200; // letters of a text that are looked at
const FIELDS = ["title", "also", "line", "seen"]; // what counts most first
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
  const fields = fieldsOfEntries.get(entry) ?? FIELDS.map((name) => wordsOf(entry[name]));
  fieldsOfEntries.set(entry, fields);
  return fields;
}

/**
 * What is found, best first: words that an entry's own name, another name, or its sentence has, begins
 * a word with, or has within one, or what is seen on a page. Where nothing is found, words with one letter wrong, or what the last
 * word without its end finds.
 *
 * @param {Entry[]} entries
 * @param {string} query
 * @returns {Entry[]}
 */
export function found(entries, query) {
  const words = wordsOf(query.slice(0, LONGEST));
  if (!words.length) return query.trim() ? [] : entries;
  const [last] = words.slice(-1);
  const fewest = Math.min(last.length, Math.max(LEAST, KEPT * last.length));
  for (let n = last.length; n >= fewest; n--) {
    const wanted = [...words.slice(0, -1), last.slice(0, n)];
    const best = ranked(entries, wanted, fits);
    if (best.length) return best;
    const near = n === last.length ? ranked(entries, wanted, isNear) : [];
    if (near.length) return near;
  }
  return [];
}

/**
 * The entries that have every word, those first that have them in front.
 *
 * @param {Entry[]} entries
 * @param {string[]} words
 * @param {(word: string, other: string) => number} judge how well two words fit
 */
function ranked(entries, words, judge) {
  const scored = entries.map((entry) => {
    const fields = fieldsOf(entry);
    const scores = words.map((word) =>
      Math.max(...fields.map((others, i) => bestOf(others, word, judge) >> i)),
    );
    const whole = fields[0].join() === words.join() ? 9 : 0;
    const score = scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one, whole);
    return { entry, score };
  });
  const best = scored.filter(({ score }) => score).sort((a, b) => b.score - a.score);
  return best.map(({ entry }) => entry);
}

/**
 * @param {string[]} others
 * @param {string} word
 * @param {(word: string, other: string) => number} judge
 */
function bestOf(others, word, judge) {
  let best = 0;
  for (const other of others) best = Math.max(best, judge(word, other));
  return best;
}

/**
 * @param {string} word
 * @param {string} other
 */
function fits(word, other) {
  if (other === word) return 12;
  if (other.startsWith(word)) return 8;
  return word.length >= LEAST && other.includes(word) ? 3 : 0;
}

/**
 * Two words of some length that differ in one letter, another, one more, or one less; or in the order
 * of two.
 *
 * @param {string} word
 * @param {string} other
 */
function isNear(word, other) {
  const { length } = word;
  if (Math.min(length, other.length) <= LEAST || Math.abs(length - other.length) > 1)
    return fits(word, other);
  let at = 0;
  while (at < length && word[at] === other[at]) at++;
  const rests = [
    [word.slice(at + 1), other.slice(at + 1)],
    [word.slice(at), other.slice(at + 1)],
    [word.slice(at + 1), other.slice(at)],
    [turned(word.slice(at)), other.slice(at)],
  ];
  return rests.some(([rest, others]) => rest === others) ? 4 : fits(word, other);
}

/**
 * A word whose first two letters change places.
 *
 * @param {string} word
 */
function turned(word) {
  return word.slice(1, 2) + word.slice(0, 1) + word.slice(2);
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
