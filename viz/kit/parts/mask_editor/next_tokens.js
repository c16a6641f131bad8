// What the model says next, under the mask as it was and with the edits.

import { digits } from "../../dom.js";

/** @import { TokenBars } from "../../marks/bars.js" */
/** @import { MaskEditorData } from "../mask_editor.js" */

/**
 * @param {TokenBars} list
 * @param {MaskEditorData} data
 */
export function drawNext(list, { bars, bars_title }) {
  const rows = bars.map(({ label, before, after }) => {
    const [was, is] = [before, after].map((value) => digits(value ?? NaN));
    const number = was === is ? is : `${was} → ${is}`;
    return { label, before: before ?? 0, after: after ?? 0, number };
  });
  const most = Math.max(...rows.map(({ before, after }) => Math.max(before, after)), 1e-9);
  list.show(rows, bars_title, most);
}
