// What the model says next, under the mask as it was and with the edits.

import { digits } from "../../dom.js";
import { drawBars } from "../../marks/bars.js";

/** @import { Palette } from "../../wire.js" */
/** @import { EditorData } from "../mask_editor.js" */

const NAMED = 3; // bars in words
const LEAST_WIDTH = 280;

/**
 * @param {SVGSVGElement} node
 * @param {EditorData} data
 * @param {Palette} palette
 * @param {number} room pixels across
 */
export function drawNext(node, { bars, bars_title }, palette, room) {
  if (!bars.length) return node.replaceChildren();
  const rows = bars.map(({ label, before, after }) => {
    const [was, is] = [before, after].map((value) => digits(value ?? NaN));
    const number = was === is ? is : `${was} → ${is}`;
    return { label, before: before ?? 0, after: after ?? 0, number };
  });
  const legend = "grey: as the mask was → colour: with your edits";
  drawBars(node, rows, { palette, width: Math.max(LEAST_WIDTH, room), legend });
  const said = rows.slice(0, NAMED).map(({ label, number }) => `${label}: ${number}`);
  node.setAttribute("aria-label", `${bars_title}. ${said.join("; ")}.`);
}
