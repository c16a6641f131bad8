// Home: the words of the sentence, one head, and what comes next, alive at once.

import { bytesOf, floatsOf } from "../../kit/arrays.js";
import { drawBars } from "../../kit/marks/bars.js";
import { button, digits, html, numbered, slider, svg } from "../../kit/dom.js";
import { HeatMap } from "../../kit/marks/heatmap.js";
import { Instrument } from "../instrument.js";
import { matrix } from "../../kit/maths.js";
import { pairsInWords, pictured, shownPattern, weightScale } from "../../kit/patterns.js";
import { probabilities, sortedIds } from "../../kit/sampling.js";

/** @import { Receiver } from "../../kit/wire.js" */
/** @import { Matrix } from "../../kit/maths.js" */
/** @import { Between, Shown } from "../../kit/patterns.js" */
/** @import { HomeData } from "./wire.js" */

// Pixels of the map, so that nothing need be scrolled: so many in a low window, and a share of what
// a higher one has more.
const MAP = { window: 720, least: 176, share: 0.85, most: 520 };
const PACE_MS = 160; // between two tokens while the text is written
const MOST_WRITTEN = 40; // tokens, then it rests
const QUIET_MS = 120;
const NAMED = 3; // keys in the sentence about a query
const WORTH = 0.05; // a weight that is named

/** @extends {Instrument<HomeData>} */
export class Home extends Instrument {
  /** The query that is looked at; null while nobody looked. @type {number | null} */
  #looked = null;
  /** @type {Shown} */
  #shown;
  #sorted = new Float32Array();
  #left = 0; // tokens still to be written
  #n = 0; // tokens of the text

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver) {
    super(root, receiver, QUIET_MS);
    this.words = html("div", { class: "hl-home-words", role: "group", "aria-label": "Words" });
    this.title = html("h2", { class: "hl-title" });
    this.says = html("p", { class: "hl-home-says", role: "status" });
    const map = html("div", { class: "hl-map" });
    this.map = new HeatMap(map, this.lifetime, {
      point: (row) => this.#look(row),
      most: Math.min(MAP.most, MAP.least + MAP.share * Math.max(0, innerHeight - MAP.window)),
      drag: false,
    });
    this.bars = svg("svg", { class: "hl-bars", role: "img" });
    this.sliders = html("div");
    this.why = html("p", { class: "hl-caption", role: "status" });
    this.signs = html("p", { class: "hl-caption hl-home-signs" });
    this.play = button("", () => this.#toggle(), { class: "hl-button hl-primary" });
    const next = html(
      "section",
      { class: "hl-panel hl-home-next", "aria-label": "What comes next" },
      html("h2", { class: "hl-title" }, "What comes next"),
      html("div", { class: "hl-row" }, this.sliders, this.play),
      this.why,
      this.bars,
      this.signs,
    );
    const head = html("section", { class: "hl-panel", "aria-label": "One head" });
    head.append(this.title, map);
    const columns = html("div", { class: "hl-home-columns" }, head, next);
    root.replaceChildren(this.words, this.says, columns);
    this.host = map;
    this.lifetime.watchSize(next, () => {
      if (this.data) this.#showNext();
    });
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    if (isNew) this.#take();
    this.redraw();
    if (isNew) this.#goOn();
  }

  #take() {
    const { pattern, mask, stream, logits } = this.data;
    this.#keepHeight();
    const [n] = pattern.shape;
    const values = matrix(n, n, floatsOf(pattern));
    this.#shown = shownPattern(values, bytesOf(mask.bdata), between(stream));
    const floats = floatsOf(logits);
    this.#sorted = Float32Array.from(sortedIds(floats), (id) => floats[id]);
    this.#looked = null;
    this.#buildWords();
    this.sliders.replaceChildren(this.#slider());
  }

  #slider() {
    const bounds = this.data.bounds.temperature;
    const value = this.settings.temperature;
    /** @param {number} x */
    const show = (x) => x.toFixed(2);
    return slider("Temperature", { bounds, value, show }, (temperature) => {
      this.setQuietly({ temperature });
      this.#showNext();
    });
  }

  /** @override */
  async redraw() {
    this.#showWords();
    this.#showNext();
    const { key, head } = this.data;
    this.title.textContent = `Head ${head} on this sentence`;
    const shown = this.#shown;
    pictured(this.host, `${head}: ${pairsInWords(shown)}`);
    await this.map.draw({ ...shown, scale: weightScale(shown) }, this.palette);
    if (shown !== this.#shown) return; // another head came while this one's map was drawn
    this.map.mark(this.#query, this.#strongestKey());
    this.root.dataset.drawn = `${key} home`;
  }

  // --- words --------------------------------------------------------------------------------------

  /**
   * While the text goes on by itself its words keep their height, and scroll: what a person points
   * at must not move away.
   */
  #keepHeight() {
    const { n_tokens } = this.data.settings;
    if (n_tokens < this.#n) this.words.style.height = "";
    this.#n = n_tokens;
  }

  #buildWords() {
    const words = this.data.stream.labels.map((label, i) =>
      html(
        "button",
        {
          class: "hl-home-word",
          type: "button",
          onpointerenter: () => this.#look(i),
          onfocus: () => this.#look(i),
        },
        html("bdi", null, label),
        html("small"),
      ),
    );
    const caret = html("span", { class: "hl-home-caret", "aria-hidden": "true" });
    const { n_left_out } = this.data;
    const before = n_left_out ? [html("small", null, `… ${n_left_out} tokens before`)] : [];
    this.words.replaceChildren(...before, ...words, caret);
    if (this.words.style.height) this.words.scrollTop = this.words.scrollHeight;
  }

  /** @param {number} query */
  #look(query) {
    if (query === this.#looked) return;
    this.#looked = query;
    this.#showWords();
    this.map.mark(query, this.#strongestKey());
  }

  get #query() {
    return this.#looked ?? this.data.telling[0];
  }

  /** The weights of the query that is looked at. */
  get #row() {
    const { values } = this.#shown;
    const start = this.#query * values.columns;
    return values.values.subarray(start, start + values.columns);
  }

  #strongestKey() {
    const row = this.#row;
    return row.reduce((best, weight, i) => (weight > row[best] ? i : best), 0);
  }

  #showWords() {
    const row = this.#row;
    const query = this.#query;
    const most = Math.max(...row, 1e-9);
    for (const [i, word] of this.words.querySelectorAll("button").entries()) {
      const isMasked = Boolean(this.#shown.hidden[query * row.length + i]);
      word.style.setProperty("--share", isMasked ? "0" : String(row[i] / most));
      word.classList.toggle("hl-looked", i === query);
      word.classList.toggle("hl-unseen", isMasked);
      const number = word.querySelector("small");
      if (!number) continue;
      number.textContent = isMasked ? "–" : digits(row[i], 2);
    }
    this.says.replaceChildren(...this.#sentence(row));
  }

  /**
   * What a query attends to, in words.
   *
   * @param {ArrayLike<number>} row
   */
  #sentence(row) {
    const { labels } = this.data.stream;
    const named = Array.from(row, (weight, key) => ({ weight, key }))
      .sort((a, b) => b.weight - a.weight)
      .filter(({ weight }, i) => !i || weight >= WORTH)
      .slice(0, NAMED);
    /** @type {(Node | string)[]} */
    const parts = [html("bdi", { class: "hl-home-named" }, labels[this.#query]), " attends to "];
    named.forEach(({ weight, key }, i) => {
      if (i) parts.push(i === named.length - 1 ? " and " : ", ");
      const number = numbered(weight, "weight", 2);
      parts.push(html("bdi", { class: "hl-home-named" }, labels[key]), " ", number);
    });
    return [...parts, ` in head ${this.data.head}.`];
  }

  // --- what comes next ----------------------------------------------------------------------------

  #showNext() {
    const { leading, signs, why_no_more } = this.data;
    const { temperature } = this.settings;
    const before = probabilities(this.#sorted, 1);
    const after = probabilities(this.#sorted, temperature);
    const rows = leading.map(({ label }, i) => {
      return { label, before: before[i], after: after[i] };
    });
    const rest = after.subarray(leading.length).reduce((sum, p) => sum + p, 0);
    const count = (this.#sorted.length - leading.length).toLocaleString("en");
    const legend = `grey: the model · colour: at this temperature · ${count} others: ${digits(rest, 3)}`;
    const width = Math.max(240, this.bars.parentElement?.clientWidth ?? 240);
    drawBars(this.bars, rows, { palette: this.palette, width, legend });
    const said = rows.map((row) => `${row.label} ${digits(row.after, 3)}`).join(", ");
    this.bars.setAttribute("aria-label", `Most likely next tokens: ${said}`);
    this.signs.textContent = signs;
    this.play.textContent = this.#left ? "■ Pause" : "▶ Write on";
    this.play.disabled = why_no_more !== null;
    this.why.textContent = why_no_more ?? "";
    this.why.hidden = why_no_more === null;
  }

  #toggle() {
    this.#left = this.#left ? 0 : MOST_WRITTEN;
    if (this.#left) this.words.style.height = `${this.words.getBoundingClientRect().height}px`;
    this.#showNext();
    if (this.#left) this.#ask();
  }

  /** The next token, drawn at this temperature from all of the vocabulary. */
  #ask() {
    this.setQuietly({ n_tokens: this.data.settings.n_tokens + 1 });
  }

  /** While it writes, each new token asks for one more. */
  #goOn() {
    if (!this.#left) return;
    this.#left = this.data.why_no_more === null ? this.#left - 1 : 0;
    this.#showNext();
    if (this.#left) this.lifetime.timeout(() => this.#left && this.#ask(), PACE_MS);
  }
}

/**
 * A stream's attention to itself.
 *
 * @param {HomeData["stream"]} stream
 * @returns {Between}
 */
function between(stream) {
  return { kind: "self", queries: stream, keys: stream, rowTitle: "query", columnTitle: "key" };
}
