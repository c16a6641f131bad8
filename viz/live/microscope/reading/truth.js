// What must be on screen of a head, from the independent run and made ready for the options of a view.
// Nothing here is used to draw.

import { independent, independentTexts } from "../../core/independent.js";

/** @import { Matrix, Numbers } from "../../core/maths.js" */
/** @import { Between } from "../../core/patterns.js" */
/** @import { Microscope } from "../microscope.js" */

/** What a token stands for; null where nobody could say. @typedef {string | null} Text */

/**
 * A map as it must be: weights row by row, where attention is allowed, and what its tokens or words
 * stand for.
 *
 * @typedef {object} Truth
 * @property {string} address of the weights
 * @property {number[][]} weights
 * @property {boolean[][]} open
 * @property {Text[]} rows
 * @property {Text[]} columns
 */

/**
 * The layer and the head that a title names, and where its attention is.
 *
 * @param {Microscope} scope
 * @param {string} title
 */
export function placeIn({ group }, title) {
  const named = /L(\d+) H(\d+)$/.exec(title);
  if (!named) return null;
  const [layer, head] = [Number(named[1]), Number(named[2])];
  return { layer, head, site: group.sites[layer] };
}

/**
 * Rows of a matrix.
 *
 * @param {Matrix} m
 */
export function rowsOf({ rows, columns, values }) {
  return Array.from({ length: rows }, (_, i) =>
    Array.from(values.subarray(i * columns, (i + 1) * columns)),
  );
}

/**
 * A map by its addresses.
 *
 * @param {Microscope} scope
 * @param {object} of
 * @param {string} [of.run] the key of the run, by default that of the page
 * @param {string} of.address of the weights
 * @param {string} of.mask
 * @param {Between} [of.between]
 * @param {boolean} [of.isInWords]
 * @returns {Promise<Truth>}
 */
export async function truthOf(scope, { run, address, mask, between, isInWords }) {
  const key = run ?? scope.data.key;
  const streams = between ?? scope.between;
  const [weights, open] = await Promise.all([address, mask].map((name) => independent(key, name)));
  const texts = await textsOf(scope, key);
  const truth = {
    address,
    weights: rowsOf(weights),
    open: rowsOf(open).map((row) => row.map(Boolean)),
    ...texts,
  };
  const [ofRows, ofColumns] = [streams.queries.words, streams.keys.words];
  return isInWords && ofRows && ofColumns ? inWords(truth, ofRows, ofColumns) : truth;
}

/**
 * The head that a title names.
 *
 * @param {Microscope} scope
 * @param {{title: string, run?: string, between?: Between, isInWords?: boolean}} of
 */
export async function truthOfHead(scope, { title, ...of }) {
  const place = placeIn(scope, title);
  if (!place) return null;
  const { site, head } = place;
  return truthOf(scope, {
    ...{ address: `${site}.pattern[${head}]`, mask: `${site}.mask[${head}]` },
    ...of,
  });
}

/**
 * What rows and columns stand for.
 *
 * @param {Pick<Microscope, "data" | "group">} scope
 * @param {string} key of the run
 * @returns {Promise<{rows: Text[], columns: Text[]}>}
 */
export async function textsOf({ data, group }, key) {
  const names = Object.keys(data.streams);
  /** @param {string} name */
  const of = (name) => independentTexts(key, name === names[names.length - 1] ? "last" : "first");
  return { rows: await of(group.queries), columns: await of(group.keys) };
}

/**
 * Weights to the pieces of a word summed, those from them averaged.
 *
 * @param {Truth} truth
 * @param {number[]} ofRows the word of each query
 * @param {number[]} ofColumns the word of each key
 * @returns {Truth}
 */
function inWords({ address, weights, open, rows, columns }, ofRows, ofColumns) {
  const [pieces, parts] = [membersOf(ofRows), membersOf(ofColumns)];
  /** @type {(i: number, j: number) => number} */
  const weight = (i, j) => {
    let sum = 0;
    for (const row of pieces[i]) for (const column of parts[j]) sum += weights[row][column];
    return sum / pieces[i].length;
  };
  return {
    address,
    weights: pieces.map((_, i) => parts.map((__, j) => weight(i, j))),
    open: pieces.map((mine) => parts.map((its) => mine.some((i) => its.some((j) => open[i][j])))),
    rows: pieces.map((mine) => joined(mine, rows)),
    columns: parts.map((its) => joined(its, columns)),
  };
}

/** @param {number[]} groups of each token, in order */
function membersOf(groups) {
  /** @type {number[][]} */
  const members = [];
  groups.forEach((group, i) => (members[group] ??= []).push(i));
  return members;
}

/**
 * @param {number[]} members
 * @param {Text[]} texts
 */
function joined(members, texts) {
  const parts = members.map((i) => texts[i]);
  return parts.every((text) => text !== null) ? parts.join("") : null;
}

/**
 * Softmax of scores, where attention is allowed.
 *
 * @param {number[][]} scores
 * @param {boolean[][]} open
 */
export function softmaxOf(scores, open) {
  return scores.map((row, i) => {
    const top = row.reduce((most, x, j) => (open[i][j] && x > most ? x : most), -Infinity);
    const powers = row.map((x, j) => (open[i][j] ? Math.exp(x - top) : 0));
    const total = powers.reduce((sum, x) => sum + x, 0);
    return total ? powers.map((x) => x / total) : powers;
  });
}

/**
 * Entropy of a row in bits.
 *
 * @param {number[]} row
 */
export function bitsOf(row) {
  return -row.reduce((sum, p) => (p > 0 ? sum + p * Math.log2(p) : sum), 0);
}

/** @param {Numbers | number[]} values */
export function meanOf(values) {
  const all = Array.from(values);
  return all.reduce((sum, x) => sum + x, 0) / all.length;
}
