// The proof of a translation: what is on screen, read back, against an independent run.
//
// Nothing here is used to draw.

import { independent, independentTexts, independentWords } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { pixelsOf, readTiles } from "../core/pixels.js";
import { errorOfLabels, errorOfNumber } from "../core/printed.js";
import { Tally } from "../core/tally.js";
import { originOf } from "./heads.js";
import { LEAST, THICKEST } from "./rows.js";

/** @import { Matrix, Numbers } from "../core/maths.js" */
/** @import { Chosen } from "../core/groups.js" */
/** @import { Group, Palette } from "../core/wire.js" */
/** @import { TranslationData, TranslationSettings } from "./wire.js" */

const ROUNDED = 1e-6; // weights at which a line may be there or not
const PIXEL = 1; // how far a line may end from the middle of its word
const OTHERS = /^([\d,]+) others: ((?:< )?[\d.]+)$/;
/** What special tokens are called here. @type {Record<string, string>} */
const CALLED = { "<|endoftext|>": "⟨end⟩", "<|startoftext|>": "⟨start⟩" };

/**
 * What is shown: a translation, the German token that is looked at, the heads of the map and those of
 * the lines.
 *
 * @typedef {object} Shown
 * @property {TranslationData} data
 * @property {TranslationSettings} settings
 * @property {number} now
 * @property {Chosen} chosen
 * @property {Chosen} heads
 */

/** The small maps of a group: what they must be, and the pixels that are drawn.
 * @typedef {{group: Group, tiles: Matrix, pixels: ImageData}} Tiles */

/**
 * What must be on screen: the map, NaN where it is masked, the weights of the lines, the probability
 * of each German token, the logits where one is looked at, and what the tokens stand for.
 *
 * @typedef {{map: Matrix, mask: Matrix, lines: Matrix, given: Numbers, logits: Numbers,
 *   texts: Record<"first" | "last" | "leading" | "best", (string | null)[]>, tiles: Tiles[]}} Expected
 */

/**
 * What is on screen.
 *
 * @typedef {object} OnScreen
 * @property {ArrayLike<number>[]} cells of the map
 * @property {HTMLElement} english
 * @property {HTMLElement} german
 * @property {SVGSVGElement} lines
 * @property {HTMLElement} says what the looked at word attends to most
 * @property {HTMLElement} title of the most likely tokens
 * @property {HTMLElement} list of the most likely tokens
 * @property {HTMLElement} rest what all others have together
 * @property {SVGSVGElement[]} grids the small maps, one picture a group
 * @property {Palette} palette
 */

/**
 * What an independent run says.
 *
 * @param {Shown} shown
 * @param {SVGSVGElement[]} grids
 * @returns {Promise<Expected>}
 */
export async function expectedOf({ data, now, chosen, heads }, grids) {
  const { run, groups, steps } = data;
  const site = chosen.group.sites[chosen.over === "all" ? 0 : chosen.layer];
  const names = [originOf(chosen), `${site}.mask[0]`, originOf(heads), "given", `output[${now}]`];
  const [map, mask, lines, given, output] = await Promise.all(
    names.map((name) => independent(run, name)),
  );
  const [first, last, best, leading] = await Promise.all([
    independentTexts(run, "first"),
    independentTexts(run, "last"),
    independentWords(run, ["best.ids"]).then((found) => found.get("best.ids") ?? []),
    independentTexts(
      run,
      steps[now].leading.map(({ id }) => id),
    ),
  ]);
  const tiles = await Promise.all(
    groups.map(async (group, i) => ({
      group,
      tiles: await independent(run, `${group.name}.tiles`),
      pixels: await pixelsOf(grids[i]?.querySelector("image")?.getAttribute("href") ?? ""),
    })),
  );
  const texts = { first, last, leading, best };
  return { map, mask, lines, given: given.values, logits: output.values, texts, tiles };
}

/**
 * The largest error, of how many values, and where the first stands that is too large.
 *
 * @param {Shown} shown
 * @param {Expected} expected
 * @param {OnScreen} screen
 */
export function compare(shown, expected, screen) {
  const tally = new Tally(shown.data.allowed_error);
  readMap(tally, originOf(shown.chosen), expected, screen.cells);
  readWords(tally, expected.texts, screen);
  readGreedy(tally, shown.data, expected.texts.best, screen.german);
  readEnglish(tally, shown, expected, screen);
  readGerman(tally, shown.data, expected.given, screen.german);
  readLines(tally, shown, expected.lines, screen);
  readList(tally, shown, expected, screen);
  for (const { group, tiles, pixels } of expected.tiles) {
    const [, rows, columns] = group.tiles.shape;
    const isWhole = tiles.columns === rows * columns;
    tally.hold(isWhole && tiles.rows === group.n_layers * group.n_heads, `${group.name}.tiles`);
    const { name, n_heads } = group;
    const of = { values: tiles.values, name, rows, columns, n_heads, palette: screen.palette };
    readTiles(tally, pixels, of);
  }
  return tally.found;
}

/**
 * @param {Tally} tally
 * @param {string} address
 * @param {Expected} expected
 * @param {ArrayLike<number>[]} cells
 */
function readMap(tally, address, { map, mask }, cells) {
  tally.hold(cells.length === map.rows, address);
  for (let i = 0; i < map.rows; i++) {
    const [weights, allowed] = [rowOf(map, i), rowOf(mask, i)];
    weights.forEach((weight, j) => {
      const shown = cells[i]?.[j];
      const ofMasked = Number.isNaN(shown) ? 0 : NaN;
      tally.add(allowed[j] ? Math.abs(shown - weight) : ofMasked, address);
    });
  }
}

/**
 * Each word is what its token stands for; start and end are called otherwise here.
 *
 * @param {Tally} tally
 * @param {Expected["texts"]} texts
 * @param {OnScreen} screen
 */
function readWords(tally, { first, last }, { english, german }) {
  const source = labelsIn(english).slice(0, -1);
  const target = labelsIn(german).slice(0, last.length - 1);
  tally.add(errorOfLabels(source, first.slice(0, -1)), "English", source.length);
  tally.add(errorOfLabels(target, last.slice(1)), "German", target.length);
}

/**
 * Decoded greedily, each token that nobody put there is the most likely one.
 *
 * @param {Tally} tally
 * @param {TranslationData} data
 * @param {(string | null)[]} best after each token from the start on; null where two are alike
 * @param {HTMLElement} german
 */
function readGreedy(tally, { settings, steps, n_written }, best, german) {
  if (settings.decode !== "greedy") return;
  labelsIn(german).forEach((label, n) => {
    if (n >= n_written || steps[n].is_forced) return;
    tally.add(errorOfLabels([label], [nameOf(best[n] ?? null)]), `best.ids[${n}]`);
  });
}

/** @param {HTMLElement} row */
function labelsIn(row) {
  return Array.from(row.children, (word) => word.querySelector("bdi")?.textContent ?? "");
}

/**
 * The numbers below the English words, and the sentence that names the largest.
 *
 * @param {Tally} tally
 * @param {Shown} shown
 * @param {Expected} expected
 * @param {OnScreen} screen
 */
function readEnglish(tally, { settings, now, heads }, { lines, texts }, { english, says }) {
  const address = originOf(heads);
  const row = rowIn(now, settings.align_by, lines.rows);
  const numbers = numbersIn(english);
  tally.hold(numbers.length === lines.columns, address);
  if (row === null)
    return tally.hold(
      numbers.every((text) => text === "–"),
      address,
    );
  const own = rowOf(lines, row);
  numbers.forEach((text, j) => tally.add(errorOfNumber(text, own[j]), address));
  const [asked, named] = Array.from(
    says.querySelectorAll(".hl-tr-named"),
    (x) => x.textContent ?? "",
  );
  if (now + 1 < texts.last.length)
    tally.add(errorOfLabels([asked], [nameOf(texts.last[now + 1])]), "German");
  const [, number] = / ((?:< )?[\d.]+) Lines: /.exec(says.textContent ?? "") ?? [];
  const most = own.reduce((a, b) => Math.max(a, b), 0);
  tally.add(errorOfNumber(number ?? "", most), address);
  const isOneOf = Array.from(own).some(
    (weight, j) =>
      weight >= most - ROUNDED && errorOfLabels([named], [nameOf(texts.first[j])]) === 0,
  );
  tally.hold(isOneOf, address);
}

/** @param {string | null} text */
function nameOf(text) {
  return (text && CALLED[text]) ?? text;
}

/**
 * Probabilities of the German tokens; that of the end is in the list beside them.
 *
 * @param {Tally} tally
 * @param {TranslationData} data
 * @param {Numbers} given of each token of the target's stream, from the start token on
 * @param {HTMLElement} german
 */
function readGerman(tally, { n_written }, given, german) {
  const texts = numbersIn(german);
  tally.hold(texts.length === n_written, "given");
  texts.slice(0, given.length - 1).forEach((text, n) => {
    tally.add(errorOfNumber(text, given[n + 1]), `given[${n + 1}]`);
  });
}

/**
 * Whether each weight that is large enough has its line, from word to word, as thick as it is large.
 *
 * @param {Tally} tally
 * @param {Shown} shown
 * @param {Matrix} lines
 * @param {OnScreen} screen
 */
function readLines(tally, { data, settings, heads }, lines, screen) {
  const address = originOf(heads);
  const [from, to] = [screen.english, screen.german].map((row) => Array.from(row.children, middle));
  /** @type {Map<string, number>} */
  const thick = new Map();
  for (const path of screen.lines.querySelectorAll("path")) {
    const { target, source } = path.dataset;
    thick.set(`${target} ${source}`, Number(path.getAttribute("stroke-width")) / THICKEST);
    const places = (path.getAttribute("d") ?? "").match(/-?[\d.]+/g) ?? [];
    const off = [Number(places[0]) - from[Number(source)], Number(places[6]) - to[Number(target)]];
    tally.hold(
      off.every((x) => Math.abs(x) <= PIXEL),
      address,
    );
  }
  for (let n = 0; n < data.n_written; n++) {
    const row = rowIn(n, settings.align_by, lines.rows);
    if (row === null) continue;
    rowOf(lines, row).forEach((weight, j) => {
      const shown = thick.get(`${n} ${j}`);
      if (shown === undefined) tally.hold(weight < LEAST + ROUNDED, address);
      else tally.add(Math.abs(shown - weight), address);
    });
  }
}

/**
 * The middle of a word, in pixels of its row.
 *
 * @param {Element} word
 */
function middle(word) {
  const [own, row] = [word, word.parentElement ?? word].map((x) => x.getBoundingClientRect());
  return own.left + own.width / 2 - row.left;
}

/**
 * Order, words, lengths and numbers of the most likely tokens, and those of the one that came.
 *
 * @param {Tally} tally
 * @param {Shown} shown
 * @param {Expected} expected
 * @param {OnScreen} screen
 */
function readList(tally, { data, now }, { logits, texts }, { title, list, rest }) {
  const address = `output[${now}]`;
  const model = softmax(logits, 1);
  const { settings } = data; // by which its numbers came about: others may be chosen by now
  const isDrawn = settings.decode === "sampling";
  const drawn = isDrawn ? filtered(logits, settings) : model;
  const options = Array.from(list.querySelectorAll("button"));
  const ids = data.steps[now].leading.slice(0, options.length).map(({ id }) => id);
  const isFalling = ids.every((id, i) => !i || model[ids[i - 1]] >= model[id] - ROUNDED);
  tally.hold(isFalling && ids.length === options.length, address);
  const labels = options.map((option) => option.querySelector("bdi")?.textContent ?? "");
  tally.add(errorOfLabels(labels, texts.leading.slice(0, ids.length).map(nameOf)), address);
  const most = Math.max(...ids.map((id) => Math.max(model[id], isDrawn ? drawn[id] : 0)));
  options.forEach((option, i) => {
    const bar = parseFloat(option.querySelector("i")?.style.width ?? "");
    tally.add(
      errorOfNumber(option.querySelector("small")?.textContent ?? "", drawn[ids[i]]),
      address,
    );
    tally.add(Math.abs((bar / 100) * most - model[ids[i]]), address);
  });
  const others = 1 - ids.reduce((sum, id) => sum + model[id], 0);
  const [, count, said = ""] = OTHERS.exec(rest.textContent ?? "") ?? [];
  tally.hold(Number(count?.replaceAll(",", "")) === logits.length - ids.length, address);
  const before = title.querySelector("bdi")?.textContent ?? "";
  tally.add(errorOfLabels([before], [now ? nameOf(texts.last[now]) : ""]), address);
  tally.add(errorOfNumber(said, Math.max(0, others)), address);
  readBelow(tally, data.steps[now].id, model, list.querySelector(".hl-tr-below"));
}

/**
 * The token that came though it is not among those listed: its probability and its rank.
 *
 * @param {Tally} tally
 * @param {number | null} id
 * @param {Float64Array} model
 * @param {Element | null} row
 */
function readBelow(tally, id, model, row) {
  if (!row || id === null) return;
  const rank = Number(/rank ([\d,]+)/.exec(row.textContent ?? "")?.[1].replaceAll(",", ""));
  const [before, upTo] = [ROUNDED, -ROUNDED].map(
    (slack) => model.filter((p) => p > model[id] + slack).length,
  );
  tally.hold(rank > before && rank <= upTo + 1, "given");
  tally.add(errorOfNumber(row.querySelector("small")?.textContent ?? "", model[id]), "given");
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
