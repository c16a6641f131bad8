// Where the labels of a heat map stand, and from that which row or column each of them names.

/** @import { DrawnLayout } from "./plotly.js" */

// Pixels between the middle of a row or a column and where its label stands.
export const [ROW_DOWN, COLUMN_RIGHT] = [4, 3];

/**
 * @typedef {object} NameAt
 * @property {"row" | "column"} axis
 * @property {number} at
 * @property {string} label
 */

/**
 * The labels as they stand in the picture.
 *
 * @param {Element} names what holds them
 * @param {DrawnLayout} drawn
 * @returns {NameAt[]}
 */
export function namesAt(names, { xaxis, yaxis }) {
  return Array.from(names.querySelectorAll("[class^=hl-tick-]"), (node) => {
    const isRow = node.classList.contains("hl-tick-row");
    const moved = /translate\(([\d.]+)/.exec(node.getAttribute("transform") ?? "")?.[1];
    const pixels = isRow ? Number(node.getAttribute("y")) - ROW_DOWN : Number(moved) - COLUMN_RIGHT;
    const axis = isRow ? yaxis : xaxis;
    const at = Math.round(axis.p2c(pixels - axis._offset));
    return { axis: isRow ? "row" : "column", at, label: node.textContent ?? "" };
  });
}
