// One token against all others, as the sentence itself in shades.

import { weightColors } from "../../../colors.js";
import { digits, fillLists, html, numbered, wordsIn, select } from "../../../dom.js";
import { drawingOf } from "../../../export.js";
import { Tokens } from "../../../marks/tokens.js";
import { rowOf } from "../../../maths.js";
import { argmax } from "../../../measures.js";
import {
  FIRST_ASIDE,
  WEIGHT_PAIRS,
  clipped,
  hiddenInWords,
  patternTable,
} from "../../../patterns.js";
import { View } from "../view.js";

/** @import { Drawing } from "../../../export.js" */
/** @import { Shown } from "../../../patterns.js" */
/** @import { Looks } from "../../../wire.js" */
/** @import { Attention } from "../../attention.js" */

const SAYS =
  "Click a word to choose it. The shade is the weight; dashed words are masked. Numbers at the three largest and wherever it is at least 0.05.";

const STRONG = 0.05; // weight from which a number stands below a word

/**
 * Words in shades of their weights.
 *
 * @typedef {object} Shades
 * @property {string[]} labels
 * @property {Looks} looks
 * @property {Float64Array} weights
 * @property {(i: number) => boolean} isMasked
 * @property {(i: number) => boolean} isBlank hidden by choice
 * @property {number} chosen
 */

/** What one token attends to, and what attends to it. */
export class SentenceView extends View {
  /** @type {Shown} */
  #shown;
  /** The query whose row is shown. */
  #token = 0;
  /** In cross-attention, the key whose column is shown; else that of the token. */
  #key = 0;

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    this.says = html("p", { class: "hl-caption" });
    this.tokens = html("div", { class: "hl-row" });
    const picks = [(/** @type {number} */ j) => this.#pick(j), this.#choose];
    this.parts = picks.map((pick) => ({
      title: html("h3", { class: "hl-cell-title" }),
      row: new Tokens("hl-sentence", "", { pick }),
    }));
    const wide = html("div", { class: "hl-wide" });
    wide.append(this.tokens, this.says);
    for (const { title, row } of this.parts) wide.append(title, row.node);
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

  #choose = (/** @type {number} */ i) => this.scope.set({ token: i });

  /**
   * Of its row: the next query where that is of the same text, else the key of the column.
   *
   * @param {number} j
   */
  #pick(j) {
    if (this.#shown.kind === "self") return this.#choose(j);
    this.#key = j;
    this.#paint();
  }

  #paint() {
    const { kind, values, rows, columns, hidden, blank, rowLooks, columnLooks } = this.#shown;
    const [token, key] = [this.#token, this.#key];
    /** @type {(i: number, j: number) => boolean} */
    const isMasked = (i, j) => Boolean(hidden[i * values.columns + j]);
    /** @type {(i: number, j: number) => boolean} */
    const isBlank = (i, j) => Boolean(blank[i * values.columns + j]);
    /** @type {(i: number, j: number) => number} */
    const weight = (i, j) => (isMasked(i, j) ? 0 : values.values[i * values.columns + j]);
    const row = Float64Array.from(columns, (_, j) => weight(token, j));
    const column = Float64Array.from(rows, (_, i) => weight(i, key));
    /** @type {Shades} */
    const ofRow = {
      ...{ labels: columns, looks: columnLooks, weights: row },
      chosen: kind === "self" ? token : key,
      isMasked: (j) => isMasked(token, j),
      isBlank: (j) => isBlank(token, j),
    };
    /** @type {Shades} */
    const ofColumn = {
      ...{ labels: rows, looks: rowLooks, weights: column, chosen: token },
      isMasked: (i) => isMasked(i, key),
      isBlank: (i) => isBlank(i, key),
    };
    this.#title(0, [html("bdi", null, rows[token]), " attends to: its row"], ofRow);
    const ofKey = ["What attends to ", html("bdi", null, columns[key]), ": its column"];
    this.#title(1, ofKey, ofColumn);
    const colorOf = weightColors(this.scope.palette);
    [ofRow, ofColumn].forEach((shades, i) => this.parts[i].row.show(inShades(shades, colorOf)));
    this.#describe(0, `${rows[token]} attends to`, ofRow);
    this.#describe(1, `What attends to ${columns[key]}`, ofColumn);
  }

  /**
   * @param {number} part
   * @param {(Node | string)[]} words
   * @param {Shades} shades
   */
  #title(part, words, shades) {
    const [first] = strongest(shades); // none in the column of the hidden token
    const said =
      first === undefined
        ? ["hidden by choice"]
        : [`largest${asideOf(shades)} `, numbered(shades.weights[first], "largest", 3)];
    const largest = html("small", null, said);
    this.parts[part].title.replaceChildren(...words, " ", largest);
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
    this.parts[part].row.node.ariaLabel = `${words}${asideOf(shades)}: ${said}.`;
  }

  /** @override */
  read() {
    const parts = this.parts.map(({ title, row }) => ({
      ...wordsIn({ title, says: row.node }),
      words: row.read(),
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
    return this.parts.map(({ title, row }) => ({
      caption: title.textContent ?? "",
      drawing: drawingOf(row.node),
    }));
  }
}

/**
 * Each word in the shade of its weight, with a number where that is large.
 *
 * @param {Shades} shades
 * @param {(weight: number) => string} colorOf
 */
function inShades(shades, colorOf) {
  const { labels, looks, weights, isMasked, isBlank, chosen } = shades;
  const top = strongest(shades);
  return labels.map((label, i) => {
    const weight = isBlank(i) ? 0 : weights[i];
    const isStrong = weight >= STRONG || (top.includes(i) && weight > 0);
    return {
      ...{ label: clipped(label), look: looks?.[i], shade: colorOf(weight) },
      number: isStrong ? digits(weight, weight < 0.01 ? 3 : 2) : null,
      is: { chosen: i === chosen, masked: isMasked(i), blank: isBlank(i) },
    };
  });
}

/**
 * The places of the largest weights that are not hidden by choice, largest first.
 *
 * @param {Shades} shades
 */
function strongest({ weights, isBlank }) {
  const order = Array.from(weights.keys()).filter((i) => !isBlank(i));
  return order.sort((a, b) => weights[b] - weights[a]).slice(0, WEIGHT_PAIRS);
}

/**
 * What is left out where the largest is looked for.
 *
 * @param {Shades} shades
 */
function asideOf({ weights, isBlank }) {
  const n = Array.from(weights).filter((_, i) => isBlank(i)).length;
  return n && n < weights.length ? FIRST_ASIDE : "";
}
