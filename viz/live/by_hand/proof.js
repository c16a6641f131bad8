// The proof of attention by hand: what stands in the cells, read back from the page, against the same
// numbers worked out in Python. Nothing here is used to draw.

import { independent } from "../core/independent.js";
import { errorOfNumber } from "../core/printed.js";
import { Tally } from "../core/tally.js";

/** @import { Reading } from "../core/screen.js" */
/** @import { ByHandData } from "./wire.js" */

const FULL_SHADE = 55; // per cent of the accent under a weight of 1

/**
 * @param {HTMLElement} root
 * @param {ByHandData["origin"]} origin
 * @returns {Promise<Omit<Reading, "figure" | "token">>}
 */
export async function readByHand(root, { run, allowed_error }) {
  const tally = new Tally(allowed_error);
  for (const table of root.querySelectorAll("table")) {
    const cells = Array.from(table.querySelectorAll("td"));
    const name = table.dataset.given
      ? `hand.${table.dataset.given}`
      : (cells[0].dataset.number ?? "");
    const { rows, columns, values } = await independent(run, name);
    tally.hold(cells.length === rows * columns, name);
    cells.forEach((cell, at) => {
      const place = `${name}[${Math.floor(at / columns)},${at % columns}]`;
      const input = cell.querySelector("input");
      if (input) tally.add(errorOfTyped(input, values[at]), place);
      else tally.add(errorOfNumber(cell.textContent ?? "", values[at]), place);
      if (name.startsWith("hand.weights")) tally.hold(isShadedBy(cell, values[at]), place);
    });
  }
  await readSaid(root, run, tally);
  return tally.found;
}

/**
 * How far a typed number is from the one that is worked with; what is marked as none is left out.
 *
 * @param {HTMLInputElement} input
 * @param {number} value
 */
function errorOfTyped(input, value) {
  if (input.hasAttribute("aria-invalid")) return 0;
  return Math.abs(Number(input.value.trim().replace(",", ".").replace("−", "-")) - value);
}

/**
 * Whether the colour of a cell is that of its weight, to the per cent.
 *
 * @param {HTMLElement} cell
 * @param {number} weight
 */
function isShadedBy(cell, weight) {
  const shade = /(\d+)%/.exec(cell.style.background)?.[1] ?? "0";
  return Math.abs(Number(shade) - FULL_SHADE * weight) <= 0.51;
}

/**
 * The cell that is spoken of: which it is, and its number.
 *
 * @param {HTMLElement} root
 * @param {string} run
 * @param {Tally} tally
 */
async function readSaid(root, run, tally) {
  const line = root.querySelector(".hl-hand-line");
  const named = /(?:H(\d+), )?row (\d+), column (\d+)/.exec(line?.textContent ?? "");
  const cell = /** @type {HTMLElement | null} */ (root.querySelector("td.hl-marked"));
  const name = cell?.dataset.number ?? "";
  tally.hold(Boolean(named && cell), name);
  if (!named || !cell) return;
  const [row, column] = [Number(named[2]) - 1, Number(named[3]) - 1];
  tally.hold(cell.dataset.at === `${row}-${column}`, name);
  tally.hold(!named[1] || name.endsWith(`.${named[1]}`), name);
  const { columns, values } = await independent(run, name);
  const printed = line?.querySelector("[data-said]")?.textContent ?? "";
  tally.add(errorOfNumber(printed, values[row * columns + column]), name);
}
