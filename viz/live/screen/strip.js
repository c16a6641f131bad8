// The tokens above the page, read back: each stands for its token, and says what was predicted of it.

import { independent, independentTexts } from "../core/independent.js";
import { errorOfNumber, saysText } from "../core/printed.js";

/** @import { Reading } from "../core/screen.js" */

export const TOKENS = "tokens"; // what the strip is called among the figures
const STRIP = ".st-key-status .hl-strip .hl-token";
const BAR_ROUNDING = 0.005; // the bar below a token is so many whole per cent long

/**
 * What is above the page against a run; null where no tokens are there.
 *
 * @param {string} run its key
 * @param {number} allowed
 * @returns {Promise<Omit<Reading, "figure" | "token"> | null>}
 */
export async function readStrip(run, allowed) {
  const texts = await independentTexts(run);
  const { values } = await independent(run, "given");
  const nodes = Array.from(document.querySelectorAll(STRIP));
  if (!nodes.length) return null;
  const isWhole = nodes.length === texts.length;
  const errors = nodes.map((node, i) => {
    const label = node.querySelector("bdi")?.textContent ?? "";
    const ofLabel = saysText(label, texts[i]) ? 0 : NaN;
    return Math.max(ofLabel, errorOfPrediction(node, values[i]));
  });
  const error = isWhole ? Math.max(...errors) : NaN;
  return { error, n: 2 * nodes.length, address: error <= allowed ? "" : "given" };
}

/**
 * The number a token says when it is pointed at, and the bar below it.
 *
 * @param {Element} node
 * @param {number} probability NaN of the first token
 */
function errorOfPrediction(node, probability) {
  const title = node.getAttribute("title");
  if (title === null) return 0; // a model that predicts nothing of its tokens
  if (Number.isNaN(probability)) return title.endsWith("nothing before it") ? 0 : NaN;
  const printed = /: p (?:= )?(.*)$/.exec(title)?.[1] ?? "";
  const share = /** @type {HTMLElement} */ (node).style.getPropertyValue("--share");
  const ofBar = Math.abs(parseFloat(share) / 100 - probability) - BAR_ROUNDING;
  return Math.max(errorOfNumber(printed, probability), ofBar, 0);
}
