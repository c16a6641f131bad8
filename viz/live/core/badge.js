// The badge of what was recomputed in the browser: how far the numbers on screen are from it.

import { html } from "./dom.js";

const COMPARED =
  "Read back from the page, and compared with an independent float64 run from the model’s files";

/**
 * A badge that says nothing yet.
 *
 * @param {string} kind its class
 */
export function badge(kind = "hl-badge") {
  return html("output", { class: kind, "data-check": "" });
}

/**
 * What is on screen is another thing: what was said of the last one counts no more.
 *
 * @param {HTMLElement} node
 * @param {boolean} isOther whether all of it is, not one number
 */
export function withdraw(node, isOther) {
  node.dataset.check = "";
  if (!isOther) return;
  node.classList.remove("hl-bad");
  node.textContent = "comparing with an independent run …";
}

/**
 * Say what was found when the screen was read back: the largest error of `n` numbers.
 *
 * @param {HTMLElement} node
 * @param {{error: number, n: number, address?: string}} found where the first is that is off
 * @param {number} allowed
 * @param {string} [of] what was read
 * @returns {number | null} the error as JSON has it
 */
export function showScreenCheck(node, { error, n, address }, allowed, of = "numbers") {
  const found = showCheck(node, error, allowed);
  const count = n.toLocaleString("en");
  node.title = error <= allowed || !address ? COMPARED : `${COMPARED}: off at ${address}`;
  node.textContent =
    error <= allowed
      ? `✓ ${count} ${of} verified (max error ${error ? error.toExponential(0) : 0})`
      : `✗ on screen, error ${found === null ? "not a number" : error.toExponential(0)}: not the model’s numbers`;
  return found;
}

/**
 * Say what a check found.
 *
 * @param {HTMLElement} node
 * @param {number} error the largest one; NaN for a broken number
 * @param {number} allowed
 * @returns {number | null} the error as JSON has it
 */
export function showCheck(node, error, allowed) {
  const passed = error <= allowed;
  const isNumber = !Number.isNaN(error);
  const shown = isNumber ? error.toExponential(0) : "not a number";
  node.classList.toggle("hl-bad", !passed);
  node.dataset.check = String(error);
  node.title = "";
  node.textContent = passed
    ? `✓ recomputed in your browser (max error ${shown})`
    : `✗ recomputed in your browser, error ${shown}: not the model’s numbers`;
  return isNumber ? error : null;
}
