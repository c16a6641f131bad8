// One token against all others, as the sentence itself in shades.

import { digits, fillLists, html, numbered, wordsIn, select, svg } from "../../../dom.js";
import { asideOf, drawShades, strongest, visible } from "../../../marks/shades.js";
import { rowOf } from "../../../maths.js";
import { argmax } from "../../../measures.js";
import { hiddenInWords, patternTable } from "../../../patterns.js";
import { View } from "../view.js";

/** @import { Drawing, Shown } from "../../../patterns.js" */
/** @import { Attention } from "../../attention.js" */

const SAYS =
  "Click a word to choose it. The shade is the weight; dashed words are masked. Numbers at the three largest and wherever it is at least 0.05.";

/** @import { Shades } from "../../../marks/shades.js" */

/** What one token attends to, and what attends to it. */
export class SentenceView extends View {
  /** @type {Shown} */
  #shown;
  /** The query whose row is shown. */
  #token = 0;
  /** In cross-attention, the key whose column is shown; else that of the token. */
  #key = 0;
  /** @type {ReturnType<typeof drawShades>[]} */
  #drawn = [];

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    this.says = html("p", { class: "hl-caption" });
    this.tokens = html("div", { class: "hl-row" });
    this.parts = [0, 1].map(() => ({
      title: html("h3", { class: "hl-cell-title" }),
      picture: svg("svg", { class: "hl-sentence", role: "img" }),
    }));
    const wide = html("div", { class: "hl-wide" });
    wide.append(this.tokens, this.says);
    for (const { title, picture } of this.parts) wide.append(title, picture);
    host.append(wide);
  }

  /** @override */
  draw() {
    const { head, steps } = this.scope.loaded;
    this.#shown = this.shown(steps.weights, head.mask.values);
    const { kind, rows, values } = this.#shown;
    this.#token = this.#chosen(rows.length - 1);
    this.#key = kind === "self" ? this.#token : argmax(rowOf(values, this.#token));
    /** @type {[number, string][]} */
    const options = rows.map((label, i) => [i, `${i}: ${label}`]);
    const make = () => [select("Token", options, (at) => this.scope.set({ token: Number(at) }))];
    fillLists(this.tokens, options.join(), make, [this.#token]);
    this.says.textContent = SAYS + hiddenInWords(this.#shown);
    this.#paint();
  }

  /**
   * The chosen token, else the query of the cell in view.
   *
   * @param {number} last
   */
  #chosen(last) {
    const { settings, between } = this.scope;
    if (settings.token != null) return Math.min(settings.token, last);
    const [query] = this.scope.cell();
    const itsWord = settings.words ? between.queries.words?.[query] : undefined;
    return Math.min(itsWord ?? query, last);
  }

  #paint() {
    const { kind, values, rows, columns, hidden, blank } = this.#shown;
    const [token, key] = [this.#token, this.#key];
    /** @type {(i: number, j: number) => boolean} */
    const isMasked = (i, j) => Boolean(hidden[i * values.columns + j]);
    /** @type {(i: number, j: number) => boolean} */
    const isBlank = (i, j) => Boolean(blank[i * values.columns + j]);
    /** @type {(i: number, j: number) => number} */
    const weight = (i, j) => (isMasked(i, j) ? 0 : values.values[i * values.columns + j]);
    const row = Float64Array.from(columns, (_, j) => weight(token, j));
    const column = Float64Array.from(rows, (_, i) => weight(i, key));
    const isSelf = kind === "self";
    /** @param {number} i */
    const choose = (i) => this.scope.set({ token: i });
    /** @param {number} j */
    const chooseKey = (j) => {
      this.#key = j;
      this.#paint();
    };
    /** @type {Shades} */
    const ofRow = {
      ...{ labels: columns, weights: row, chosen: isSelf ? token : key },
      isMasked: (j) => isMasked(token, j),
      isBlank: (j) => isBlank(token, j),
      pick: isSelf ? choose : chooseKey,
    };
    /** @type {Shades} */
    const ofColumn = {
      ...{ labels: rows, weights: column, chosen: token, pick: choose },
      isMasked: (i) => isMasked(i, key),
      isBlank: (i) => isBlank(i, key),
    };
    this.#title(0, [html("bdi", null, rows[token]), " attends to: its row"], ofRow);
    const ofKey = ["What attends to ", html("bdi", null, columns[key]), ": its column"];
    this.#title(1, ofKey, ofColumn);
    const { palette } = this.scope;
    this.#drawn = [ofRow, ofColumn].map((shades, i) =>
      drawShades(this.parts[i].picture, shades, palette),
    );
    this.#describe(0, `${rows[token]} attends to`, ofRow);
    this.#describe(1, `What attends to ${columns[key]}`, ofColumn);
  }

  /**
   * @param {number} part
   * @param {(Node | string)[]} words
   * @param {Shades} shades
   */
  #title(part, words, shades) {
    const most = Math.max(...visible(shades));
    const isHidden = most === -Infinity; // the column of the hidden token
    const said = isHidden
      ? ["hidden by choice"]
      : [`largest${asideOf(shades)} `, numbered(most, "largest", 3)];
    const largest = html("small", null, said);
    this.parts[part].title.replaceChildren(...words, largest);
  }

  /**
   * @param {number} part
   * @param {string} words
   * @param {Shades} shades
   */
  #describe(part, words, shades) {
    const { labels, weights, isMasked } = shades;
    const named = strongest(shades).map(
      (i) => `${labels[i]} ${isMasked(i) ? "masked" : digits(weights[i], 3)}`,
    );
    const said = named.length ? named.join("; ") : "hidden by choice";
    this.parts[part].picture.setAttribute("aria-label", `${words}${asideOf(shades)}: ${said}.`);
  }

  /** @override */
  read() {
    const parts = this.parts.map(({ title, picture: says }, i) => ({
      ...wordsIn({ title, says }),
      words: this.#drawn[i],
    }));
    return { ...wordsIn({ says: this.says, token: this.tokens.firstElementChild }), parts };
  }

  /** @override */
  table() {
    return patternTable(this.#shown);
  }

  /**
   * @override
   * @returns {Drawing[]}
   */
  drawings() {
    return this.parts.map(({ title, picture }) => ({
      caption: title.textContent ?? "",
      drawing: picture,
    }));
  }
}
