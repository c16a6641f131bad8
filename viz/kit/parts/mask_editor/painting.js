// A mouse, pen or finger that paints cells until it is released.

import { cellsBetween } from "../../edits.js";

/** @import { HeatMap } from "../../marks/heatmap.js" */
/** @import { Lifetime } from "../../lifetime.js" */
/** @import { Cell } from "../../edits.js" */

/**
 * Follow the pointer from a cell on.
 *
 * @param {HeatMap} heatMap
 * @param {Lifetime} lifetime
 * @param {Cell} first
 * @param {(passed: Cell[]) => void} paint is handed the cells passed, the last one last
 * @param {() => void} takeBack is called where the browser takes the pointer for something else
 */
export function paintFrom(heatMap, lifetime, first, paint, takeBack) {
  let last = first;
  /** @param {PointerEvent} event */
  const moved = (event) => {
    if (!event.isPrimary) return;
    const to = heatMap.cellAt(event);
    if (!to || (to.row === last.row && to.column === last.column)) return;
    const passed = cellsBetween(last, to);
    last = to;
    paint(passed);
  };
  const stop = () => {
    for (const end of listening) end();
  };
  const cancelled = () => {
    stop();
    takeBack();
  };
  const capture = { capture: true };
  const listening = [
    lifetime.listen(window, "pointermove", moved, capture),
    lifetime.listen(window, "pointerup", stop, capture),
    lifetime.listen(window, "pointercancel", cancelled, capture),
  ];
}

/**
 * One finger on a cell paints; beside the cells, or with a second one, it scrolls and zooms. CSS
 * cannot say so: `touch-action` does not apply to parts of an SVG.
 *
 * @param {HTMLElement} map
 * @param {HeatMap} heatMap
 */
export function keepFingers(map, heatMap) {
  /** @param {TouchEvent} event */
  const touched = (event) => {
    const isAlone = event.touches.length === 1 && heatMap.sizes.drag !== "zoom";
    if (isAlone && heatMap.cellAt(event.touches[0])) event.preventDefault();
  };
  map.addEventListener("touchstart", touched, { passive: false });
}
