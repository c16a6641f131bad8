// Home's proof: its numbers, read back from the page, against numbers computed by another way.
//
// Weights and logits are an independent run's; where there is none, weights are computed from the
// head's own q and k. Probabilities are e^(ℓ/T − ln Σ e^(ℓ/T)), with a
// sum over the whole vocabulary in the order of ids, the last one first; what is drawn was sorted and
// summed from the largest down. Nothing here is used to draw.

import { bytesOf, floatsOf } from "../core/arrays.js";
import { independent, independentTexts } from "../core/independent.js";
import { mapped, masked, matrix, products, rowOf, softmaxRows } from "../core/maths.js";
import { errorOfLabels, errorOfNumber } from "../core/printed.js";

/** @import { Numbers } from "../core/maths.js" */
/** @import { HeadInputs, HomeData } from "./wire.js" */

/**
 * What must be on screen: rows of a head, the weights on the shown keys and 1 where attention is
 * allowed, and the logits after the last token.
 *
 * With an independent run also what the shown and the leading tokens stand for.
 *
 * @typedef {(string | null)[]} Texts
 * @typedef {{weights: Numbers[], allowed: Numbers[], logits: Numbers, texts?: Texts,
 *   leading?: Texts}} Recomputed
 */

/**
 * What is on screen, as elements: the words, the sentence about them, the bars, and the cells that
 * the map holds (NaN where masked). `query` is the word that is looked at.
 *
 * @typedef {object} OnScreen
 * @property {HTMLElement} words
 * @property {HTMLElement} says
 * @property {SVGSVGElement} bars
 * @property {ArrayLike<number>[]} cells
 * @property {{at: number, label: string}[]} names of the map's rows and columns
 * @property {number} query
 */

/**
 * What the independent run says of the head that the title on screen names.
 *
 * @param {HomeData} data
 * @param {string} title
 * @returns {Promise<Recomputed>}
 */
export async function ofIndependentRun(data, title) {
  const { run, sites } = data.independent;
  const { n_left_out } = data;
  const named = /L(\d+) H(\d+)/.exec(title);
  const site = sites[Number(named?.[1])];
  const names = [`${site}.pattern[${named?.[2]}]`, `${site}.mask[${named?.[2]}]`, "output[-1]"];
  const [pattern, mask, output] = await Promise.all(names.map((name) => independent(run, name)));
  /** @param {typeof pattern} all */
  const shown = (all) =>
    Array.from({ length: all.rows - n_left_out }, (_, i) =>
      rowOf(all, n_left_out + i).subarray(n_left_out),
    );
  return {
    weights: shown(pattern),
    allowed: shown(mask),
    logits: output.values,
    texts: (await independentTexts(run)).slice(n_left_out),
    leading: await independentTexts(
      run,
      data.leading.map(({ id }) => id),
    ),
  };
}

/**
 * The weights of the shown queries: the softmax of scale · q·kᵀ + bias over all keys they may attend
 * to, those that are not shown included.
 *
 * @param {HeadInputs} inputs
 * @returns {Omit<Recomputed, "logits">}
 */
export function recomputed({ q, k, mask, bias, scale }) {
  const queries = matrix(q.shape[0], q.shape[1], floatsOf(q));
  const keys = matrix(k.shape[0], k.shape[1], floatsOf(k));
  const added = bias && floatsOf(bias);
  const scores = mapped(
    products(queries, keys),
    (product, i) => product * scale + (added ? added[i] : 0),
  );
  const allowed = matrix(queries.rows, keys.rows, bytesOf(mask.bdata));
  const weights = softmaxRows(masked(scores, allowed.values));
  /** @param {typeof weights} all */
  const shown = (all) =>
    Array.from({ length: all.rows }, (_, i) => rowOf(all, i).subarray(keys.rows - queries.rows));
  return { weights: shown(weights), allowed: shown(allowed) };
}

/**
 * ln Σ e^(ℓ/T) in one pass, with the largest so far taken out of the sum.
 *
 * @param {Numbers} logits
 * @param {number} temperature
 */
export function logSumExp(logits, temperature) {
  let top = -Infinity;
  let sum = 0;
  for (let i = logits.length - 1; i >= 0; i--) {
    const x = logits[i] / temperature;
    sum = x > top ? sum * Math.exp(top - x) + 1 : sum + Math.exp(x - top);
    top = Math.max(top, x);
  }
  return top + Math.log(sum);
}

/**
 * The largest error of all that Home shows; NaN where something is missing or no number.
 *
 * @param {HomeData} data
 * @param {number} temperature
 * @param {Recomputed} head
 * @param {OnScreen} screen
 */
export function errorOnScreen(data, temperature, head, screen) {
  return Math.max(
    errorOfMap(head, screen.cells),
    errorOfWords(head, screen),
    errorOfBars(data.leading, head.logits, temperature, screen.bars),
    errorOfCounts(data, head, screen),
    head.texts && head.leading ? errorOfNames(head, screen) : 0,
  );
}

/**
 * Which word is marked as the one that is looked at, how many tokens come before the first, and how
 * many have no bar.
 *
 * @param {HomeData} data
 * @param {Recomputed} expected
 * @param {OnScreen} screen
 */
function errorOfCounts({ leading, n_left_out }, { logits }, { words, bars, query }) {
  const buttons = Array.from(words.querySelectorAll("button"));
  const marked = buttons.flatMap(({ classList }, i) =>
    classList.contains("hl-looked") ? [i] : [],
  );
  const before = /^… (\d+) tokens before$/.exec(
    words.querySelector(":scope > small")?.textContent ?? "",
  );
  const legend = Array.from(bars.querySelectorAll("text"), textOf).at(-1) ?? "";
  const others = /([\d,]+) others: /.exec(legend)?.[1].replaceAll(",", "");
  const isRight =
    marked.length === 1 &&
    marked[0] === query &&
    Number(before?.[1] ?? 0) === n_left_out &&
    Number(others) === logits.length - leading.length;
  return isRight ? 0 : NaN;
}

/**
 * Words, labels of the map, and names of bars, each of what its token stands for.
 *
 * @param {Recomputed} expected
 * @param {OnScreen} screen
 */
function errorOfNames({ weights, texts = [], leading = [] }, { words, says, bars, names, query }) {
  const inWords = Array.from(words.querySelectorAll("button bdi"), textOf);
  const row = Array.from(weights[query]);
  const falling = row.map((_, key) => key).sort((a, b) => row[b] - row[a]);
  const spoken = Array.from(says.querySelectorAll("bdi"), textOf);
  const ofSpoken = spoken.map((_, i) => texts[i ? falling[i - 1] : query]);
  const ofBars = Array.from(bars.querySelectorAll("text"), textOf).filter((_, i) => i % 2 === 0);
  return Math.max(
    errorOfLabels(inWords, texts),
    errorOfLabels(
      names.map(({ label }) => label),
      names.map(({ at }) => texts[at]),
    ),
    errorOfLabels(spoken, ofSpoken),
    errorOfLabels(ofBars.slice(0, leading.length), leading),
  );
}

/** @param {Element} node */
function textOf(node) {
  return node.textContent ?? "";
}

/**
 * How many numbers that is.
 *
 * @param {OnScreen} screen
 */
export function countOnScreen({ words, says, bars, cells }) {
  const inMap = cells.reduce((sum, row) => sum + row.length, 0);
  const printed = words.querySelectorAll("small").length + says.querySelectorAll("bdi").length - 1;
  const [lengths, texts] = ["rect", "text"].map((tag) => bars.querySelectorAll(tag).length);
  return inMap + printed + lengths + (texts - 1) / 2 + 1; // a name and a number each, and the legend
}

/**
 * @param {Recomputed} head
 * @param {ArrayLike<number>[]} cells
 */
function errorOfMap({ weights, allowed }, cells) {
  let worst = cells.length === weights.length ? 0 : NaN;
  weights.forEach((row, i) =>
    row.forEach((weight, j) => {
      const shown = cells[i]?.[j];
      const ofMasked = Number.isNaN(shown) ? 0 : NaN;
      worst = Math.max(worst, allowed[i][j] ? Math.abs(shown - weight) : ofMasked);
    }),
  );
  return worst;
}

/**
 * The number and the shade of each word, and the numbers of the sentence.
 *
 * @param {Recomputed} head
 * @param {OnScreen} screen
 */
function errorOfWords({ weights, allowed }, { words, says, query }) {
  const row = Array.from(weights[query]);
  const most = Math.max(...row, 1e-9);
  const buttons = Array.from(words.querySelectorAll("button"));
  const numbers = buttons.map((button) => button.querySelector("small")?.textContent ?? "");
  const errors = numbers.map((number, i) => {
    const share = Number(buttons[i].style.getPropertyValue("--share"));
    const ofMasked = number === "–" ? 0 : NaN;
    const ofNumber = allowed[query][i] ? errorOfNumber(number, row[i]) : ofMasked;
    return Math.max(Math.abs(share - row[i] / most), ofNumber);
  });
  const falling = row.sort((a, b) => b - a);
  const named = Array.from(says.querySelectorAll("[data-number]"), textOf);
  const spoken = named.map((number, i) => errorOfNumber(number, falling[i]));
  return numbers.length === row.length && named.length ? Math.max(...errors, ...spoken) : NaN;
}

/**
 * Lengths and numbers of the bars, and whether they are the most likely tokens in their order.
 *
 * @param {HomeData["leading"]} leading
 * @param {Numbers} all logits
 * @param {number} temperature
 * @param {SVGSVGElement} bars
 */
function errorOfBars(leading, all, temperature, bars) {
  const [ofModel, ofSlider] = [1, temperature].map((t) => logSumExp(all, t));
  const before = leading.map(({ id }) => Math.exp(all[id] - ofModel));
  const after = leading.map(({ id }) => Math.exp(all[id] / temperature - ofSlider));
  const rest = 1 - after.reduce((sum, p) => sum + p, 0);
  const texts = Array.from(bars.querySelectorAll("text"), ({ textContent }) => textContent ?? "");
  const numbers = texts.filter((_, i) => i % 2 === 1);
  const legend = /(?:< )?[\d.]+$/.exec(texts.at(-1) ?? "")?.[0] ?? "";
  const isOrdered = leading.every(({ id }, place) => rankOf(id, all) === place);
  const isWhole = numbers.length === leading.length && isOrdered;
  return Math.max(
    isWhole ? 0 : NaN,
    errorOfLengths(
      bars,
      leading.flatMap((_, i) => [before[i], after[i]]),
    ),
    errorOfNumber(legend, Math.max(0, rest)),
    ...leading.map(({ prob }, i) => Math.abs(prob - before[i])),
    ...after.map((p, i) => errorOfNumber(numbers[i] ?? "", p)),
  );
}

/**
 * How many tokens are more likely, a lower id first on ties.
 *
 * @param {number} id
 * @param {Numbers} logits
 */
function rankOf(id, logits) {
  return logits.reduce(
    (rank, logit, i) => rank + Number(logit > logits[id] || (logit === logits[id] && i < id)),
    0,
  );
}

/**
 * How far the drawn lengths are from shares, when the longest is as long as the largest.
 *
 * @param {SVGSVGElement} bars
 * @param {number[]} shares
 */
function errorOfLengths(bars, shares) {
  const lengths = Array.from(bars.querySelectorAll("rect"), ({ width }) => width.baseVal.value);
  const unit = Math.max(...lengths) / Math.max(...shares);
  const errors = shares.map((share, i) => Math.abs(lengths[i] / unit - share));
  return lengths.length === shares.length ? Math.max(...errors) : NaN;
}
