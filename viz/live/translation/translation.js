// A translation: English and German words with the weights between them, all heads of three kinds of
// attention, and at each place of the German what else might have come.

import { Library } from "../../kit/arrays.js";
import { check, digits, fillOnce, html, radios } from "../../kit/dom.js";
import { Grids } from "../../kit/marks/grids.js";
import { called } from "../../kit/groups.js";
import { HeatMap } from "../../kit/marks/heatmap.js";
import { Instrument } from "../instrument.js";
import { rowOf } from "../../kit/maths.js";
import { pairsInWords, pictured, shownPattern, weightScale } from "../../kit/patterns.js";
import { Candidates } from "./candidates.js";
import { Controls, asRadios } from "./controls.js";
import { addressOf, between, chosenHead, headsOfLines, rowOfToken, strongestIn } from "./heads.js";
import { Rows } from "./rows.js";

/** @import { Receiver } from "../../kit/wire.js" */
/** @import { Matrix } from "../../kit/maths.js" */
/** @import { Chosen } from "../../kit/groups.js" */
/** @import { Step, TranslationData, TranslationSettings } from "./wire.js" */

// Pixels of the map: what a window has beyond what stands above it, within reason.
const MAP = { above: 590, least: 200, most: 420 };
const REPLAYED_MS = 420; // from one word to the next
const WRITTEN_MS = 120; // all words of a new translation: they follow the typing hand

/** @extends {Instrument<TranslationData>} */
export class Translation extends Instrument {
  #library = new Library();
  /** The German token under the mouse or the focus. @type {number | null} */
  #looked = null;
  #shown = 0; // German words written by now
  #cancelPlay = () => {};
  /** @type {{chosen: Chosen, map: Matrix, lines: Matrix, heads: Chosen} | null} */
  #loaded = null;
  /** @type {(number | null)[]} */
  #before = [];
  #drawing = 0;

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver) {
    super(root, receiver);
    this.controls = new Controls(this);
    this.says = html("p", { class: "hl-tr-says", role: "status" });
    this.failure = html("p", { class: "hl-error", role: "alert", hidden: true });
    const words = html("div");
    this.rows = new Rows(words, this.lifetime, {
      look: (n) => this.#look(n),
      pin: (n) => this.#pin(n),
    });
    const [heads, head, next] = ["All heads", "One head", "What might come here"].map((name) =>
      html("section", { class: "hl-panel", "aria-label": name }),
    );
    const grids = html("div", { class: "hl-grids-of-heads" });
    this.grids = new Grids(grids, this.lifetime, (at) => this.set({ at, shown_heads: "head" }));
    this.title = html("h3");
    this.options = html("div", { class: "hl-row hl-tr-options" });
    this.host = html("div", { class: "hl-map" });
    heads.classList.add("hl-tr-heads");
    heads.append(grids, this.options);
    head.append(this.title, this.host);
    const high = Math.min(MAP.most, Math.max(MAP.least, innerHeight - MAP.above));
    this.map = new HeatMap(this.host, this.lifetime, {
      point: (row, column) => this.#point(row, column),
      leave: () => this.#look(null),
      most: high,
      drag: false,
    });
    this.candidates = new Candidates(next, (id) => this.#choose(id));
    const columns = html("div", { class: "hl-tr-columns" }, heads, head, next);
    root.replaceChildren(this.controls.node, words, this.says, this.failure, columns);
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    for (const [address, file] of Object.entries(this.data.arrays))
      this.#library.put(address, file);
    if (isNew) this.#take();
    this.redraw();
  }

  /** New numbers: words that were there stay, the others come one by one. */
  #take() {
    const ids = this.data.steps.slice(0, this.data.n_written).map(({ id }) => id);
    const isFirst = !this.#before.length;
    const same = ids.findIndex((id, n) => id !== this.#before[n]);
    this.#before = ids;
    this.#loaded = null;
    this.#looked = null;
    this.rows.build(this.data);
    this.#shown = isFirst || same < 0 ? ids.length : same;
    this.#play(WRITTEN_MS / Math.max(1, ids.length - this.#shown));
  }

  /** Write the German again, word by word. */
  replay() {
    this.#shown = 0;
    this.#looked = null;
    this.#showWords();
    this.#play(REPLAYED_MS);
  }

  /**
   * Words follow the clock: where drawing one takes longer than its time, the next bring more.
   *
   * @param {number} ms between two words
   */
  #play(ms) {
    this.#cancelPlay();
    const [before, began] = [this.#shown, performance.now()];
    if (before >= this.data.n_written) return;
    this.#cancelPlay = this.lifetime.interval(() => {
      const n = Math.round((performance.now() - began) / ms); // a timer's clock is a little early
      this.#shown = Math.min(this.data.n_written, Math.max(this.#shown + 1, before + n));
      if (this.#shown >= this.data.n_written) this.#cancelPlay();
      this.#showAll();
    }, ms);
  }

  // --- what is looked at --------------------------------------------------------------------------

  /** The German token whose lines are drawn strong: under the mouse, the last written, the pinned. */
  get #now() {
    const last = this.data.n_written - 1;
    if (this.#shown <= last) return Math.max(0, this.#shown - 1);
    return Math.min(this.#looked ?? this.settings.target_token ?? 0, Math.max(0, last));
  }

  /** @param {number | null} n */
  #look(n) {
    if (n === this.#looked) return;
    this.#looked = n;
    this.#showAll();
  }

  /** @param {number} n */
  #pin(n) {
    this.#looked = null;
    this.setQuietly({ target_token: n });
    this.#showAll();
  }

  /**
   * Put another token where one is looked at; what came before it stays as it is.
   *
   * @param {number} id
   */
  #choose(id) {
    const n = this.#now;
    const kept = this.data.steps.slice(0, n).flatMap((step) => step.id ?? []);
    this.set({ forced: [...kept, id], target_token: n });
  }

  /**
   * The mouse is over a cell of the map.
   *
   * @param {number} row
   * @param {number} column
   */
  #point(row, column) {
    const { chosen } = this.#loaded ?? {};
    if (!chosen) return;
    if (chosen.group.queries === "decoder") {
      const n = this.settings.align_by === "input" && chosen.group.kind === "cross" ? row - 1 : row;
      this.#look(Math.min(Math.max(n, 0), this.data.n_written - 1));
    }
    this.map.mark(row, column);
  }

  // --- drawing ------------------------------------------------------------------------------------

  /** @override */
  async redraw() {
    const { data, settings } = this;
    const chosen = chosenHead(data, settings);
    this.controls.draw(data, settings);
    this.#showOptions();
    this.grids.draw(data, chosen, this.palette);
    const turn = ++this.#drawing;
    const loaded = await this.#load(chosen).catch((error) => this.#fail(error));
    if (!loaded || turn !== this.#drawing || this.lifetime.isOver) return;
    this.failure.hidden = true;
    this.#loaded = loaded;
    this.#showAll();
    await this.#drawMap(loaded.chosen, loaded.map, loaded.mask.values);
    if (turn !== this.#drawing || this.lifetime.isOver) return;
    this.#mark();
    this.root.dataset.drawn = `${data.key} ${settings.at}`;
  }

  /** @param {Chosen} chosen */
  async #load(chosen) {
    const heads = headsOfLines(this.data, chosen);
    const [own, cross] = await Promise.all(
      [chosen, heads].map((one) => this.#library.fetch(addressOf(this.data.arrays_key, one))),
    );
    return { chosen, heads, map: own.pattern, mask: own.mask, lines: cross.pattern };
  }

  /**
   * @param {Error & {isLost?: boolean}} error
   * @returns {null}
   */
  #fail(error) {
    this.failure.hidden = false;
    this.failure.textContent = error.message;
    if (error.isLost) this.receiver.lost?.(this.data.key);
    return null;
  }

  #showOptions() {
    const { heads, rows } = this.data.options;
    const { shown_heads, align_by } = this.settings;
    fillOnce(this.options, "options", () => [
      this.#labelled("Heads", "shown_heads", heads, shown_heads),
      this.#labelled("Lines of a German word", "align_by", rows, align_by),
    ]);
    const [first, second] = this.options.children;
    check(first, shown_heads);
    check(second, align_by);
  }

  /**
   * @param {string} label
   * @param {"shown_heads" | "align_by"} name
   * @param {string[][]} options
   * @param {string} chosen
   */
  #labelled(label, name, options, chosen) {
    const pick = (/** @type {string} */ value) =>
      this.set(/** @type {Partial<TranslationSettings>} */ ({ [name]: value }));
    const group = radios(`hl-${name}`, label, asRadios(options), chosen, pick);
    return html("div", { class: "hl-tr-labelled" }, html("span", null, label), group);
  }

  #showAll() {
    this.#showWords();
    this.#showCandidates();
    this.#mark();
  }

  #showWords() {
    if (!this.#loaded) return;
    const { lines, heads } = this.#loaded;
    const by = this.settings.align_by;
    this.rows.draw({ weights: lines, by, looked: this.#now, shown: this.#shown });
    this.says.replaceChildren(...this.#sentence(lines, heads));
  }

  /**
   * What the looked at word attends to most, in words.
   *
   * @param {Matrix} lines
   * @param {Chosen} heads
   */
  #sentence(lines, heads) {
    const row = rowOfToken(this.#now, this.settings.align_by, lines.rows);
    if (row === null) return ["The end is never fed in: it has no row of its own."];
    const own = rowOf(lines, row);
    const best = strongestIn(own);
    const { encoder, decoder } = this.data.streams;
    const named = (/** @type {string} */ label) => html("bdi", { class: "hl-tr-named" }, label);
    const german = decoder.labels[this.#now + 1] ?? this.data.steps[this.#now].label;
    return [
      named(german),
      " attends most to ",
      named(encoder.labels[best]),
      ` ${digits(own[best], 2)}`,
      html("span", { class: "hl-tr-by" }, ` Lines: ${called(heads)}.`),
    ];
  }

  #showCandidates() {
    const n = this.#now;
    const step = this.data.steps[n];
    const before = n ? (this.data.streams.decoder.labels[n] ?? "") : "";
    this.candidates.draw({ step, before, isDrawn: this.data.settings.decode === "sampling" });
  }

  /**
   * @param {Chosen} chosen
   * @param {Matrix} map
   * @param {ArrayLike<number>} allowed
   */
  async #drawMap(chosen, map, allowed) {
    const shown = shownPattern(map, Uint8Array.from(allowed), between(this.data, chosen.group));
    this.title.textContent = called(chosen);
    pictured(this.host, `${called(chosen)}: ${pairsInWords(shown)}`);
    await this.map.draw({ ...shown, scale: weightScale(shown) }, this.palette);
  }

  /** The row of the looked at word, and the strongest cell in it. */
  #mark() {
    const { chosen, map } = this.#loaded ?? {};
    if (!chosen || !map || chosen.group.queries !== "decoder") return;
    const isCross = chosen.group.kind === "cross";
    const row = rowOfToken(this.#now, isCross ? this.settings.align_by : "output", map.rows);
    if (row === null) return;
    const own = rowOf(map, row);
    this.map.mark(row, strongestIn(own));
  }
}
