// Marks over the map: every edited cell has one; a cell the model has not answered yet is covered.

import { svg } from "../../dom.js";

const DOT = 3.5; // pixels from the middle to the end of an edit's mark

/** Where a cell is, in pixels. @typedef {{left: number, top: number, width: number, height: number}} Box */

/**
 * @param {Uint8Array} mask as edited
 * @param {ArrayLike<number>} hidden what the map on screen hides
 * @param {Set<number>} edits
 * @param {(i: number) => Box | null} boxOf a cell, or null when it is out of sight
 * @returns {SVGElement[]}
 */
export function editMarks(mask, hidden, edits, boxOf) {
  const paths = { hiding: "", hatching: "", showing: "", dots: "" };
  for (let i = 0; i < mask.length; i++) {
    const isPending = Boolean(hidden[i]) === Boolean(mask[i]);
    const isEdited = edits.has(i);
    const box = isPending || isEdited ? boxOf(i) : null;
    if (!box) continue;
    if (isEdited) paths.dots += dotIn(box);
    if (isPending) paths[mask[i] ? "showing" : "hiding"] += rectangle(box);
    if (isPending && !mask[i]) paths.hatching += stroke(box);
  }
  return Object.entries(paths).map(([name, d]) => svg("path", { class: `hl-${name}`, d }));
}

/** @param {Box} box */
function rectangle({ left, top, width, height }) {
  return `M${left} ${top}h${width}v${height}h${-width}Z`;
}

/**
 * A stroke as the map hatches hidden cells.
 *
 * @param {Box} box
 */
function stroke({ left, top, width, height }) {
  return `M${left} ${top + height}l${width} ${-height}`;
}

/**
 * A diamond in a cell's upper right corner, no larger than a third of it.
 *
 * @param {Box} box
 */
function dotIn({ left, top, width, height }) {
  const r = Math.min(DOT, width / 3, height / 3);
  const [x, y] = [left + width - r - Math.min(2, width / 9), top + Math.min(2, height / 9)];
  return `M${x} ${y}l${r} ${r}l${-r} ${r}l${-r} ${-r}Z`;
}
