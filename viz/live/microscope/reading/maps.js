// Heat maps and the words beside them, read back from what Plotly worked out to draw: a summary of many
// heads, two heads side by side, and a head with one thing changed. Nothing here is used to draw.

import { independent } from "../../core/independent.js";
import { errorOfNumber, saysText } from "../../core/printed.js";
import { bitsOf, meanOf, placeIn, rowsOf, softmaxOf, truthOf, truthOfHead } from "./truth.js";

/** @import { HeatMap } from "../../core/heatmap.js" */
/** @import { Tally } from "../../core/tally.js" */
/** @import { Microscope } from "../microscope.js" */
/** @import { Truth } from "./truth.js" */

/** A map with its title. @typedef {{title: HTMLElement, heatMap: HeatMap}} TitledMap */

/**
 * What a map must hold: a value for each cell, NaN where none is drawn.
 *
 * @typedef {Pick<Truth, "address" | "rows" | "columns"> & {cells: number[][]}} Expected
 */

/**
 * Compare all cells and labels of a map.
 *
 * @param {Tally} tally
 * @param {HeatMap} heatMap
 * @param {Expected} expected
 * @param {number} [blur] how much rounding is enlarged by what was done to the weights
 */
function readMap(tally, { drawnCells, drawnNames }, { address, cells, rows, columns }, blur = 1) {
  const isWhole = drawnCells.length === cells.length;
  tally.hold(isWhole, address);
  if (!isWhole) return;
  cells.forEach((row, i) => {
    const shown = drawnCells[i];
    tally.hold(shown.length === row.length, address);
    row.forEach((value, j) => {
      const ofNothing = Number.isNaN(shown[j]) ? 0 : NaN;
      const error = Number.isNaN(value) ? ofNothing : Math.abs(shown[j] - value) / blur;
      tally.add(error, address);
    });
  });
  for (const { axis, at, label } of drawnNames)
    tally.hold(saysText(label, (axis === "row" ? rows : columns)[at] ?? null), address);
}

/**
 * A map of weights as it must be drawn.
 *
 * @param {Truth} truth
 * @param {boolean} isFirstOut
 * @returns {Expected}
 */
function drawnFrom({ weights, open, ...rest }, isFirstOut) {
  /** @type {(i: number, j: number) => boolean} */
  const isOut = (i, j) => !open[i][j] || (isFirstOut && j === 0);
  const cells = weights.map((row, i) => row.map((p, j) => (isOut(i, j) ? NaN : p)));
  return { ...rest, cells };
}

/** @param {Microscope} scope */
function isFirstHidden({ settings, between }) {
  return settings.hide_first && between.kind === "self";
}

/**
 * A number in words, found by its name.
 *
 * @param {Tally} tally
 * @param {HTMLElement} host
 * @param {string} name
 * @param {{value: number, address: string, blur?: number}} expected
 */
function readNumber(tally, host, name, { value, address, blur = 1 }) {
  const printed = host.querySelector(`[data-number=${name}]`)?.textContent ?? "";
  tally.add(errorOfNumber(printed, value) / Math.max(1, Math.abs(value)) / blur, address);
}

// --- many heads -----------------------------------------------------------------------------------

const SPANS = [
  { pattern: /^(\w+) over all heads of L(\d+)\./, over: "layer" },
  { pattern: /^(\w+) over H(\d+) in all layers\./, over: "head" },
  { pattern: /^(\w+) over all heads of all layers()\./, over: "all" },
];

/**
 * Which summary the words above the map name, by its addresses.
 *
 * @param {string} words
 * @param {string} group
 */
function summaryIn(words, group) {
  for (const { pattern, over } of SPANS) {
    const [, how = "", index = ""] = pattern.exec(words) ?? [];
    const part = index && `[${index}]`;
    if (how)
      return {
        address: `${group}.${how.toLowerCase()}_${over}${part}`,
        mask: `${group}.open_${over}${part}`,
      };
  }
  return null;
}

/**
 * @param {Microscope} scope
 * @param {HTMLElement} says
 * @param {HeatMap} heatMap
 * @param {Tally} tally
 */
export async function readSummary(scope, says, heatMap, tally) {
  const named = summaryIn(says.textContent ?? "", scope.group.name);
  if (!named) return tally.hold(false, scope.group.name);
  const truth = await truthOf(scope, { ...named, isInWords: scope.settings.words });
  readMap(tally, heatMap, drawnFrom(truth, isFirstHidden(scope)));
  readSums(tally, says, truth);
  readPairs(tally, says, truth);
}

/**
 * What rows sum to.
 *
 * @param {Tally} tally
 * @param {HTMLElement} says
 * @param {Truth} truth
 */
function readSums(tally, says, { weights, address }) {
  const sums = weights.map((row) => row.reduce((sum, p) => sum + p, 0)).filter((sum) => sum > 0);
  const [low, high] = [Math.min(...sums), Math.max(...sums)];
  if (says.querySelector("[data-number=low]")) {
    readNumber(tally, says, "low", { value: low, address });
    readNumber(tally, says, "high", { value: high, address });
  } else if (/Rows sum to one\./.test(says.textContent ?? ""))
    tally.add(Math.max(Math.abs(low - 1), Math.abs(high - 1)), address);
}

/**
 * The pairs that are named: each with its weight and its tokens, and none larger than the first.
 *
 * @param {Tally} tally
 * @param {HTMLElement} says
 * @param {Truth} truth
 */
function readPairs(tally, says, { weights, rows, columns, address }) {
  for (const node of says.querySelectorAll("[data-pair]")) {
    const [query, key] = (node.getAttribute("data-pair") ?? "").split("-").map(Number);
    const [from = "", to = ""] = Array.from(
      node.querySelectorAll("bdi"),
      (x) => x.textContent ?? "",
    );
    tally.hold(saysText(from, rows[query] ?? null) && saysText(to, columns[key] ?? null), address);
    const printed = node.querySelector("[data-number]")?.textContent ?? "";
    tally.add(errorOfNumber(printed, weights[query]?.[key] ?? NaN), address);
  }
}

// --- two heads ------------------------------------------------------------------------------------

/**
 * Three maps: this head, the other head or run, and the difference, each as its title says.
 *
 * @param {Microscope} scope
 * @param {{maps: TitledMap[], says: HTMLElement, other: {run: string, between: import("../../core/patterns.js").Between} | null}} shown
 *   `other` is the other run, null for another head of this one
 * @param {Tally} tally
 */
export async function readComparison(scope, { maps, says, other }, tally) {
  const [first, second, third] = maps.map(({ title }) => title.textContent ?? "");
  const isInWords = scope.settings.words;
  const a = await truthOfHead(scope, { title: first, isInWords });
  const b = await truthOfHead(scope, {
    title: other ? first : second,
    ...other,
    isInWords,
  });
  if (!a || !b) return tally.hold(false, scope.group.name);
  const isOut = isFirstHidden(scope);
  const delta = differenceOf(a, b, isOut);
  tally.hold(third === `${first} − ${second}` && first === scope.title.textContent, a.address);
  [drawnFrom(a, isOut), drawnFrom(b, isOut), delta].forEach((expected, i) =>
    readMap(tally, maps[i].heatMap, expected),
  );
  readNumber(tally, says, "mean", { value: delta.mean, address: delta.address });
}

/**
 * a − b on the cells that both have; the mean of its size over those that are not masked in both.
 *
 * @param {Truth} a
 * @param {Truth} b
 * @param {boolean} isOut whether the first key is left out
 */
function differenceOf(a, b, isOut) {
  const n = Math.min(a.weights.length, b.weights.length);
  const m = Math.min(a.columns.length, b.columns.length);
  const [low, narrow] = [a.weights.length === n ? a : b, a.columns.length === m ? a : b];
  /** @type {number[]} */
  const sizes = [];
  const cells = Array.from({ length: n }, (_, i) =>
    Array.from({ length: m }, (__, j) => {
      if (!a.open[i][j] && !b.open[i][j]) return NaN;
      const delta = a.weights[i][j] - b.weights[i][j];
      sizes.push(Math.abs(delta));
      return isOut && j === 0 ? NaN : delta;
    }),
  );
  const address = `${a.address} − ${b.address}`;
  return { address, cells, rows: low.rows, columns: narrow.columns, mean: meanOf(sizes) };
}

// --- one thing changed ----------------------------------------------------------------------------

/**
 * The original and the modified map, their mean entropies, and the bars below.
 *
 * @param {Microscope} scope
 * @param {{maps: TitledMap[], says: HTMLElement, entropies: SVGElement}} shown
 * @param {Tally} tally
 */
export async function readChange(scope, { maps, says, entropies }, tally) {
  const title = scope.title.textContent ?? "";
  const truth = await truthOfHead(scope, { title });
  const place = placeIn(scope, title);
  if (!truth || !place) return tally.hold(false, scope.group.name);
  const changed = await changedAs(scope, maps[1].title.textContent ?? "", truth, place);
  if (!changed) return tally.hold(false, truth.address);
  const isOut = isFirstHidden(scope);
  readMap(tally, maps[0].heatMap, drawnFrom(truth, isOut));
  readMap(tally, maps[1].heatMap, drawnFrom(changed.truth, isOut), changed.blur);
  const { address } = truth;
  const { blur } = changed;
  const [before, after] = [truth, changed.truth].map(({ weights }) => weights.map(bitsOf));
  readNumber(tally, says, "before", { value: meanOf(before), address });
  readNumber(tally, says, "after", { value: meanOf(after), address, blur });
  if (says.querySelector("[data-number=leaked]")) {
    const value = 100 * leaked(truth, changed.truth);
    readNumber(tally, says, "leaked", { value, address, blur: 100 * blur });
  }
  readBars(tally, entropies, { before, after, open: changed.truth.open, address, blur });
}

/**
 * The head with the change that a title names; null where it names none. A softmax that is so many
 * times sharper enlarges what its scores were rounded by as many times.
 *
 * @param {Microscope} scope
 * @param {string} title
 * @param {Truth} truth
 * @param {{site: string, head: number}} place
 */
async function changedAs({ data }, title, truth, { site, head }) {
  /** @param {string} name */
  const array = async (name) => rowsOf(await independent(data.key, `${site}.${name}[${head}]`));
  const [scores, product, scaled] = await Promise.all(["scores", "product", "scaled"].map(array));
  /** @type {(new_scores: number[][], open: boolean[][], blur: number) => {truth: Truth, blur: number}} */
  const as = (new_scores, open, blur) => ({
    truth: { ...truth, weights: softmaxOf(new_scores, open), open },
    blur: Math.max(1, blur),
  });
  const tau = Number(/^temperature (\d\.\d)$/.exec(title)?.[1]);
  if (tau)
    return as(
      scores.map((row) => row.map((x) => x / tau)),
      truth.open,
      1 / tau,
    );
  const change = data.changes.find(({ text }) => text === title)?.name;
  if (change === "mask")
    return as(
      scores,
      truth.open.map((row) => row.map(() => true)),
      1,
    );
  if (change !== "scale") return null;
  const unscaled = scores.map((row, i) => row.map((x, j) => x - scaled[i][j] + product[i][j]));
  const largest = Math.max(...product.flat().map(Math.abs));
  const ofScaled = Math.max(...scaled.flat().map(Math.abs));
  return as(unscaled, truth.open, largest / (ofScaled || 1));
}

/**
 * The share of all weight on cells that the mask forbids.
 *
 * @param {Truth} truth
 * @param {Truth} changed
 */
function leaked({ open }, { weights }) {
  let [sum, out] = [0, 0];
  weights.forEach((row, i) =>
    row.forEach((p, j) => {
      sum += p;
      if (!open[i][j]) out += p;
    }),
  );
  return out / (sum || 1);
}

/**
 * Pairs of bars, one pair a row, and the line of a row spread evenly, which says how long a bit is.
 *
 * @param {Tally} tally
 * @param {SVGElement} entropies
 * @param {{before: number[], after: number[], open: boolean[][], address: string, blur: number}} of
 */
function readBars(tally, entropies, { before, after, open, address, blur }) {
  const drawn = Array.from(
    entropies.querySelectorAll("path"),
    (path) => path.getAttribute("d") ?? "",
  );
  const [left, right] = drawn
    .slice(0, 2)
    .map((d) => numbersAt(d, /v(-?[\d.e-]+)h/g).map((h) => -h));
  const even = numbersAt(drawn[2] ?? "", /[ML]-?[\d.e-]+ (-?[\d.e-]+)/g);
  const [base = 0] = numbersAt(drawn[0] ?? "", /M-?[\d.e-]+ (-?[\d.e-]+)/g);
  const most = open.map((row) => Math.log2(Math.max(1, row.filter(Boolean).length)));
  const widest = most.indexOf(Math.max(...most));
  const bit = most[widest] ? (base - even[widest]) / most[widest] : 1;
  const error = (/** @type {number[]} */ lengths, /** @type {number[]} */ expected) =>
    lengths?.length === expected.length
      ? Math.max(...lengths.map((length, i) => Math.abs(length / bit - expected[i])))
      : NaN;
  tally.add(error(left, before), address, before.length);
  tally.add(error(right, after) / blur, address, after.length);
  tally.add(
    error(
      even.map((y) => base - y),
      most,
    ),
    address,
    most.length,
  );
}

/**
 * @param {string} text
 * @param {RegExp} pattern with one group
 */
function numbersAt(text, pattern) {
  return Array.from(text.matchAll(pattern), ([, number]) => Number(number));
}
