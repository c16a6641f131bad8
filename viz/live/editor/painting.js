// A mouse that paints cells until its button is released.

import { cellsBetween } from "./edits.js";

/** @import { HeatMap } from "../core/heatmap.js" */
/** @import { Lifetime } from "../core/lifetime.js" */
/** @import { Cell } from "./edits.js" */

/**
 * Follow the mouse from a cell on.
 *
 * @param {HeatMap} heatMap
 * @param {Lifetime} lifetime
 * @param {Cell} first
 * @param {(passed: Cell[]) => void} paint is handed the cells passed, the last one last
 */
export function paintFrom(heatMap, lifetime, first, paint) {
  let last = first;
  /** @param {PointerEvent} event */
  const moved = (event) => {
    const to = heatMap.cellAt(event);
    if (!to || (to.row === last.row && to.column === last.column)) return;
    const passed = cellsBetween(last, to);
    last = to;
    paint(passed);
  };
  const stop = () => {
    for (const end of listening) end();
  };
  const capture = { capture: true };
  const listening = [
    lifetime.listen(window, "pointermove", moved, capture),
    lifetime.listen(window, "pointerup", stop, capture),
    lifetime.listen(window, "pointercancel", stop, capture),
  ];
}
