// The tokens above the page, read back: each stands for its token, and says what was predicted of it.

import { independent, independentTexts } from "../core/independent.js";
import { errorOfNumber, saysText } from "../core/printed.js";

/** @import { Reading } from "../core/screen.js" */

export const TOKENS = "tokens"; // what the strip is called among the figures
const STRIP = ".st-key-status .hl-strip";
const BAR_ROUNDING = 0.005; // the bar below a token is so many whole per cent long

/**
 * What is above the page against a run; null where no tokens are there.
 *
 * @param {string} run its key
 * @param {number} allowed
 * @returns {Promise<Omit<Reading, "figure" | "token"> | null>}
 */
export async function readStrip(run, allowed) {
  const strips = Array.from(document.querySelectorAll(STRIP));
  if (!strips.length) return null;
  const [first, last] = [strips[0], strips[strips.length - 1]];
  const errors = [await errorOfStrip(last, await independentTexts(run), run)];
  if (first !== last) errors.push(await errorOfStrip(first, await independentTexts(run, "first")));
  const error = Math.max(...errors.map((found) => found.error));
  const n = errors.reduce((sum, found) => sum + found.n, 0);
  return { error, n, address: error <= allowed ? "" : "given" };
}

/**
 * One row of tokens; `run` where something may have been predicted of them.
 *
 * @param {Element} strip
 * @param {(string | null)[]} texts
 * @param {string} [run]
 */
async function errorOfStrip(strip, texts, run) {
  const nodes = Array.from(strip.querySelectorAll(".hl-token"));
  const isPredicted = nodes.some((node) => node.hasAttribute("title"));
  const values = run && isPredicted ? (await independent(run, "given")).values : [];
  const errors = nodes.map((node, i) => {
    const label = node.querySelector("bdi")?.textContent ?? "";
    const ofLabel = saysText(label, texts[i]) ? 0 : NaN;
    return Math.max(ofLabel, errorOfPrediction(node, values[i]));
  });
  const isWhole = nodes.length === texts.length;
  return { error: isWhole ? Math.max(...errors) : NaN, n: 2 * nodes.length };
}

/**
 * The number a token says when it is pointed at, and the bar below it.
 *
 * @param {Element} node
 * @param {number | undefined} probability NaN of the first token
 */
function errorOfPrediction(node, probability = NaN) {
  const title = node.getAttribute("title");
  if (title === null) return 0; // a model that predicts nothing of its tokens
  if (Number.isNaN(probability)) return title.endsWith("nothing before it") ? 0 : NaN;
  const printed = /: p (?:= )?(.*)$/.exec(title)?.[1] ?? "";
  const share = /** @type {HTMLElement} */ (node).style.getPropertyValue("--share");
  const ofBar = Math.abs(parseFloat(share) / 100 - probability) - BAR_ROUNDING;
  return Math.max(errorOfNumber(printed, probability), ofBar, 0);
}
