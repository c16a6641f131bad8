// Home: the words of the sentence, one head, and what comes next, alive at once.

import { bytesOf, floatsOf } from "../core/arrays.js";
import { badge, showCheck, showScreenCheck, withdraw } from "../core/badge.js";
import { drawBars } from "../core/bars.js";
import { button, digits, html, slider, svg, traced } from "../core/dom.js";
import { HeatMap } from "../core/heatmap.js";
import { Instrument } from "../core/instrument.js";
import { matrix } from "../core/maths.js";
import { pairsInWords, pictured, shownPattern, weightScale } from "../core/patterns.js";
import { point } from "../core/pointed.js";
import { probabilities, sortedIds } from "../core/sampling.js";
import { fill } from "../core/stale.js";
import { countOnScreen, errorOnScreen, ofIndependentRun, recomputed } from "./proof.js";

/** @import { Receiver } from "../core/wire.js" */
/** @import { Matrix } from "../core/maths.js" */
/** @import { Between, Shown } from "../core/patterns.js" */
/** @import { Recomputed } from "./proof.js" */
/** @import { HomeData } from "./wire.js" */

// Pixels of the map, so that nothing need be scrolled: so many in a low window, and a share of what
// a higher one has more.
const MAP = { window: 720, least: 176, share: 0.85, most: 520 };
const PACE_MS = 160; // between two tokens while the text is written
const MOST_WRITTEN = 40; // tokens, then it rests
const QUIET_MS = 120;
const CHECK_REST_MS = 120; // after the last thing drawn: a check is never in the way of the hand
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
  #isDrawn = false;
  #cancelCheck = () => {};
  #reported = "";
  /** What the map must hold; computed once for each head. @type {Recomputed | null} */
  #recomputed = null;

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver) {
    super(root, receiver, QUIET_MS);
    this.words = html("div", { class: "hl-home-words", role: "group", "aria-label": "Words" });
    this.title = html("h2", { class: "hl-title" });
    this.says = html("p", { class: "hl-home-says", role: "status" });
    this.badge = badge();
    const map = html("div", { class: "hl-map" });
    this.map = new HeatMap(map, this.lifetime, {
      point: (row, column) => this.#point(row, column),
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
    const line = html("div", { class: "hl-home-line" }, this.says, this.badge);
    root.replaceChildren(this.words, line, columns);
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
    this.#isDrawn = false;
    this.#recomputed = null;
    withdraw(this.badge, true);
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
      this.#checkSoon();
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
    this.#isDrawn = true;
    this.#checkSoon();
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

  /**
   * The mouse is over a cell: its row is looked at, and it may be asked where it comes from.
   *
   * @param {number} row
   * @param {number} column
   */
  #point(row, column) {
    this.#look(row);
    const address = this.#addressOf(column);
    if (!address) return;
    const { labels } = this.data.stream;
    const of = `${labels[row]} → ${labels[column]}`;
    const drawn = this.map.drawnAt(row, column);
    point({ run: this.run, address, drawn, of, host: this.host });
  }

  /** @param {number} query */
  #look(query) {
    if (query === this.#looked) return;
    this.#looked = query;
    this.#showWords();
    this.map.mark(query, this.#strongestKey());
    this.#checkSoon();
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
      const address = isMasked ? null : this.#addressOf(i);
      if (address) number.setAttribute("data-address", address);
      else number.removeAttribute("data-address");
    }
    fill(this.says, this.run, ...this.#sentence(row));
  }

  /** @override */
  get run() {
    return this.data.independent.run || this.data.key;
  }

  /**
   * Where the weight of the query that is looked at on a key comes from.
   *
   * @param {number} key
   */
  #addressOf(key) {
    const { independent, head, n_left_out } = this.data;
    const [, layer, number] = /L(\d+) H(\d+)/.exec(head) ?? [];
    const site = independent.sites[Number(layer)];
    if (!independent.run || !site) return null;
    return `${site}.pattern[${number},${n_left_out + this.#query},${n_left_out + key}]`;
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
      const number = traced(weight, "weight", this.#addressOf(key), 2);
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
    const isModel = temperature === 1 && this.data.independent.run;
    const rows = leading.map(({ id, label }, i) => {
      const address = isModel ? `probs[-1,${id}]` : null;
      return { label, before: before[i], after: after[i], address };
    });
    const rest = after.subarray(leading.length).reduce((sum, p) => sum + p, 0);
    const count = (this.#sorted.length - leading.length).toLocaleString("en");
    const legend = `grey: the model · colour: at this temperature · ${count} others: ${digits(rest, 3)}`;
    const width = Math.max(240, this.bars.parentElement?.clientWidth ?? 240);
    drawBars(this.bars, rows, { palette: this.palette, width, legend });
    const said = rows.map((row) => `${row.label} ${digits(row.after, 3)}`).join(", ");
    this.bars.setAttribute("aria-label", `Most likely next tokens: ${said}`);
    fill(this.signs, this.run, signs);
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
    else this.#checkSoon();
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
    else this.#checkSoon();
  }

  // --- the check ----------------------------------------------------------------------------------

  /** While the text goes on what would be compared has gone before the answer: it must rest. */
  #checkSoon() {
    this.#cancelCheck();
    if (this.#isDrawn && !this.#left && !this.conversation.isAwaiting)
      this.#cancelCheck = this.lifetime.timeout(() => this.#check(), CHECK_REST_MS);
  }

  /** Compare what is on screen with an independent run, or with what its inputs give. */
  async #check() {
    const { data } = this;
    const { key, allowed_error } = data;
    const independent = await this.#ofIndependentRun();
    if (key !== this.data.key || this.lifetime.isOver) return;
    this.#recomputed ??= { ...recomputed(data.inputs), logits: floatsOf(data.logits) };
    const { words, says, bars, map } = this;
    const { drawnCells: cells, drawnNames: names } = map;
    const screen = { words, says, bars, cells, names, query: this.#query };
    const expected = independent ?? this.#recomputed;
    const found = errorOnScreen(data, this.settings.temperature, expected, screen);
    const error = independent
      ? showScreenCheck(this.badge, { error: found, n: countOnScreen(screen) }, allowed_error)
      : showCheck(this.badge, found, allowed_error);
    this.#report(key, error, found <= allowed_error);
  }

  /** What an independent run says; null where there is none, or no answer. */
  async #ofIndependentRun() {
    if (!this.data.independent.run) return null;
    return ofIndependentRun(this.data, this.title.textContent ?? "").catch(() => null);
  }

  /**
   * Tell Python once for each head, and where the verdict is another one: each report runs the page
   * again, which no movement of the mouse may cause.
   *
   * @param {string} key
   * @param {number | null} error
   * @param {boolean} passed
   */
  #report(key, error, passed) {
    const verdict = `${key} ${passed}`;
    if (this.#left || verdict === this.#reported) return;
    this.#reported = verdict;
    this.conversation.report("checked", { key, error });
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
