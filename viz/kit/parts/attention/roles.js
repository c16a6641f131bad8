// What heads do on this input, in words: for the chip on a small map, for the line above the large
// one, and for those who do not see them.

import { digits, html, svg, numbered } from "../../dom.js";
import { isInformative } from "../../measures.js";
import { ASIDE } from "../../patterns.js";

/** @import { Group, Run } from "../../run.js" */

// Pixels above a tile that a word has, to the line it stands on, and of a tile that has room for the
// word, and for its number besides.
const CHIP = { strip: 14, base: 10, fromTile: 34, withNumber: 72 };
const MOST_NAMED = 3; // heads and pairs named in the text alternative

/**
 * How a role is put: on a small map, in a list, in a sentence, and after its number.
 *
 * @typedef {{name: string, chip: string, text: string, says: string, of: string}} RoleWords
 */

/** @typedef {{run: Run, roles: RoleWords[]}} Told what is said of heads hangs on */
/** @typedef {{words: RoleWords, value: number, n_queries: number}} Role */

/**
 * What a head does most on this input, or null where it does no one thing.
 *
 * @param {Told} told
 * @param {Group} group
 * @param {number} layer
 * @param {number} head
 * @returns {Role | null}
 */
function roleOf({ roles }, group, layer, head) {
  const role = group.roles[layer][head];
  const words = role && roles.find(({ name }) => name === role[0]);
  return words ? { words, value: role[1], n_queries: role[2] } : null;
}

/**
 * The strongest pair of a head, and what was passed over to find it.
 *
 * @param {Told} told
 * @param {Group} group
 * @param {number} layer
 * @param {number} head
 */
function strongestPair({ run }, group, layer, head) {
  const { kind, strongest } = group;
  const { queries, keys } = run.between(group);
  const [query, key, weight] = strongest[layer][head];
  return {
    query: queries.labels[query],
    key: keys.labels[key],
    weight: weight ?? NaN,
    aside: kind === "self" && isInformative(query, key) ? ASIDE : "",
  };
}

/**
 * A sentence on what a head does: its role with the number behind it, else its strongest pair.
 *
 * @param {Told} told
 * @param {Group} group
 * @param {number} layer
 * @param {number} head
 * @returns {(Node | string)[]}
 */
export function inWords(told, group, layer, head) {
  const role = roleOf(told, group, layer, head);
  if (role) {
    const { words, value, n_queries } = role;
    const mean = numbered(value, "role", 2);
    const over = numbered(n_queries, "queries", 0);
    const queries = n_queries === 1 ? " query." : " queries.";
    return [`${words.says}, `, mean, `${words.of} on average over `, over, queries];
  }
  if (told.run.between(group).keys.labels.length < 2)
    return ["there is one token alone to attend to."];
  const { query, key, weight, aside } = strongestPair(told, group, layer, head);
  const [row, column] = group.strongest[layer][head];
  const names = [html("bdi", null, query), " → ", html("bdi", null, key)];
  const number = numbered(weight, "pair", 2);
  const pair = html("span", { "data-pair": `${row}-${column}` }, names, ", ", number);
  return ["no single role; its strongest pair is ", pair, `${aside}.`];
}

/**
 * What is said of a head in the overview: its role with the number behind it, and its strongest pair.
 *
 * @param {Told} told
 * @param {Group} group
 * @param {number} layer
 * @param {number} head
 */
export function says(told, group, layer, head) {
  const role = roleOf(told, group, layer, head);
  const does = role ? ` · ${role.words.text} ${digits(role.value, 2)}` : "";
  const { query, key, weight, aside } = strongestPair(told, group, layer, head);
  const pair = `strongest: ${query} → ${key} ${digits(weight, 3)}${aside}`;
  return `${told.run.nameOf(group, layer, head)}${does} · ${pair}`;
}

/**
 * All heads of a group, layer by layer.
 *
 * @param {Group} group
 */
export function headsOf({ n_layers, n_heads }) {
  return Array.from({ length: n_layers * n_heads }, (_, i) => ({
    layer: Math.floor(i / n_heads),
    head: i % n_heads,
  }));
}

/**
 * How many heads have each role, and the clearest of them.
 *
 * @param {Told} told
 * @param {Group} group
 */
export function rolesInWords(told, group) {
  const known = headsOf(group).flatMap(({ layer, head }) => {
    const role = roleOf(told, group, layer, head);
    return role ? [{ ...role, name: told.run.nameOf(group, layer, head) }] : [];
  });
  const parts = told.roles.flatMap(({ name, text }) => {
    const mine = known.filter(({ words }) => words.name === name);
    const top = mine.sort((a, b) => b.value - a.value).slice(0, MOST_NAMED);
    const heads = top.map((one) => `${one.name} ${digits(one.value, 2)}`).join(", ");
    return mine.length ? [`${text}: ${mine.length}, such as ${heads}. `] : [];
  });
  return parts.length ? `What heads do most on this ${told.run.given}: ${parts.join("")}` : "";
}

/**
 * The heads with the largest weights, and what they do.
 *
 * @param {Told} told
 * @param {Group} group
 */
export function pairsInWords(told, group) {
  /** @type {(place: {layer: number, head: number}) => number} */
  const weight = ({ layer, head }) => group.strongest[layer][head][2] ?? 0;
  const top = headsOf(group).sort((a, b) => weight(b) - weight(a));
  const named = top.slice(0, MOST_NAMED).map(({ layer, head }) => says(told, group, layer, head));
  return `Strongest pairs: ${named.join("; ")}.`;
}

/**
 * Pixels above each tile that the word of its head has: none where tiles are too small to read it.
 *
 * @param {{x: number, y: number}} pitch pixels from one tile to the next, without that room
 */
export const stripOf = (pitch) => (Math.min(pitch.x, pitch.y) < CHIP.fromTile ? 0 : CHIP.strip);

/**
 * What heads do, as a word above their tiles.
 *
 * @param {Told} told
 * @param {Group} group
 * @param {{x: number, y: number}} pitch pixels from one tile to the next
 * @param {{x: number, y: number}} corner upper left of the first tile and its word
 */
export function chips(told, group, pitch, corner) {
  return headsOf(group).flatMap(({ layer, head }) => {
    const role = roleOf(told, group, layer, head);
    if (!role) return [];
    const number = pitch.x < CHIP.withNumber ? "" : digits(role.value, 2);
    const children = number
      ? [`${role.words.chip} `, svg("tspan", { "data-number": "role" }, number)]
      : [role.words.chip];
    const place = { x: corner.x + head * pitch.x, y: corner.y + layer * pitch.y + CHIP.base };
    return svg("text", { class: "hl-chip", ...place }, children);
  });
}
