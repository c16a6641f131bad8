// Two rows of words, English above German, with a line for each weight between them.

import { digits, html, setAll, svg } from "../../kit/dom.js";
import { rowOf } from "../../kit/maths.js";
import { rowOfToken, strongestIn } from "./heads.js";

/** @import { Lifetime } from "../../kit/lifetime.js" */
/** @import { Matrix } from "../../kit/maths.js" */
/** @import { TranslationData, TranslationSettings } from "./wire.js" */

export const THICKEST = 9; // pixels of a line of weight 1
export const LEAST = 0.04; // a weight that has a line
const HEIGHT = 84; // pixels between the rows
const BEND = 0.45; // of that, how far a line goes straight

/**
 * What is drawn: the weights of the lines, the German token that is looked at, and how many there are
 * by now.
 *
 * @typedef {object} State
 * @property {Matrix} weights (target rows, source)
 * @property {TranslationSettings["align_by"]} by
 * @property {number} looked
 * @property {number} shown
 */

/** @typedef {{look: (n: number | null) => void, pin: (n: number) => void}} Actions */

export class Rows {
  /** @type {State | undefined} */
  #state;

  /**
   * @param {HTMLElement} host
   * @param {Lifetime} lifetime
   * @param {Actions} actions
   */
  constructor(host, lifetime, actions) {
    this.actions = actions;
    this.english = html("div", { class: "hl-tr-row", role: "group", "aria-label": "English" });
    this.german = html("div", { class: "hl-tr-row", role: "group", "aria-label": "German" });
    this.lines = svg("svg", { class: "hl-tr-lines", "aria-hidden": "true" });
    // As high as the lines and of no width: an old drawing must not keep the rows wide.
    const between = html(
      "div",
      { class: "hl-tr-between", style: `height:${HEIGHT}px` },
      this.lines,
    );
    this.inside = html("div", { class: "hl-tr-rows" }, this.english, between, this.german);
    this.scroll = html(
      "div",
      { class: "hl-tr-scroll hl-scroll", tabindex: 0, role: "group", "aria-label": "Translation" },
      this.inside,
    );
    this.german.addEventListener("pointerleave", () => actions.look(null));
    this.german.addEventListener("keydown", (event) => this.#step(event));
    host.append(this.scroll);
    lifetime.watchSize(this.inside, () => this.#drawLines());
    lifetime.watchSize(this.scroll, () => this.#drawLines());
  }

  /**
   * Put the words of a new translation.
   *
   * @param {TranslationData} data
   */
  build({ streams, steps, n_written }) {
    this.english.replaceChildren(
      ...streams.encoder.labels.map((label) =>
        html("span", { class: "hl-tr-word" }, ...inside(label)),
      ),
    );
    this.german.replaceChildren(
      ...steps.slice(0, n_written).map((step, n) => {
        const label = streams.decoder.labels[n + 1] ?? step.label;
        const press = () => this.actions.pin(n);
        const look = () => this.actions.look(n);
        const word = html(
          "button",
          {
            type: "button",
            class: "hl-tr-word",
            onclick: press,
            onpointerenter: look,
            onfocus: look,
          },
          ...inside(label),
        );
        word.classList.toggle("hl-tr-forced", step.is_forced);
        word.title = step.is_forced ? "chosen by you" : "";
        set(word, step.prob);
        return word;
      }),
    );
  }

  /** @param {State} state */
  draw(state) {
    this.#state = state;
    const { weights, looked, by, shown } = state;
    const row = rowOfToken(looked, by, weights.rows);
    const own = row === null ? null : rowOf(weights, row);
    const most = own ? Math.max(...own, 1e-9) : 1;
    Array.from(this.english.children, (word, j) => {
      set(word, own ? own[j] : null);
      const share = own ? own[j] / most : 0;
      /** @type {HTMLElement} */ (word).style.setProperty("--share", String(share));
      word.classList.toggle("hl-tr-strongest", share === 1);
    });
    Array.from(this.german.children, (word, n) => {
      word.classList.toggle("hl-looked", n === looked);
      word.classList.toggle("hl-tr-unwritten", n >= shown);
      word.setAttribute("aria-pressed", String(n === looked));
    });
    this.#drawLines();
    this.#bringIn(this.german.children[looked]);
  }

  /**
   * Scroll so far that a word can be seen; what can be seen already moves nothing.
   *
   * @param {Element | undefined} word
   */
  #bringIn(word) {
    if (!(word instanceof HTMLElement)) return;
    const { scrollLeft, clientWidth } = this.scroll;
    const isSeen =
      word.offsetLeft >= scrollLeft &&
      word.offsetLeft + word.offsetWidth <= scrollLeft + clientWidth;
    if (!isSeen) this.scroll.scrollLeft = word.offsetLeft - clientWidth / 2;
  }

  #drawLines() {
    if (!this.#state) return;
    // Of rows that do not fit both begin at the left: in the middle of the longer one, the shorter
    // would be out of sight.
    this.scroll.classList.toggle(
      "hl-tr-long",
      this.inside.offsetWidth > this.scroll.clientWidth + 1,
    );
    const { weights, looked, by, shown } = this.#state;
    const [width, height] = [this.inside.clientWidth, HEIGHT];
    setAll(this.lines, { width, height, viewBox: `0 0 ${width} ${height}` });
    const from = Array.from(this.english.children, middle);
    const to = Array.from(this.german.children, middle);
    /** @type {SVGElement[]} */
    const lines = [];
    to.slice(0, shown).forEach((x, n) => {
      const row = rowOfToken(n, by, weights.rows);
      if (row === null) return;
      const own = rowOf(weights, row);
      const strongest = strongestIn(own);
      own.forEach((weight, j) => {
        if (!(weight >= LEAST)) return;
        const kind = n === looked ? "hl-tr-line hl-tr-now" : "hl-tr-line";
        lines.push(
          line(
            from[j],
            x,
            weight,
            n === looked && j === strongest ? `${kind} hl-tr-best` : kind,
            n,
            j,
          ),
        );
      });
    });
    const isNow = (/** @type {SVGElement} */ item) => item.classList.contains("hl-tr-now");
    this.lines.replaceChildren(...lines.filter((item) => !isNow(item)), ...lines.filter(isNow));
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const words = Array.from(this.german.children);
    const at = words.indexOf(/** @type {Element} */ (document.activeElement));
    const next = words[Math.min(Math.max(at + move, 0), words.length - 1)];
    if (next instanceof HTMLElement) next.focus();
  }
}

/**
 * What stands in a word: itself, and room for a number below it.
 *
 * @param {string} label
 */
function inside(label) {
  return [html("bdi", null, label), html("small")];
}

/**
 * Write the number below a word.
 *
 * @param {Element} word
 * @param {number | null} value
 */
function set(word, value) {
  const number = word.querySelector("small");
  if (number) number.textContent = value === null ? "–" : digits(value, 2);
}

/**
 * The middle of a word, in pixels of the rows.
 *
 * @param {Element} word
 */
function middle(word) {
  const { offsetLeft, offsetWidth } = /** @type {HTMLElement} */ (word);
  return offsetLeft + offsetWidth / 2;
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} weight
 * @param {string} kind
 * @param {number} target
 * @param {number} source
 */
function line(from, to, weight, kind, target, source) {
  const bend = HEIGHT * BEND;
  return svg("path", {
    class: kind,
    d: `M${from},0C${from},${bend} ${to},${HEIGHT - bend} ${to},${HEIGHT}`,
    "stroke-width": weight * THICKEST,
    "data-target": target,
    "data-source": source,
    style: `--share:${weight}`,
  });
}
