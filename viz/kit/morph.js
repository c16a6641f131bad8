// One picture of a heat map fades into the next one of the same cells.

import { html } from "./dom.js";
import { enlargement } from "./wall.js";

const MORPH_MS = 200;
const CELLS = ".heatmaplayer image"; // what plotly.js paints them on

/** @import { Picture } from "./figure.js" */

/**
 * Whether two pictures are of the same rows and columns.
 *
 * @param {Picture | undefined} a
 * @param {Picture} b
 */
export function haveSameCells(a, b) {
  return a?.rowLabels === b.rowLabels && a.columnLabels === b.columnLabels;
}

/**
 * The cells on screen as a picture of their own; null where nothing is to move, or there are none.
 *
 * @param {Element} chart
 */
export function cellsOf(chart) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return null;
  const image = chart.querySelector(CELLS);
  return image && html("img", { class: "hl-morph", alt: "", src: image.getAttribute("href") });
}

/**
 * Have the cells that were there fade into those that are there now.
 *
 * @param {HTMLImageElement} before
 * @param {HTMLElement} chart
 * @param {HTMLElement} host
 */
export function fade(before, chart, host) {
  const now = chart.querySelector(CELLS)?.getBoundingClientRect();
  if (!now) return;
  const { left, top } = host.getBoundingClientRect();
  const [x, y, width, height] = [now.left - left, now.top - top, now.width, now.height].map(
    (pixels) => pixels / enlargement(chart),
  );
  putAt(before, x, y, width, height);
  host.append(before);
  const gone = () => before.remove();
  before.animate({ opacity: [1, 0] }, MORPH_MS).finished.then(gone, gone);
}

/**
 * @param {HTMLElement} node
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
export function putAt(node, left, top, width, height) {
  node.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
}
