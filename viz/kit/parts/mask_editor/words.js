// What the mask editor says of edits and of rows without a key, with labels as text.

import { digits, html } from "../../dom.js";

/** @import { Cell } from "../../keyboard.js" */
/** @import { Stream } from "../../wire.js" */

export const RUNNING = "the model is running …";
const NAMED = 3; // edits and rows named before the rest is counted

/** Words and labels, in order. @typedef {(string | Node)[]} Words */

/**
 * A label in quotes.
 *
 * @param {Stream} stream
 * @param {number} i
 * @returns {Words}
 */
export function quoted(stream, i) {
  return ["“", html("bdi", null, stream.labels[i]), "”"];
}

/**
 * Which cells differ from the mask as it was.
 *
 * @param {Stream} stream
 * @param {Uint8Array} mask as edited
 * @param {Set<number>} edits
 * @returns {Words}
 */
export function editsInWords(stream, mask, edits) {
  if (!edits.size)
    return [
      "No cell changed. Click or tap a cell to mask it or to show it again; press and move to paint.",
    ];
  const columns = stream.labels.length;
  const places = [...edits].sort((a, b) => a - b);
  const named = places.slice(0, NAMED).flatMap((i, nth) => {
    const verb = mask[i] ? " now attends to " : " no longer attends to ";
    const [query, key] = [Math.floor(i / columns), i % columns];
    return [nth ? "; " : "", ...quoted(stream, query), verb, ...quoted(stream, key)];
  });
  const n = places.length;
  const rest = n > NAMED ? `; and ${n - NAMED} more.` : ".";
  return [`${n} ${n === 1 ? "cell" : "cells"} changed: `, ...named, rest];
}

/**
 * Which rows may attend to nothing.
 *
 * @param {Stream} stream
 * @param {number[]} rows
 * @returns {Words}
 */
export function emptyRowsInWords(stream, rows) {
  /** @type {Words} */
  const named = rows
    .slice(0, NAMED)
    .map((row) =>
      html("span", null, quoted(stream, row), " may attend to nothing: its row is zero. "),
    );
  const rest = rows.length - NAMED;
  if (rest > 0) named.push(`So ${rest === 1 ? "is 1 more row" : `are ${rest} more rows`}.`);
  return named;
}

/**
 * What is in a cell: its weight, or that the key is hidden.
 *
 * @param {Stream} stream
 * @param {Cell} cell
 * @param {{isHidden: boolean, isEdited: boolean, weight: number | undefined}} what there is no weight
 *   before the model has answered
 * @returns {Words}
 */
export function cellInWords(stream, cell, what) {
  const [query, key] = cell.map((token) => quoted(stream, token));
  const edited = what.isEdited ? " (edited)" : "";
  if (what.isHidden) return [...key, " is hidden from ", ...query, edited];
  const pair = [...query, " attends to ", ...key];
  if (what.weight === undefined) return [...pair, `: ${RUNNING}`, edited];
  const number = { "data-number": "weight" };
  return [...pair, ": ", html("b", number, digits(what.weight)), edited];
}
