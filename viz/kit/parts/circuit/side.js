// Beside the picture: what was chosen, the strongest ways in words, and all edges.

import { digits, html, signed, wordsIn } from "../../dom.js";
import { HeatMap } from "../../marks/heatmap.js";
import { TokenBars } from "../../marks/bars.js";
import { WEIGHTS, axesOf, pictured } from "../../patterns.js";
import { byEffect, node } from "./graph.js";
import { KINDS, edgeName, partName, placeName, tokenName, wayName } from "./words.js";

/** @import { Circuit, DrawnEdge } from "../circuit.js" */
/** @import { Node } from "./graph.js" */

const HEIGHT = 300; // of the map, at most
const LISTED = 6; // edges of a part, read and written each

/**
 * A row of a list: a number and words, to be chosen.
 *
 * @param {number} value
 * @param {string} words
 * @param {{isExact?: boolean, isChosen: boolean, pick: () => void}} how
 */
function row(value, words, { isExact = true, isChosen, pick }) {
  const said = `${isExact ? "" : "≈ "}${signed(value, 2)}`;
  const pressed = { "aria-pressed": String(isChosen) };
  const given = { type: "button", class: "hl-item", onclick: pick, ...pressed };
  return html("li", null, html("button", given, html("b", null, said), html("span", null, words)));
}

/**
 * The rows of a list as they stand there.
 *
 * @param {Element} list
 */
export function readRows(list) {
  return Array.from(list.querySelectorAll("li button"), (one) => {
    const [number, words] = Array.from(one.children, ({ textContent }) => textContent);
    return { number, words, isChosen: one.ariaPressed === "true" };
  });
}

/**
 * @param {Circuit} scope
 * @param {DrawnEdge[]} edges
 */
export function edgeList(scope, edges) {
  return html(
    "ol",
    { class: "hl-edges", tabindex: "0", "aria-label": "Edges, the strongest first" },
    edges.map((edge) => {
      const isChosen = edge.id === scope.settings.edge;
      const pick = () => scope.pick(edge.id);
      return row(edge.effect, edgeName(scope.data, edge.at), { ...edge, isChosen, pick });
    }),
  );
}

/**
 * @param {Circuit} scope
 * @param {DrawnEdge[][]} ways
 */
export function wayList(scope, ways) {
  if (!ways.length) return html("p", { class: "hl-caption" }, noWay(scope));
  return html(
    "ol",
    { class: "hl-edge-ways" },
    ways.map((way, i) => {
      const weakest = [...way].sort(byEffect).at(-1) ?? way[0];
      const words = wayName(
        scope.data,
        way.map(({ at }) => at),
      );
      const how = { isExact: weakest.isExact, isChosen: scope.way === i };
      return row(weakest.effect, words, { ...how, pick: () => scope.follow(i) });
    }),
  );
}

/**
 * Why there is no way: edges are still looked for, or more of them can be taken, or there are none.
 *
 * @param {Circuit} scope
 */
function noWay({ data, isPruned, k }) {
  if (!data.curve.sizes.length) return "They come once the edges of all layers are exact.";
  const isLess = !isPruned && k < data.strongest.edges.length;
  return `No way from a word to the answer is whole among these edges${isLess ? ": take more of them" : ""}.`;
}

/**
 * What a part reads and what it writes.
 *
 * @param {Circuit} scope
 * @param {Node} one
 * @param {{reads: DrawnEdge[], writes: DrawnEdge[]}} edges
 */
export function partWords(scope, one, { reads, writes }) {
  const list = (/** @type {string} */ title, /** @type {DrawnEdge[]} */ some) =>
    some.length ? [html("h4", null, title), edgeList(scope, some.slice(0, LISTED))] : [];
  return [
    html("h3", null, placeName(scope.data, one)),
    ...list("It reads", reads),
    ...list(one.kind === "answer" ? "" : "It writes", writes),
  ];
}

/**
 * A part, what each of its lists is of, and their rows.
 *
 * @param {Element} section with its words
 */
export function readPart(section) {
  const [title, ...lists] = Array.from(
    section.querySelectorAll("h3, h4"),
    (one) => one.textContent,
  );
  return { title, lists, edges: readRows(section) };
}

/** A chosen edge: its effect, the head's map with that cell, and what is likely without it. */
export class EdgePanel {
  /** @param {Circuit} scope */
  constructor(scope) {
    this.scope = scope;
    this.title = html("h3");
    this.says = html("p");
    this.map = html("div", { class: "hl-map" });
    this.mapTitle = html("p", { class: "hl-caption" });
    this.cut = html("p", { class: "hl-caption" });
    this.bars = new TokenBars();
    this.heatMap = new HeatMap(this.map, scope.lifetime, { most: HEIGHT });
    const parts = [this.title, this.says, this.cut, this.bars.node, this.mapTitle, this.map];
    this.node = html("div", { class: "hl-edge-panel" }, parts);
  }

  /** @param {DrawnEdge} edge */
  show(edge) {
    const { data } = this.scope;
    this.title.textContent = edgeName(data, edge.at);
    const [lost, of] = [edge.effect, data.of_first];
    const what = data.against ? "the logit difference" : "the logit";
    const falls = `${lost < 0 ? "rises" : "falls"} by ${digits(Math.abs(lost), 3)}`;
    this.says.textContent = edge.isExact
      ? `Without it ${what} ${falls}, from ${digits(of, 3)} to ${digits(of - lost, 3)}.`
      : `Estimated: ${what} ${falls} without it. Its own run has not been made yet.`;
    this.#showCut(edge);
    this.scope.lifetime.busy(this.#showMap(edge));
  }

  read() {
    const { title, says, cut, mapTitle, bars, heatMap } = this;
    const words = wordsIn({ title, says, cut, mapTitle });
    return { ...words, bars: bars.read(), map: words.mapTitle && heatMap.read() };
  }

  /** @param {DrawnEdge} edge */
  #showCut({ cut }) {
    this.cut.hidden = !cut;
    this.bars.node.hidden = !cut;
    if (!cut) return;
    this.cut.textContent = "Next token: above as it ran, below with this edge removed.";
    const most = Math.max(...cut.flatMap(([, before, after]) => [before, after]));
    const rows = cut.map(([label, before, after]) => {
      const number = `${digits(before, 3)} → ${digits(after, 3)}`;
      return { label, before, after, number };
    });
    this.bars.show(rows, "Probability with the edge and without it", most);
  }

  /** @param {DrawnEdge} edge */
  async #showMap({ id, at: [layer, kind, head, query, key] }) {
    const { scope } = this;
    const { data, palette } = scope;
    const i = data.heads.findIndex(([l, h]) => kind < KINDS.length && l === layer && h === head);
    this.map.hidden = i < 0;
    this.mapTitle.hidden = i < 0;
    if (i < 0) return;
    const [pattern, mask] = await Promise.all(
      ["patterns", "masks"].map((name) => scope.model.load(name, i)),
    );
    if (scope.settings.edge !== id || scope.lifetime.isOver) return;
    const n = data.labels.length;
    const values = { rows: n, columns: n, values: pattern.values };
    const weight = pattern.values[query * n + key];
    const cell = `${tokenName(data, query)} attends to ${tokenName(data, key)} by ${digits(weight, 3)}`;
    const name = partName(node("head", layer, head, query));
    const isOne = kind > 0; // q is of a whole row
    this.mapTitle.textContent = isOne
      ? `${name}: ${cell}.`
      : `${name}: the row of ${tokenName(data, query)} follows q.`;
    pictured(this.map, this.mapTitle.textContent);
    const hidden = Uint8Array.from(mask.values, (may) => 1 - may);
    const labels = axesOf(data, data);
    const titles = { rowTitle: "query", columnTitle: "key" };
    await this.heatMap.draw({ values, ...labels, ...titles, scale: WEIGHTS, hidden }, palette);
    this.heatMap.mark(query, key, true);
  }
}
