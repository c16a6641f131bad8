// Why a head looks there: one score as the exact sum of what the query holds and what the key holds.
// What is clicked is taken away, and the row of weights follows.

import { button, html, wordsIn } from "../dom.js";
import { drawingOf, pictureMenu } from "../export.js";
import { Instrument, partOf } from "../instrument.js";
import { TokenBars } from "../marks/bars.js";
import { SignedBars, reachOf, signedColors, tenths } from "../marks/signed.js";
import { Tokens } from "../marks/tokens.js";
import { headName } from "../names.js";
import { PairMap, pairsOf } from "./why/map.js";
import { Sums, takenOf } from "./why/sums.js";
import {
  comparedWith,
  countsMost,
  scoreWords,
  takenWords,
  takes,
  tokenName,
  writerName,
} from "./why/words.js";

/** @import { Child } from "../dom.js" */
/** @import { Place } from "../instrument.js" */
/** @import { Bar } from "../marks/signed.js" */
/** @import { Token } from "../marks/tokens.js" */
/** @import { InstrumentData, Looks } from "../wire.js" */
/** @import { Taken } from "./why/sums.js" */

/** @typedef {"query" | "key"} Side */

/**
 * A part of a side. `head` is where it is, as it is chosen on a page; `token` of a word.
 *
 * @typedef {object} Wrote
 * @property {string} name
 * @property {string} kind
 * @property {{attention: string, layer: number, head: number, cell: [number, number]} | null} head
 * @property {number | null} token
 */

/**
 * @typedef {object} WhyFields
 * @property {[group: string, layer: number, head: number]} site
 * @property {[query: number, key: number]} at
 * @property {Record<Side, string[]>} labels of the tokens of both streams
 * @property {Record<Side, Looks>} token_looks
 * @property {string} says the sentence
 * @property {string} looks its beginning, which holds of whatever key it is compared with
 * @property {number | null} against the key that the sentence compares with; null for the mean
 * @property {{name: string, sides: [number, number], says: string}[]} kinds
 * @property {Record<Side, Wrote[]>} words
 * @property {Record<Side, Wrote[]>} writers
 * @property {number} stands_out of the score, from which a word is named
 * @property {number | null} softcap
 * @property {number | null} sink
 * @property {boolean} can_open whether a head can be opened from here
 * @property {{taken: string, other: number | null}} settings
 */

/** @typedef {InstrumentData & WhyFields} WhyData */

const SIDES = /** @type {const} */ (["query", "key"]);
const MOST_WRITERS = 5; // of either side, beside the others
const HINT =
  "A click on a word, a cell or a bar takes it away, and this row follows. " +
  "A click on a key of this row compares with it; another one ends that.";
const LEGEND = ["as it ran", "without that"]; // of the bars of the row
// What a saved picture lacks: buttons, and how to use them.
const ONLY_ON_SCREEN =
  ".hl-why-head button, .hl-signed-open, .hl-why-row:not(.hl-why-is-taken) .hl-why-row-says";
const KINDS =
  "Place is what positions say and what all tokens share. The rest is a token’s own; " +
  "a match is of what both hold of their own.";

/** A section with its heading. @type {(title: string, ...inside: Child[]) => HTMLElement} */
const section = (title, ...inside) =>
  html("section", { "aria-label": title }, html("h3", null, title), ...inside);

/**
 * @param {HTMLElement} node
 * @param {Child[]} words
 */
function fill(node, words) {
  node.replaceChildren(...html("p", null, words).childNodes);
}

/** @extends {Instrument<WhyData>} */
export class Why extends Instrument {
  /** @override */
  static needs = ["seen", "added", "weights", "kinds", "words", "query", "keys"];

  /** @type {Sums} */
  sums;
  /** The writers in each list, the strongest first. @type {Record<Side, number[]>} */
  #order = { query: [], key: [] };

  /** @param {Place} place */
  constructor(place) {
    super(place);
    this.says = html("p", { class: "hl-why-says", role: "status" });
    this.caption = html("p", { class: "hl-caption" });
    this.tokens = { query: this.#tokensOf("query"), key: this.#tokensOf("key") };
    const rows = SIDES.map((side) => [
      html("span", { class: "hl-caption" }, `words in the ${side}`),
      this.tokens[side].node,
    ]);
    this.lit = html("div", { class: "hl-why-lit" }, rows.flat());
    this.none = html("p", { class: "hl-caption" }, "Place counts most: no words are shown.");
    this.rowSays = html("p", { class: "hl-caption hl-why-row-says", role: "status" });
    this.back = button("Put it back", () => this.#take(""));
    this.row = new TokenBars((i) => this.#compare(this.sums.seen[i]));
    this.weights = section("The row of weights", this.rowSays, this.row.node);
    this.weights.classList.add("hl-why-row");
    this.weights.prepend(
      html("div", { class: "hl-why-head" }, this.weights.firstElementChild, this.back),
    );
    this.kinds = new SignedBars("What kind of look it is", {
      pick: (i) => this.#take(`kind:${this.data.kinds[i].name}`),
    });
    this.map = new PairMap((what) => this.#take(what));
    this.writers = { query: this.#barsOf("query"), key: this.#barsOf("key") };
    this.pairs = section("Which words: in the query × in the key", this.map.node);
    this.figures = html(
      "div",
      { class: "hl-why-figures" },
      section(this.kinds.title, this.kinds.node, html("p", { class: "hl-caption" }, KINDS)),
      this.pairs,
      ...SIDES.map((side) => section(this.writers[side].title, this.writers[side].node)),
    );
    const saves = pictureMenu(() => this.#saved, this.rowSays);
    const shown = [this.says, this.caption, this.lit, this.none, this.weights, this.figures, saves];
    this.root.replaceChildren(html("div", { class: "hl-main" }, shown));
    this.lifetime.listen(this.root, "keydown", (event) => this.#pressed(event));
  }

  /** @param {Side} side */
  #tokensOf(side) {
    const pick = (/** @type {number} */ token) =>
      this.#take(takes(side, this.#partOf(side, token)));
    return new Tokens("hl-why-tokens", `Words in the ${side}`, { pick, walks: true });
  }

  /** @param {Side} side */
  #barsOf(side) {
    return new SignedBars(`Who wrote the ${side}`, {
      pick: (i) => this.#take(`${side}:${this.#order[side][i]}`),
      open: (i) => this.#open(this.data.writers[side][this.#order[side][i]]),
    });
  }

  /**
   * The number of the part that a token is on a side; −1 for none.
   *
   * @param {Side} side
   * @param {number} token
   */
  #partOf(side, token) {
    return this.data.words[side].findIndex((one) => one.token === token);
  }

  /**
   * @override
   * @param {WhyData["settings"]} settings
   */
  settle(settings) {
    this.sums = new Sums(this.arrays, this.data);
    const taken = takenOf(this.data, settings.taken) ? settings.taken : "";
    const { seen, key } = this.sums;
    const isKey = seen.some((one) => one === settings.other && one !== key);
    return { ...settings, taken, other: isKey ? settings.other : null };
  }

  /** What is taken away. @returns {Taken | null} */
  get taken() {
    return takenOf(this.data, this.settings.taken);
  }

  /** @override */
  redraw() {
    const { isPlace } = this;
    this.#drawSays();
    for (const node of [this.lit, this.pairs]) node.hidden = isPlace;
    this.none.hidden = !isPlace;
    this.figures.classList.toggle("hl-why-no-words", isPlace);
    const { other, taken } = this.settings;
    const words = this.sums.centred("words", other);
    if (!isPlace) {
      this.#drawTokens(words);
      this.map.show(pairsOf(this.data, words), taken, this.palette);
    }
    this.#drawBars();
    this.#drawCaption();
    this.#drawRow();
  }

  /** Whether place counts most. */
  get isPlace() {
    const most = countsMost(this.sums.ofKinds(this.settings.other));
    return this.data.kinds[most].name === "place";
  }

  /** What Python wrote of one key, or of the mean, is not said of another. */
  #drawSays() {
    const { data, sums } = this;
    const { other } = this.settings;
    const own = [`${data.looks} `, ...comparedWith(data, sums.ofKinds(other), other)];
    fill(this.says, other === data.against ? [data.says] : own);
  }

  /** @param {number[]} centred words × words */
  #drawTokens(centred) {
    const { words } = this.data;
    const n = words.key.length;
    const sums = { query: words.query.map(() => 0), key: words.key.map(() => 0) };
    centred.forEach((value, i) => {
      sums.query[Math.floor(i / n)] += value;
      sums.key[i % n] += value;
    });
    const shown = SIDES.flatMap((side) =>
      sums[side].filter((_, i) => words[side][i].token !== null).map(Math.abs),
    );
    const colorOf = signedColors(this.palette, Math.max(...shown));
    for (const side of SIDES) {
      const tokens = this.data.labels[side].map((_, at) =>
        this.#token(side, at, sums[side][this.#partOf(side, at)], colorOf),
      );
      this.tokens[side].show(tokens);
    }
  }

  /**
   * @param {Side} side
   * @param {number} at
   * @param {number | undefined} value what the word gives there; none where it cannot be
   * @param {(value: number) => string} colorOf
   * @returns {Token}
   */
  #token(side, at, value, colorOf) {
    const { labels, token_looks, at: both } = this.data;
    const look = token_looks[side]?.[at];
    const chosen = at === both[SIDES.indexOf(side)];
    const [label, number] = tokenName(labels[side], at);
    if (value === undefined) return { label, look, isFixed: true, is: { chosen } };
    const title = `“${label}”${number} in the ${side}: ${tenths(value)}`;
    const is = { chosen, taken: takes(side, this.#partOf(side, at)) === this.settings.taken };
    return { label, look, title, is, shade: colorOf(value) };
  }

  #drawBars() {
    const { other, taken } = this.settings;
    const added = this.sums.added(other);
    const values = this.sums.ofKinds(other);
    const ofKinds = this.data.kinds.map(({ name, says }, i) => ({
      name: says,
      value: values[i],
      canPick: true,
      isPicked: taken === `kind:${name}`,
    }));
    const wrote = { query: this.#wrote("query", added), key: this.#wrote("key", added) };
    const all = [ofKinds, wrote.query, wrote.key].flat().map(({ value }) => value);
    const reach = reachOf(all);
    this.kinds.show(ofKinds, this.palette, reach);
    for (const side of SIDES) this.writers[side].show(wrote[side], this.palette, reach);
  }

  /**
   * The strongest writers of a side, and the others as one.
   *
   * @param {Side} side
   * @param {number} added
   * @returns {Bar[]}
   */
  #wrote(side, added) {
    const { writers, can_open } = this.data;
    const centred = this.sums.centred(side === "key" ? "keys" : "query", this.settings.other);
    const order = [...centred.keys()].sort((a, b) => Math.abs(centred[b]) - Math.abs(centred[a]));
    const isSeen = (/** @type {number} */ value) => tenths(value) !== "0";
    this.#order[side] = order.slice(0, MOST_WRITERS).filter((i) => isSeen(centred[i]));
    const bars = this.#order[side].map((i) => {
      const { head } = writers[side][i];
      const opens = head && can_open ? `Attention of ${headName(head.layer, head.head)}` : "";
      const isPicked = this.settings.taken === `${side}:${i}`;
      return {
        name: writerName(writers[side][i]),
        value: centred[i],
        canPick: true,
        isPicked,
        opens,
      };
    });
    const rest = order.slice(this.#order[side].length);
    const others = rest.reduce((sum, i) => sum + centred[i], 0);
    return [
      ...bars,
      ...(isSeen(others) || rest.some((i) => isSeen(centred[i]))
        ? [{ name: "others", value: others }]
        : []),
      ...(added ? [{ name: "bias of the scores", value: added }] : []),
    ];
  }

  #drawCaption() {
    const { other } = this.settings;
    const score = this.sums.ofKinds(other).reduce((a, b) => a + b);
    const bias = this.isPlace ? 0 : this.sums.added(other);
    fill(this.caption, scoreWords(this.data, score, other, bias));
  }

  #drawRow() {
    const { data, sums, arrays, taken } = this;
    const { key } = sums;
    const before = arrays.weights.values;
    const after = taken ? sums.without(taken) : null;
    const change = (/** @type {number} */ i) =>
      `${before[i].toFixed(2)}${after ? ` → ${after[i].toFixed(2)}` : ""}`;
    const rows = sums.seen.map((i) => ({
      label: tokenName(data.labels.key, i).join(""),
      sign: i === this.settings.other ? "≠ " : "",
      before: before[i],
      after: after ? after[i] : 0,
      number: change(i),
      isDrawn: i === key,
      canPick: i !== key,
      title: i === key ? "" : "Why not here?",
    }));
    this.row.show(rows, "The row of weights");
    this.weights.classList.toggle("hl-why-is-taken", Boolean(taken));
    this.back.ariaDisabled = String(!taken);
    const legend = LEGEND.map((one) => html("span", { class: "hl-why-key" }, one));
    const what = [", norms held: weight ", change(key), ".", ...legend];
    const words = taken ? ["Without ", ...takenWords(data, this.settings.taken), ...what] : [HINT];
    fill(this.rowSays, words);
  }

  /**
   * Take something away, or put it back.
   *
   * @param {string} what
   */
  #take(what) {
    this.set({ taken: this.settings.taken === what ? "" : what });
  }

  /** @param {number} key */
  #compare(key) {
    this.set({ other: this.settings.other === key ? null : key });
  }

  /** @param {Wrote} wrote */
  #open({ head }) {
    if (!head) return;
    this.set(/** @type {any} */ (head));
    this.model.save_changes();
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (event.key !== "Escape" || !this.settings?.taken) return;
    event.preventDefault();
    this.#take("");
  }

  /** What is saved. @returns {import("../export.js").Saved} */
  get #saved() {
    const { site, at } = this.data;
    const [, layer, head] = site;
    const { says, weights, lit, figures, palette, caption } = this;
    const drawn = (/** @type {Element} */ one) => ({
      drawing: async () => drawingOf(one, ONLY_ON_SCREEN),
    });
    /** @type {[string | null, Element][]} */
    const words = lit.hidden ? [] : [[null, lit]];
    return {
      name: `why-l${layer}-h${head}-${at.join("-")}`,
      title: says.textContent ?? "",
      palette,
      shows: [...words, [null, drawn(weights)], [caption.textContent, drawn(figures)]],
    };
  }

  /** What is on screen, by names. */
  read() {
    const { says, caption, none, rowSays, tokens, kinds, writers, map, row, lit } = this;
    return {
      ...wordsIn({ says, caption, none }),
      tokens: lit.hidden ? null : { query: tokens.query.read(), key: tokens.key.read() },
      kinds: kinds.read(),
      map: lit.hidden ? null : map.read(),
      writers: { query: writers.query.read(), key: writers.key.read() },
      row: { follows: rowSays.textContent, ...row.read() },
      canPutBack: this.back.ariaDisabled === "false",
    };
  }
}

export default partOf("why", Why);
