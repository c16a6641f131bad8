// The badge of what was recomputed in the browser: how far the numbers on screen are from it.

import { html } from "./dom.js";

/** A badge that says nothing yet. */
export function badge() {
  return html("output", { class: "hl-badge", "data-check": "" });
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
  node.textContent = passed
    ? `✓ recomputed in your browser (max error ${shown})`
    : `✗ recomputed in your browser, error ${shown}: not the model’s numbers`;
  return isNumber ? error : null;
}
