// The proof of what is said of the tokens: the words of the text, what the mouse learns of each, and
// the sentence on the chosen one, read back against independent runs of the text. Nothing here is
// used to draw.

import { independent } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { errorOfNumber, saysText } from "../core/printed.js";
import { placeOf, textsOf } from "./attended.js";
import { drawnWith } from "./proof.js";

/** @import { Numbers } from "../core/maths.js" */
/** @import { Tally } from "../core/tally.js" */
/** @import { WriterData, WriterStep } from "./wire.js" */

const ROUNDING = 1e-5; // how far two runs may be apart

/**
 * What is on screen: the text, the sentence on step `at` if it is one, the bars of the distribution,
 * and whose weights the text is shaded with.
 *
 * @typedef {object} Spoken
 * @property {WriterData} data
 * @property {HTMLElement} text
 * @property {HTMLElement} says
 * @property {HTMLElement} bars
 * @property {number} at
 * @property {boolean} averaged
 */

/**
 * @param {Spoken} shown
 * @param {Tally} tally
 */
export async function readWritten(shown, tally) {
  const { data, text, bars, at } = shown;
  const texts = await textsOf(data);
  const buttons = Array.from(text.children);
  tally.hold(buttons.length === data.n_prompt + data.steps.length, "decoder.ids");
  buttons.forEach((button, i) =>
    tally.hold(saysText(button.textContent ?? "", texts[i] ?? null), `decoder.ids[${i}]`),
  );
  const came = bars.querySelector(".hl-is-drawn bdi")?.textContent;
  const { at: shownAt } = data.shown;
  if (came) tally.hold(saysText(came, texts[shownAt] ?? null), `decoder.ids[${shownAt}]`);
  const step = data.steps[at];
  if (step) await readStep(shown, step, texts, tally);
  else await readGiven(shown, tally);
}

/**
 * The numbers after some words that the mouse learns of tokens; empty where there are none.
 *
 * @param {HTMLElement} text
 * @param {string} words
 */
function numbersAfter(text, words) {
  return Array.from(text.children, (node) => {
    const title = node.getAttribute("title") ?? "";
    return title.includes(words) ? title.slice(title.indexOf(words) + words.length) : "";
  });
}

/**
 * Before anything is written: the probability that was predicted for each token.
 *
 * @param {Spoken} shown
 * @param {Tally} tally
 */
async function readGiven({ data, text, says }, tally) {
  const { values } = await independent(data.run, "given");
  numbersAfter(text, "predicted with ").forEach((number, i) => {
    const isNone = !(values[i] >= 0); // the first token, and those that were written since
    const error = isNone && !number ? 0 : errorOfNumber(number, values[i]);
    tally.add(error, `given[${i}]`);
  });
  const said = /^Predicted with (.*)\.$/.exec(says.textContent ?? "")?.[1];
  const chosen = data.settings.at;
  if (said && chosen !== null) tally.add(errorOfNumber(said, values[chosen]), `given[${chosen}]`);
}

/**
 * The weight on each token, and the sentence on how the step's own token came.
 *
 * @param {Spoken} shown
 * @param {WriterStep} step
 * @param {(string | null)[]} texts
 * @param {Tally} tally
 */
async function readStep(shown, step, texts, tally) {
  const place = placeOf(shown, step);
  if (!place) return;
  const { n_dropped } = step;
  const row = shown.data.n_prompt + shown.at - 1 - n_dropped;
  const part = shown.averaged ? `${row}:` : `${place.head},${row}:`;
  const address = `${place.name}[${part}]`;
  const weights = rowOf(await independent(place.run, address), 0).subarray(0, row + 1);
  numbersAfter(shown.text, "attended to with ").forEach((number, i) => {
    const weight = weights[i - n_dropped];
    tally.add(weight === undefined && !number ? 0 : errorOfNumber(number, weight), address);
  });
  const dropped = shown.text.querySelectorAll(".hl-dropped").length;
  tally.hold(dropped === n_dropped, address);
  const [own, most] = Array.from(shown.says.querySelectorAll("bdi"), (x) => x.textContent ?? "");
  const largest = Math.max(...weights) - ROUNDING;
  const isMost = weights.some(
    (weight, key) => weight >= largest && saysText(most ?? "", texts[n_dropped + key] ?? null),
  );
  const number = shown.data.n_prompt + shown.at;
  tally.hold(saysText(own ?? "", texts[number] ?? null), `decoder.ids[${number}]`);
  tally.hold(isMost, address);
  const output = `output[${row}]`;
  readDrawn(shown, step, (await independent(place.run, output)).values, { tally, output });
}

/**
 * The probability and the rank that the step's token had, and the one it was drawn with where it is
 * known what it was drawn with.
 *
 * @param {Spoken} shown
 * @param {WriterStep} step
 * @param {Numbers} logits
 * @param {{tally: Tally, output: string}} to
 */
function readDrawn({ data, says, at }, { token_id }, logits, { tally, output }) {
  const said = says.textContent ?? "";
  const numbers = /with probability (.*?) \(rank (\d+); p = (.*?) before/su.exec(said) ?? [];
  const [, after = "", rank = "", before = ""] = numbers;
  const own = logits[token_id];
  const [least, most] = [ROUNDING, -ROUNDING].map(
    (more) =>
      Array.from(logits).filter((logit, id) => id !== token_id && logit > own + more).length,
  );
  tally.hold(Number(rank) > least && Number(rank) <= most + 1, output);
  const falling = Float64Array.from(logits).sort().reverse();
  tally.add(errorOfNumber(before, drawnWith(falling, own, null)[0]), output);
  const { at: shownAt, sampling } = data.shown;
  if (!sampling || shownAt !== data.n_prompt + at) return;
  const errors = drawnWith(falling, own, sampling).map((p) => errorOfNumber(after, p));
  tally.add(Math.min(...errors), output);
}
