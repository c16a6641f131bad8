// The proof of a translation: what is on screen, read back, against an independent run.
//
// Nothing here is used to draw.

import { independent, independentTexts } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { errorOfLabels, errorOfNumber } from "../core/printed.js";
import { originOf } from "./heads.js";
import { LEAST, THICKEST } from "./rows.js";

/** @import { Matrix, Numbers } from "../core/maths.js" */
/** @import { Chosen } from "./heads.js" */
/** @import { TranslationData, TranslationSettings } from "./wire.js" */

const ROUNDED = 1e-6; // weights at which a line may be there or not

/**
 * What must be on screen: the map, NaN where it is masked, the weights of the lines, the probability
 * of each German token, the logits where one is looked at, and what the tokens stand for.
 *
 * @typedef {{map: Matrix, mask: Matrix, lines: Matrix, given: Numbers, logits: Numbers,
 *   texts: Record<"first" | "last", (string | null)[]>}} Expected
 */

/**
 * What is on screen.
 *
 * @typedef {object} OnScreen
 * @property {ArrayLike<number>[]} cells of the map
 * @property {HTMLElement} english
 * @property {HTMLElement} german
 * @property {SVGSVGElement} lines
 * @property {HTMLElement} list of the most likely tokens
 * @property {HTMLElement} rest what all others have together
 */

/**
 * What an independent run says.
 *
 * @param {TranslationData} data
 * @param {Chosen} chosen of the map
 * @param {Chosen} heads of the lines
 * @param {number} now the German token that is looked at
 * @returns {Promise<Expected>}
 */
export async function expectedOf(data, chosen, heads, now) {
  const { run } = data;
  const site = chosen.group.sites[chosen.over === "all" ? 0 : chosen.layer];
  const names = [originOf(chosen), `${site}.mask[0]`, originOf(heads), "given", `output[${now}]`];
  const [map, mask, lines, given, output] = await Promise.all(
    names.map((name) => independent(run, name)),
  );
  const [first, last] = await Promise.all([
    independentTexts(run, "first"),
    independentTexts(run, "last"),
  ]);
  return { map, mask, lines, given: given.values, logits: output.values, texts: { first, last } };
}

/**
 * The largest error; NaN where something is missing or no number.
 *
 * @param {{data: TranslationData, settings: TranslationSettings, now: number}} shown
 * @param {Expected} expected
 * @param {OnScreen} screen
 */
export function errorOnScreen({ data, settings, now }, expected, screen) {
  return Math.max(
    errorOfMap(expected, screen.cells),
    errorOfWords(expected.texts, screen),
    errorOfEnglish(expected.lines, settings, now, screen.english),
    errorOfGerman(data, expected.given, screen.german),
    errorOfLines(expected.lines, settings, data.n_written, screen.lines),
    errorOfList(data, settings, now, expected.logits, screen),
  );
}

/**
 * How many numbers that is.
 *
 * @param {OnScreen} screen
 */
export function countOnScreen({ cells, english, german, lines, list }) {
  const inMap = cells.reduce((sum, row) => sum + row.length, 0);
  const printed = english.children.length + german.children.length + list.children.length + 1;
  return inMap + printed + lines.children.length;
}

/**
 * @param {Expected} expected
 * @param {ArrayLike<number>[]} cells
 */
function errorOfMap({ map, mask }, cells) {
  let worst = cells.length === map.rows ? 0 : NaN;
  for (let i = 0; i < map.rows; i++) {
    const [weights, allowed] = [rowOf(map, i), rowOf(mask, i)];
    weights.forEach((weight, j) => {
      const shown = cells[i]?.[j];
      const ofMasked = Number.isNaN(shown) ? 0 : NaN;
      worst = Math.max(worst, allowed[j] ? Math.abs(shown - weight) : ofMasked);
    });
  }
  return worst;
}

/**
 * Each word is what its token stands for; start and end are called otherwise here.
 *
 * @param {Expected["texts"]} texts
 * @param {OnScreen} screen
 */
function errorOfWords({ first, last }, { english, german }) {
  const source = labelsIn(english).slice(0, -1);
  const target = labelsIn(german).slice(0, last.length - 1);
  return Math.max(errorOfLabels(source, first.slice(0, -1)), errorOfLabels(target, last.slice(1)));
}

/** @param {HTMLElement} row */
function labelsIn(row) {
  return Array.from(row.children, (word) => word.querySelector("bdi")?.textContent ?? "");
}

/**
 * @param {Matrix} lines
 * @param {TranslationSettings} settings
 * @param {number} now
 * @param {HTMLElement} english
 */
function errorOfEnglish(lines, { align_by }, now, english) {
  const row = rowIn(now, align_by, lines.rows);
  const texts = numbersIn(english);
  if (texts.length !== lines.columns) return NaN;
  if (row === null) return texts.every((text) => text === "–") ? 0 : NaN;
  const own = rowOf(lines, row);
  return Math.max(...texts.map((text, j) => errorOfNumber(text, own[j])));
}

/**
 * Probabilities of the German tokens; that of the end is in the list beside them.
 *
 * @param {TranslationData} data
 * @param {Numbers} given of each token of the target's stream, from the start token on
 * @param {HTMLElement} german
 */
function errorOfGerman({ n_written }, given, german) {
  const texts = numbersIn(german);
  if (texts.length !== n_written) return NaN;
  const errors = texts
    .slice(0, given.length - 1)
    .map((text, n) => errorOfNumber(text, given[n + 1]));
  return Math.max(0, ...errors);
}

/**
 * Whether each weight that is large enough has its line, as thick as it is large.
 *
 * @param {Matrix} lines
 * @param {TranslationSettings} settings
 * @param {number} n_written
 * @param {SVGSVGElement} drawn
 */
function errorOfLines(lines, { align_by }, n_written, drawn) {
  /** @type {Map<string, number>} */
  const thick = new Map();
  for (const path of drawn.querySelectorAll("path"))
    thick.set(
      `${path.dataset.target} ${path.dataset.source}`,
      Number(path.getAttribute("stroke-width")) / THICKEST,
    );
  let worst = 0;
  for (let n = 0; n < n_written; n++) {
    const row = rowIn(n, align_by, lines.rows);
    if (row === null) continue;
    rowOf(lines, row).forEach((weight, j) => {
      const shown = thick.get(`${n} ${j}`);
      if (shown === undefined) worst = weight < LEAST + ROUNDED ? worst : NaN;
      else worst = Math.max(worst, Math.abs(shown - weight));
    });
  }
  return worst;
}

/**
 * Order, lengths and numbers of the most likely tokens.
 *
 * @param {TranslationData} data
 * @param {TranslationSettings} settings
 * @param {number} now
 * @param {Numbers} logits
 * @param {OnScreen} screen
 */
function errorOfList({ steps }, settings, now, logits, { list, rest }) {
  const model = softmax(logits, 1);
  const isDrawn = settings.decode === "sampling";
  const drawn = isDrawn ? filtered(logits, settings) : model;
  const options = Array.from(list.querySelectorAll("button"));
  const ids = steps[now].leading.slice(0, options.length).map(({ id }) => id);
  const isFalling = ids.every((id, i) => !i || model[ids[i - 1]] >= model[id] - ROUNDED);
  const texts = options.map((option) => option.querySelector("small")?.textContent ?? "");
  const bars = options.map((option) => parseFloat(option.querySelector("i")?.style.width ?? ""));
  const most = Math.max(...ids.map((id) => Math.max(model[id], isDrawn ? drawn[id] : 0)));
  const others = 1 - ids.reduce((sum, id) => sum + model[id], 0);
  const said = /(?:< )?[\d.]+$/.exec(rest.textContent ?? "")?.[0] ?? "";
  return Math.max(
    isFalling && ids.length === options.length ? 0 : NaN,
    ...ids.map((id, i) => errorOfNumber(texts[i], drawn[id])),
    ...ids.map((id, i) => Math.abs((bars[i] / 100) * most - model[id])),
    errorOfNumber(said, Math.max(0, others)),
  );
}

/**
 * What top-p leaves after the temperature: the most likely tokens until they have p together.
 *
 * @param {Numbers} logits
 * @param {TranslationSettings} settings
 */
function filtered(logits, { temperature, top_p }) {
  const probs = softmax(logits, temperature);
  const order = Array.from(probs.keys()).sort((a, b) => probs[b] - probs[a] || a - b);
  const kept = new Float64Array(probs.length);
  let mass = 0;
  for (const id of order) {
    if (mass >= top_p - 1e-12 && mass) break;
    kept[id] = probs[id];
    mass += probs[id];
  }
  return kept.map((p) => p / mass);
}

/**
 * @param {Numbers} logits
 * @param {number} temperature
 */
function softmax(logits, temperature) {
  const top = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = Float64Array.from(logits, (logit) => Math.exp((logit - top) / temperature));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / total);
}

/**
 * The row of the lines' weights that a token of the target has: the one before its own, which
 * predicts it, or its own; null past the last.
 *
 * @param {number} n
 * @param {TranslationSettings["align_by"]} by
 * @param {number} rows
 */
function rowIn(n, by, rows) {
  const own = n + 1; // after the start token
  const row = { output: own - 1, input: own }[by];
  return row > rows - 1 ? null : row;
}

/** @param {HTMLElement} row */
function numbersIn(row) {
  return Array.from(row.children, (word) => word.querySelector("small")?.textContent ?? "");
}
