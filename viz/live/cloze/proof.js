// The proof of blanks: what is on screen, read back, against an independent run of the same tokens and
// one of the sentence with nothing hidden. Nothing here is used to draw.

import { independent, independentTexts } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { pixelsOf, readTiles } from "../core/pixels.js";
import { errorOfLabels, errorOfNumber } from "../core/printed.js";
import { Tally } from "../core/tally.js";

/** @import { Matrix, Numbers } from "../core/maths.js" */
/** @import { Chosen } from "../core/groups.js" */
/** @import { Found } from "../core/tally.js" */
/** @import { Palette } from "../core/wire.js" */
/** @import { ClozeData, ClozeSettings } from "./wire.js" */

const HIDING = "[MASK]";
const ROUNDING = 1e-5; // how far the two runs may be apart in a share where top-p cuts
const TRUE = "✓ ";

/**
 * What is shown, and what is on screen of it.
 *
 * @typedef {{data: ClozeData, settings: ClozeSettings, chosen: Chosen}} Of
 * @typedef {object} OnScreen
 * @property {HTMLElement} words
 * @property {HTMLElement} table its body
 * @property {HTMLElement} title of the bars
 * @property {SVGSVGElement} bars
 * @property {ArrayLike<number>[]} cells of the map
 * @property {SVGSVGElement[]} grids the small maps, one picture a group
 * @property {Palette} palette
 */

/**
 * @param {Of} of
 * @param {OnScreen} screen
 * @returns {Promise<Found>}
 */
export async function readBack({ data, settings, chosen }, screen) {
  const { run, whole_run } = data;
  const tally = new Tally(data.allowed_error);
  const [given, whole, ids] = await Promise.all([
    independentTexts(run),
    independentTexts(whole_run),
    independent(whole_run, "encoder.ids"),
  ]);
  readWords(tally, screen.words, given, whole);
  const hidden = Array.from(whole.keys()).filter((place) => given[place] !== whole[place]);
  tally.hold(screen.table.children.length === hidden.length, "output");
  for (const [i, place] of hidden.entries()) {
    const logits = (await independent(run, `output[${place}]`)).values;
    const token = Number(ids.values[place]);
    const best = logits.reduce((top, logit, id) => (logit > logits[top] ? id : top), 0);
    const texts = await independentTexts(run, [token, best]);
    const of = { place, logits, token, best, texts };
    const [row, word] = [screen.table.children[i], screen.words.children[place]];
    tally.hold(Boolean(row && word), `output[${place}]`);
    if (row) readRow(tally, row, of);
    if (word) readGuess(tally, word, of);
    if (place !== data.shown?.place) continue;
    const named = (data.shown?.named ?? []).map(({ id }) => id);
    const names = await independentTexts(run, named);
    tally.add(errorOfLabels(textsIn(screen.title, "bdi"), [texts[0]]), `output[${place}]`);
    const shown = { logits, token, named, names };
    tally.add(errorOfBars(shown, settings, screen.bars), `output[${place}]`, 3 * named.length + 1);
  }
  await readMap(tally, run, chosen, screen.cells);
  await readGrids(tally, data, screen);
  return tally.found;
}

/**
 * The small maps of all heads, as pixels.
 *
 * @param {Tally} tally
 * @param {ClozeData} data
 * @param {OnScreen} screen
 */
async function readGrids(tally, { run, groups }, { grids, palette }) {
  for (const [i, group] of groups.entries()) {
    const { name, n_layers, n_heads } = group;
    const [, rows, columns] = group.tiles.shape;
    const { values, ...size } = await independent(run, `${name}.tiles`);
    const isWhole = size.rows === n_layers * n_heads && size.columns === rows * columns;
    tally.hold(isWhole, `${name}.tiles`);
    const href = grids[i]?.querySelector("image")?.getAttribute("href") ?? "";
    const of = { values, name, rows, columns, n_heads, palette };
    readTiles(tally, await pixelsOf(href), of);
  }
}

/**
 * Each word stands for its token; those that are pressed, and no others, were given as [MASK].
 *
 * @param {Tally} tally
 * @param {HTMLElement} words
 * @param {(string | null)[]} given
 * @param {(string | null)[]} whole
 */
function readWords(tally, words, given, whole) {
  tally.add(errorOfLabels(textsIn(words, "bdi"), whole), "encoder.ids", whole.length);
  Array.from(words.children).forEach((word, place) => {
    const isHidden = word.getAttribute("aria-pressed") === "true";
    tally.hold((isHidden ? HIDING : whole[place]) === given[place], `encoder.ids[${place}]`);
  });
}

/**
 * What is to be found in a blank: the token that stood there, the most likely one, and their texts.
 *
 * @typedef {{place: number, logits: Numbers, token: number, best: number,
 *   texts: (string | null)[]}} Expected
 */

/**
 * What stands in place of a hidden word: the most likely token, and whether it stood there.
 *
 * @param {Tally} tally
 * @param {Element} word
 * @param {Expected} of
 */
function readGuess(tally, word, { place, logits, token, best, texts }) {
  const address = `output[${place}]`;
  tally.add(errorOfLabels(textsIn(word, ".hl-cloze-guess"), [texts[1]]), address);
  const [prob] = textsIn(word, ".hl-cloze-prob");
  tally.add(errorOfNumber(prob, 1 / sumOfPowers(logits, best, 1)), address);
  tally.hold(word.classList.contains("hl-right") === (best === token), address);
}

/**
 * One line of the table: what stood there, its p, rank and nats, and the most likely token.
 *
 * @param {Tally} tally
 * @param {Element} row
 * @param {Expected} of
 */
function readRow(tally, row, { place, logits, token, best, texts }) {
  const address = `output[${place}]`;
  const total = sumOfPowers(logits, best, 1);
  /** @param {string} name */
  const said = (name) => row.querySelector(`[data-number=${name}]`)?.textContent ?? "";
  const share = (/** @type {number} */ id) => Math.exp(logits[id] - logits[best]) / total;
  const above = Array.from(logits).filter(
    (logit, id) => logit > logits[token] || (logit === logits[token] && id < token),
  );
  tally.hold(row.getAttribute("data-place") === String(place), address);
  tally.add(errorOfLabels(textsIn(row, "bdi"), texts), address, texts.length);
  tally.add(errorOfNumber(said("p"), share(token)), address);
  tally.add(errorOfNumber(said("best"), share(best)), address);
  tally.add(errorOfNumber(said("nats"), -Math.log(share(token))), address);
  tally.hold(Number(said("rank").replaceAll(",", "")) === above.length + 1, address);
}

/**
 * Names, lengths and numbers of the bars, and what all others have.
 *
 * @param {{logits: Numbers, token: number, named: number[], names: (string | null)[]}} shown
 * @param {ClozeSettings} settings
 * @param {SVGSVGElement} bars
 */
function errorOfBars({ logits, token, named, names }, { temperature, top_p }, bars) {
  const order = Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
  const model = shares(logits, order, 1);
  const tempered = shares(logits, order, temperature);
  const counts = [-ROUNDING, ROUNDING].map((more) => kept(tempered, order, top_p + more));
  const texts = Array.from(bars.querySelectorAll("text"), ({ textContent }) => textContent ?? "");
  const labels = texts.filter((_, i) => i % 2 === 0).slice(0, named.length);
  const numbers = texts.filter((_, i) => i % 2 === 1);
  const leading = named.filter((id) => id !== token || order.indexOf(id) < named.length - 1);
  const isFalling = leading.every((id, place) => order[place] === id);
  const isMarked = labels.every((label, i) => label.startsWith(TRUE) === (named[i] === token));
  const errors = counts.map((count) => {
    const left = order.slice(0, count);
    const mass = left.reduce((sum, id) => sum + tempered[id], 0);
    const after = new Map(left.map((id) => [id, tempered[id] / mass]));
    const others = left.reduce((sum, id) => (named.includes(id) ? sum : sum + tempered[id]), 0);
    const rest = /(?:< )?[\d.]+$/.exec(texts.at(-1) ?? "")?.[0] ?? "";
    const ofNumbers = named.map((id, i) => {
      if (after.has(id)) return errorOfNumber(numbers[i] ?? "", after.get(id) ?? NaN);
      return numbers[i] === "removed" ? 0 : NaN;
    });
    const expected = named.flatMap((id) => [model[id], after.get(id) ?? 0]);
    return Math.max(
      ...ofNumbers,
      errorOfLengths(bars, expected),
      errorOfNumber(rest, others / mass),
    );
  });
  const ofNames = errorOfLabels(
    labels.map((label) => label.replace(TRUE, "")),
    names,
  );
  const isRight = isFalling && isMarked && numbers.length === named.length;
  return Math.max(isRight ? 0 : NaN, ofNames, lowest(errors));
}

/**
 * The smaller error; one of two counts may be right, and of the other the numbers are none.
 *
 * @param {number[]} errors
 */
function lowest(errors) {
  const found = errors.filter((error) => !Number.isNaN(error));
  return found.length ? Math.min(...found) : NaN;
}

/**
 * How far the drawn lengths are from shares, where the longest is as long as the largest.
 *
 * @param {SVGSVGElement} bars
 * @param {number[]} expected
 */
function errorOfLengths(bars, expected) {
  const whole = Array.from(bars.querySelectorAll("rect:not([stroke-dasharray])"));
  const lengths = whole.map((bar) => Number(bar.getAttribute("width")));
  const unit = Math.max(...lengths) / Math.max(...expected);
  const errors = expected.map((share, i) => Math.abs(lengths[i] / unit - share));
  return lengths.length === expected.length ? Math.max(...errors) : NaN;
}

/**
 * @param {Numbers} logits
 * @param {number} from the id that is taken out of all powers
 * @param {number} temperature
 */
function sumOfPowers(logits, from, temperature) {
  return Array.from(logits).reduceRight(
    (sum, logit) => sum + Math.exp((logit - logits[from]) / temperature),
    0,
  );
}

/**
 * The softmax of logits at a temperature, by id.
 *
 * @param {Numbers} logits
 * @param {number[]} order ids, the most likely first
 * @param {number} temperature
 */
function shares(logits, order, temperature) {
  const total = sumOfPowers(logits, order[0], temperature);
  return Float64Array.from(
    logits,
    (logit) => Math.exp((logit - logits[order[0]]) / temperature) / total,
  );
}

/**
 * How many of the most likely tokens top-p keeps: until they have p together, one at least.
 *
 * @param {Numbers} probs
 * @param {number[]} order
 * @param {number} p
 */
function kept(probs, order, p) {
  let mass = 0;
  const end = order.findIndex((id, i) => {
    const isOut = i > 0 && p < 1 - ROUNDING && mass >= p;
    mass += probs[id];
    return isOut;
  });
  return end < 0 ? order.length : end;
}

/**
 * The map, NaN where it is masked.
 *
 * @param {Tally} tally
 * @param {string} run
 * @param {Chosen} chosen
 * @param {ArrayLike<number>[]} cells
 */
async function readMap(tally, run, { group, layer, head }, cells) {
  const address = `${group.sites[layer]}.pattern[${head}]`;
  const [map, mask] = await Promise.all([
    independent(run, address),
    independent(run, `${group.sites[layer]}.mask[0]`),
  ]);
  tally.hold(cells.length === map.rows, address);
  cells.forEach((row, i) => readCells(tally, address, row, map, mask, i));
}

/**
 * @param {Tally} tally
 * @param {string} address
 * @param {ArrayLike<number>} row
 * @param {Matrix} map
 * @param {Matrix} mask
 * @param {number} i
 */
function readCells(tally, address, row, map, mask, i) {
  const [weights, allowed] = [rowOf(map, i), rowOf(mask, i)];
  weights.forEach((weight, j) => {
    const isDrawn = !Number.isNaN(row[j]);
    tally.hold(isDrawn === Boolean(allowed[j]), address);
    if (allowed[j]) tally.add(Math.abs(row[j] - weight), address);
  });
}

/**
 * @param {Element} node
 * @param {string} selector
 */
function textsIn(node, selector) {
  return Array.from(node.querySelectorAll(selector), ({ textContent }) => textContent ?? "");
}
