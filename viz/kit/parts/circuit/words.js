// Parts, edges and ways in words.

import { html, numbered } from "../../dom.js";
import { Tokens } from "../../marks/tokens.js";
import { readerOf, writerOf } from "./graph.js";
import { headName } from "../../names.js";

/** @import { Address, Node } from "./graph.js" */
/** @import { Circuit, CircuitData } from "../circuit.js" */

export const KINDS = ["q", "k", "v"];

/**
 * What is asked for: she rather than he.
 *
 * @param {CircuitData} data
 * @param {(word: string) => string} [shown] where there is little room
 */
export function answerName({ answer, against }, shown = (word) => word) {
  const words = [answer, against].filter(Boolean).map((word) => shown(word.trim()));
  return words.join(" rather than ");
}

/**
 * A token as it is told: where its text stands more than once, with its place.
 *
 * @param {CircuitData} data
 * @param {number} token
 */
export function tokenName({ labels }, token) {
  const isOne = labels.indexOf(labels[token]) === labels.lastIndexOf(labels[token]);
  return isOne ? `“${labels[token]}”` : `“${labels[token]}” (${token})`;
}

/**
 * What a part is called, without its token.
 *
 * @param {Node} part
 */
export function partName({ kind, layer, last, layers, head }) {
  if (kind === "head") return headName(layer, head);
  const isSpan = layers.length > 1 && layers.length > last - layer;
  return kind === "MLP" ? `MLP ${isSpan ? `${layer}–${last}` : layers.join(", ")}` : kind;
}

/**
 * A part at its token: a word is called by itself.
 *
 * @param {CircuitData} data
 * @param {Node} part
 */
export function placeName(data, part) {
  if (part.kind === "answer") return "answer";
  const token = tokenName(data, part.token);
  return part.kind === "embedding" ? token : `${partName(part)} at ${token}`;
}

/**
 * Who reads an edge, and as what.
 *
 * @param {CircuitData} data
 * @param {Address} at
 */
export function readerName(data, at) {
  const name = placeName(data, readerOf(at));
  return at[1] < KINDS.length ? `${KINDS[at[1]]} of ${name}` : name;
}

/**
 * An edge: who writes, who reads.
 *
 * @param {CircuitData} data
 * @param {Address} at
 */
export function edgeName(data, at) {
  return `${placeName(data, writerOf(at, data))} → ${readerName(data, at)}`;
}

/**
 * A way from a word to the answer; the token of a part is told where it is another than before.
 *
 * @param {CircuitData} data
 * @param {Address[]} way
 */
export function wayName(data, way) {
  let token = writerOf(way[0], data).token;
  const said = [placeName(data, writerOf(way[0], data))];
  for (const at of way) {
    const reader = readerOf(at);
    const as = at[1] < KINDS.length ? `${KINDS[at[1]]} of ` : "";
    const isThere = reader.token === token || reader.kind === "answer";
    said.push(`${as}${isThere ? partName(reader) : placeName(data, reader)}`);
    token = reader.token;
  }
  return said.join(" → ");
}

/**
 * What edges keep of the difference between both texts.
 *
 * @param {Circuit} circuit
 * @param {number} n how many there are; the strongest of them are drawn
 * @param {number | null | undefined} share not known yet
 */
export function keptWords({ data, edges }, n, share) {
  const whole = edges.filter(({ isWhole }) => isWhole).length;
  const all = `${n.toLocaleString("en")} of ${data.n_all.toLocaleString("en")} edges`;
  const some = edges.length < n ? "these" : "them";
  const lie = whole ? `${whole} of ${some} lie` : `None of ${some} lies`;
  const drawn = edges.length < n ? ` The ${edges.length} strongest are drawn.` : "";
  const loose = whole < edges.length ? ` ${lie} on a whole way from a word to the answer.` : "";
  if (share === null || share === undefined) return [`${all}.${drawn}`];
  return [
    `${all}, alone, keep${n === 1 ? "s" : ""} `,
    html("b", null, "F = ", numbered(share, "share", 2)),
    ` of the difference between both texts (1: all of it).${drawn}${loose}`,
  ];
}

/**
 * Both texts above one another; where they differ, tokens are marked.
 *
 * @param {CircuitData} data
 */
export function textsOf({ tokens: [own, other] }) {
  /** @type {(name: string, tokens: string[]) => Element} */
  const line = (name, tokens) => {
    const row = new Tokens("hl-told", name);
    row.show(tokens.map((label, i) => ({ label, is: { marked: own[i] !== other[i] } })));
    return html("div", null, html("span", { class: "hl-caption" }, name), row.node);
  };
  return [line("This text", own), line("The other", other)];
}
