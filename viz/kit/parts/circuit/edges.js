// The numbers of a circuit, from the arrays that Python gives.

import { rowsOf } from "../../arrays.js";
import { edgeText } from "./graph.js";

/** @import { Decoded } from "../../arrays.js" */
/** @import { CircuitData, DrawnEdge } from "../circuit.js" */
/** @import { Address } from "./graph.js" */

/**
 * What Python says of edges; their numbers are arrays. `cuts` are tokens that are likely with or
 * without each; see circuit.py.
 *
 * @typedef {{n: number, cuts: (string[] | null)[]}} EdgesAbout
 */

/**
 * An edge is on a whole way `from` so many edges on.
 *
 * @typedef {Omit<DrawnEdge, "isWhole"> & {from: number}} SentEdge
 */

const OF_EDGES = ["strongest_edges", "strongest_cuts", "pruned_edges", "pruned_cuts"];
export const NEEDS = ["heads", "curve", ...OF_EDGES];

/**
 * What Python says, with the numbers of its arrays.
 *
 * @param {Record<string, any>} told
 * @param {Record<string, Decoded>} arrays
 * @returns {CircuitData}
 */
export function dataOf(told, { heads, curve, ...of }) {
  const points = rowsOf(curve);
  return /** @type {any} */ ({
    ...told,
    heads: rowsOf(heads),
    curve: { sizes: points.map(([size]) => size), shares: points.map(([, share]) => share) },
    strongest: edgesOf(told.strongest, of.strongest_edges, of.strongest_cuts),
    pruned: told.pruned && edgesOf(told.pruned, of.pruned_edges, of.pruned_cuts),
  });
}

/**
 * Edges with their numbers: place, effect, whether that is exact, from where on it is whole, in each
 * row of a table; of their tokens, edge after edge, how likely each is with it and without.
 *
 * @template {EdgesAbout} About
 * @param {About} about
 * @param {Decoded} table
 * @param {Decoded} chances
 */
function edgesOf({ cuts, ...about }, table, chances) {
  const pairs = rowsOf(chances);
  /** @type {SentEdge[]} */
  const edges = rowsOf(table).map((row, i) => {
    const at = /** @type {Address} */ (row.slice(0, -3));
    const [effect, isExact, from] = row.slice(-3);
    const own = pairs.splice(0, cuts[i]?.length ?? 0);
    /** @type {DrawnEdge["cut"]} */
    const cut = cuts[i]?.map((label, j) => [label, own[j][0], own[j][1]]) ?? null;
    return { at, id: edgeText(at), effect, isExact: isExact === 1, from, cut };
  });
  return { ...about, edges };
}
