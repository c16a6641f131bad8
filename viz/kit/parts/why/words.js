// What words, parts and writers are called, as a person reads them.

import { html } from "../../dom.js";
import { tenths } from "../../marks/signed.js";

/** @import { Child } from "../../dom.js" */
/** @import { Side, WhyData, Wrote } from "../why.js" */

const HELD =
  "Norms, weights of earlier heads and gates of neurons are held as they were in this run. " +
  "Orange raises the score, blue lowers it.";

/**
 * A token by its label, with its number where there are several such.
 *
 * @param {string[]} labels
 * @param {number} at
 * @returns {[label: string, number: string]}
 */
export function tokenName(labels, at) {
  const isOne = labels.indexOf(labels[at]) === labels.lastIndexOf(labels[at]);
  return [labels[at], isOne ? "" : ` (${at})`];
}

/**
 * The same in quotes; a label keeps to its own direction of writing.
 *
 * @param {string[]} labels
 * @param {number} at
 * @returns {Child[]}
 */
export function quoted(labels, at) {
  const [label, number] = tokenName(labels, at);
  return ["“", html("bdi", null, label), `”${number}`];
}

/**
 * Who wrote: a head or an MLP by its name, and what the token itself is by words.
 *
 * @param {Wrote} one
 */
export function writerName({ name, kind }) {
  return kind === "token" ? "own embedding" : name;
}

/** The setting by which a part of a side is taken away. @type {(side: Side, part: number) => string} */
export const takes = (side, part) => (side === "query" ? `words:${part}.` : `words:.${part}`);

/**
 * What all figures add up to, and what holds of their numbers.
 *
 * @param {WhyData} data
 * @param {number} score
 * @param {number | null} other
 * @param {number} bias of the score, which is of no word; 0 where no words are shown
 * @returns {Child[]}
 */
export function scoreWords({ labels, softcap }, score, other, bias) {
  const less =
    other === null
      ? ["the mean of the row"]
      : ["that of ", ...quoted(labels.key, other), softcap === null ? ": log p/p′" : ""];
  const lacks = bias ? `The map of words lacks the bias of the scores, ${tenths(bias)}. ` : "";
  return [
    "All numbers are parts of the score before the softmax. ",
    `Each figure adds up to ${tenths(score)}, the score less `,
    ...less,
    `. ${lacks}${HELD}`,
  ];
}

/**
 * The kind that counts most: the largest, or the smallest where the score is below what it is told
 * against.
 *
 * @param {number[]} ofKinds
 */
export function countsMost(ofKinds) {
  const most = ofKinds.reduce((a, b) => a + b) > 0 ? Math.max : Math.min;
  return ofKinds.indexOf(most(...ofKinds));
}

/**
 * What makes a score higher or lower than another key’s, or than the mean, in a sentence.
 *
 * @param {WhyData} data
 * @param {number[]} ofKinds what each kind gives, which adds up to the score
 * @param {number | null} other
 * @returns {Child[]}
 */
export function comparedWith({ labels, kinds }, ofKinds, other) {
  const [score, most] = [ofKinds.reduce((a, b) => a + b), countsMost(ofKinds)];
  const { says } = kinds[most];
  if (tenths(score) === "0") return ["Nothing sets its score apart."];
  return [
    `Its score is ${score > 0 ? "higher" : "lower"} than `,
    ...(other === null
      ? ["the mean of the keys it may attend to"]
      : ["that of ", ...quoted(labels.key, other)]),
    `, by ${Math.abs(score).toFixed(1)}; what ${score > 0 ? "raises" : "lowers"} it most is ${says} (${tenths(ofKinds[most])}).`,
  ];
}

/**
 * A part of a side, in a sentence.
 *
 * @param {WhyData} data
 * @param {Side} side
 * @param {number} number
 */
function partOf({ words, labels }, side, number) {
  const { token, kind, name } = words[side][number];
  if (token !== null) return quoted(labels[side], token);
  return [kind === "position" ? "the position" : name];
}

/**
 * What a setting takes away, in words.
 *
 * @param {WhyData} data
 * @param {string} setting
 * @returns {Child[]}
 */
export function takenWords(data, setting) {
  const [of, what] = setting.split(":");
  if (of === "kind") return [data.kinds.find(({ name }) => name === what)?.says];
  if (of === "query" || of === "key") {
    const one = data.writers[of][Number(what)];
    if (one.kind === "token") return [`the ${of}’s own embedding`];
    if (one.kind === "position") return [`the ${of}’s position`];
    return [`what ${one.name} wrote at the ${of}`];
  }
  const [a, b] = what.split(".");
  if (a && b) return [...partOf(data, "query", +a), " × ", ...partOf(data, "key", +b)];
  return a
    ? [...partOf(data, "query", +a), " in the query"]
    : [...partOf(data, "key", +b), " in the key"];
}
