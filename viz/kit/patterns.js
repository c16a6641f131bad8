// A pattern as it is shown: with the options a person chose, its scale, and its words.

import { digits, html, numbered } from "./dom.js";
import { matrix } from "./maths.js";
import { isInformative, mergedMask, mergedWords, reach, strongestPairs } from "./measures.js";

/** @import { Scale } from "./figure.js" */
/** @import { Matrix, Numbers } from "./maths.js" */
/** @import { Looks, Stream } from "./wire.js" */

export const WEIGHT_PAIRS = 3;
const MOST_LETTERS = 18;

/**
 * The streams an attention is between, and what its axes are called. In self-attention both are the
 * same.
 *
 * @typedef {object} Between
 * @property {"self" | "cross"} kind
 * @property {Stream} queries
 * @property {Stream} keys
 * @property {string} rowTitle
 * @property {string} columnTitle
 */

/**
 * A pattern as it is shown. `rows` and `columns` are labels as text, `rowLabels` and `columnLabels`
 * the same for Plotly.
 *
 * @typedef {object} Shown
 * @property {"self" | "cross"} kind
 * @property {Matrix} values
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string[]} rowLabels
 * @property {string[]} columnLabels
 * @property {Looks} rowLooks
 * @property {Looks} columnLooks
 * @property {string} rowTitle
 * @property {string} columnTitle
 * @property {Numbers} allowed
 * @property {Uint8Array} hidden masked cells
 * @property {Uint8Array} blank cells hidden by choice; their values are what they are
 */

/**
 * What a person may choose for patterns: words merged, the first key's column left out.
 *
 * @typedef {{words?: boolean, hide_first?: boolean}} PatternOptions
 */

/**
 * A pattern as the options ask for it.
 *
 * @param {Matrix} pattern
 * @param {Numbers} mask 1 where attention is allowed
 * @param {Between} between
 * @param {PatternOptions} [options]
 * @returns {Shown}
 */
export function shownPattern(pattern, mask, between, { words = false, hide_first = false } = {}) {
  const shown = words && canMerge(between) ? inWords(pattern, mask, between) : null;
  const { values, allowed, ...labels } = shown ?? inTokens(pattern, mask, between);
  const { kind, rowTitle, columnTitle } = between;
  const { length } = values.values;
  const hidden = bytesWhere(length, (i) => !allowed[i]);
  const isFirstHidden = hide_first && kind === "self";
  const blank = bytesWhere(length, (i) => isFirstHidden && i % values.columns === 0);
  return { ...labels, values, allowed, hidden, blank, kind, rowTitle, columnTitle };
}

/**
 * 1 where a test holds.
 *
 * @param {number} length
 * @param {(i: number) => boolean} test
 */
function bytesWhere(length, test) {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) if (test(i)) bytes[i] = 1;
  return bytes;
}

/**
 * Whether tokens can be merged to words: both sides must have some.
 *
 * @param {Between} between
 */
export function canMerge({ queries, keys }) {
  return queries.words !== null && keys.words !== null;
}

/**
 * @param {Matrix} values
 * @param {Numbers} allowed
 * @param {Between} between
 */
function inTokens(values, allowed, { queries, keys }) {
  const labels = { rows: queries.labels, columns: keys.labels };
  return { values, allowed, ...labels, ...axesOf(queries, keys) };
}

/**
 * What stands along a map of tokens.
 *
 * @param {Pick<Stream, "axis" | "looks">} queries
 * @param {Pick<Stream, "axis" | "looks">} keys
 */
export function axesOf(queries, keys) {
  return {
    rowLabels: queries.axis,
    columnLabels: keys.axis,
    rowLooks: queries.looks,
    columnLooks: keys.looks,
  };
}

/**
 * @param {Matrix} pattern
 * @param {Numbers} mask
 * @param {Between} between
 */
function inWords(pattern, mask, { queries, keys }) {
  const [rowWords, columnWords] = [queries.words ?? [], keys.words ?? []];
  return {
    values: mergedWords(pattern, rowWords, columnWords),
    allowed: mergedMask(mask, rowWords, columnWords),
    rows: queries.word_labels ?? [],
    columns: keys.word_labels ?? [],
    rowLabels: queries.word_axis ?? [],
    columnLabels: keys.word_axis ?? [],
    rowLooks: queries.word_looks,
    columnLooks: keys.word_looks,
  };
}

/** The scale of all weights, whatever is shown; colors.js has their colours. @type {Scale} */
export const WEIGHTS = { name: "attention weight", low: 0, high: 1 };

/**
 * A scale symmetric about 0.
 *
 * @param {string} name
 * @param {Iterable<number>} values
 * @returns {Scale}
 */
export function signedScale(name, values) {
  const most = reach(values);
  return { name, low: -most, high: most, signed: true };
}

/**
 * What pairs are looked for in.
 *
 * @typedef {Pick<Shown, "kind" | "values" | "hidden" | "rows" | "columns">
 *   & {blank?: Uint8Array}} Searched
 */

/**
 * The strongest pairs of a pattern in a sentence, which says what was passed over: the first token
 * where it is hidden; pairs with it and of a token with itself where there are others.
 *
 * @param {Searched} shown
 * @param {string} [what] what is the largest, in words
 */
export function pairsInWords(shown, what = "Strongest pairs") {
  const { pairs, aside } = strongestOf(shown);
  const { rows, columns } = shown;
  if (!pairs.length) return `${what}${aside}: none.`;
  const named = pairs.map(
    ({ query, key, weight }) => `${rows[query]} attends to ${columns[key]} ${digits(weight, 3)}`,
  );
  return `${what}${aside}: ${named.join("; ")}.`;
}

/**
 * The same with the place of each pair.
 *
 * @param {Searched} shown
 * @returns {(Node | string)[]}
 */
export function pairsPlaced(shown) {
  const { pairs, aside } = strongestOf(shown);
  const { rows, columns } = shown;
  if (!pairs.length) return [`Strongest pairs${aside}: none.`];
  const named = pairs.flatMap(({ query, key, weight }, i) => {
    const number = numbered(weight, "pair", 3);
    const names = [rows[query], columns[key]].map((label) => html("bdi", null, label));
    const place = { "data-pair": `${query}-${key}` };
    const pair = html("span", place, names[0], " attends to ", names[1], " ", number);
    return i ? ["; ", pair] : [pair];
  });
  return [`Strongest pairs${aside}: `, ...named, "."];
}

/**
 * The strongest pairs, and what was passed over to find them.
 *
 * @param {Searched} shown
 */
function strongestOf(shown) {
  const { kind, values, hidden, blank } = shown;
  const visible = matrix(
    values.rows,
    values.columns,
    values.values.map((x, i) => (hidden[i] || blank?.[i] ? 0 : x)),
  );
  const pairs = strongestPairs(visible, WEIGHT_PAIRS, kind);
  const isPart = kind === "self" && pairs.every(({ query, key }) => isInformative(query, key));
  const aside = blank?.some(Boolean) ? FIRST_ASIDE : "";
  return { pairs, aside: isPart && pairs.length ? ASIDE : aside };
}

/** What is passed over in self-attention where something else is left. */
export const ASIDE = " (first token and self left out)";
export const FIRST_ASIDE = " (first token left out)";

const FIRST_HIDDEN =
  "Hatched: the first token, hidden by choice. Its weights are what they are: they count in sums, entropy, differences and what is saved.";

/**
 * What is said after other words where a person has hidden the first token.
 *
 * @param {{blank?: Numbers}} shown
 */
export function hiddenInWords({ blank }) {
  return blank?.some(Boolean) ? ` ${FIRST_HIDDEN}` : "";
}

/**
 * Why a query must not attend to a key, as the mask that ran has it: a causal one leaves out what comes
 * later, a window what is too far away, and to padding nothing attends.
 *
 * @param {(at: number) => unknown} isHidden
 * @param {number} row
 * @param {number} column
 * @param {{rows: number, columns: number}} size
 */
export function whyHidden(isHidden, row, column, { rows, columns }) {
  /** @type {(query: number, key: number) => boolean} */
  const hides = (query, key) => Boolean(isHidden(query * columns + key));
  const queries = upTo(rows);
  if (queries.every((query) => hides(query, column)))
    return "no word may attend to this one, as to padding";
  if (rows !== columns) return MASKED;
  const isAhead = column > row;
  const [before, behind] = [queries.slice(0, column), queries.slice(row + 1)];
  const isLater = before.every((query) => hides(query, column));
  if (isAhead && (isLater || behind.every((key) => hides(row, key))))
    return "this word comes later";
  return isBeyond(hides, row, column, rows)
    ? `this word is too far ${isAhead ? "ahead" : "back"}`
    : MASKED;
}

const MASKED = "hidden by the mask";

/**
 * Whether a mask hides all that is as far away, but for first keys that all later queries see.
 *
 * @param {(query: number, key: number) => boolean} hides
 * @param {number} row
 * @param {number} column
 * @param {number} n
 */
function isBeyond(hides, row, column, n) {
  const first = upTo(n).find((key) => upTo(n).some((query) => query > key && hides(query, key)));
  const way = column - row;
  return upTo(n).every((query) => {
    const key = query + way;
    return key < 0 || key >= n || (way < 0 && key < (first ?? n)) || hides(query, key);
  });
}

/** @param {number} n */
function upTo(n) {
  return Array.from({ length: n }, (_, i) => i);
}

/**
 * The weight of a cell as it is said; of a masked one why it is.
 *
 * @param {Pick<Shown, "values" | "hidden">} shown
 * @param {number} row
 * @param {number} column
 */
export function weightAt({ values, hidden }, row, column) {
  const at = row * values.columns + column;
  if (!hidden[at]) return digits(values.values[at]);
  return `masked: ${whyHidden((i) => hidden[i], row, column, values)}`;
}

/**
 * Make a map a thing to move in with the keyboard.
 *
 * @param {HTMLElement} host
 * @param {string} label
 */
export function focusable(host, label) {
  host.tabIndex = 0;
  host.setAttribute("role", "application");
  host.setAttribute("aria-roledescription", "heat map");
  host.setAttribute("aria-label", label);
}

/**
 * Make a map a picture with a text alternative.
 *
 * @param {HTMLElement} host
 * @param {string} label
 */
export function pictured(host, label) {
  host.setAttribute("role", "img");
  host.setAttribute("aria-label", label);
}

/**
 * A label no longer than a column.
 *
 * @param {string} label
 */
export function clipped(label) {
  const letters = label.match(/\P{M}\p{M}*/gu) ?? []; // marks stay with their letters
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : label;
}

/**
 * A matrix to save, with labels as text; columns without names are numbered.
 *
 * @typedef {object} Table
 * @property {Matrix} values
 * @property {string[]} rows
 * @property {string[] | null} columns
 * @property {string} corner
 */

/**
 * A shown pattern as a table to save.
 *
 * @param {Pick<Shown, "values" | "rows" | "columns">} shown
 * @returns {Table}
 */
export function patternTable({ values, rows, columns }) {
  return { values, rows, columns, corner: "query \\ key" };
}
