// The proof of the map of new tokens: what it shows of each, and what is said of the chosen one, read
// back once it rests, against an independent run of the whole text. Nothing here is used to draw.

import { independent, independentTexts } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { point } from "../core/pointed.js";
import { errorOfNumber, saysText } from "../core/printed.js";
import * as screen from "../core/screen.js";

/** @import { HeatMap } from "../core/heatmap.js" */
/** @import { Lifetime } from "../core/lifetime.js" */
/** @import { Matrix } from "../core/maths.js" */
/** @import { Reading } from "../core/screen.js" */
/** @import { WriterData, WriterStep } from "./wire.js" */

const ATTENDED = "new tokens"; // what the map is called among the figures
const REST_MS = 150; // after the last thing drawn: a check is never in the way of the hand

/**
 * What is on screen: the map, the sentence on step `at`, if it is one, and whose weights they are.
 *
 * @typedef {object} OnScreen
 * @property {WriterData} data
 * @property {HeatMap} map
 * @property {string} says
 * @property {number} at
 * @property {boolean} averaged
 */

/**
 * Where the weights of a step are in an independent run; null where there is none of it.
 *
 * @param {Pick<OnScreen, "data" | "averaged">} screen
 * @param {WriterStep} step
 */
export function placeOf({ data, averaged }, { n_dropped }) {
  const run = data.runs.find((one) => one.n_dropped === n_dropped)?.run;
  const [, layer, head] = /L(\d+) H(\d+)/.exec(data.head) ?? [];
  if (!run || !layer) return null;
  return { run, name: averaged ? "attention.mean" : `decoder.blocks.${layer}.attn.pattern`, head };
}

/**
 * @param {OnScreen} screen
 * @returns {Promise<Omit<Reading, "figure" | "token">>}
 */
async function readMap({ data, map, says, at, averaged }) {
  const { steps, n_prompt, allowed_error } = data;
  const columns = n_prompt + steps.length - 1;
  const places = steps.map((step) => placeOf({ data, averaged }, step));
  const addresses = places.map((place, i) => {
    const first = n_prompt - 1 - steps[i].n_dropped;
    const rows = `${Math.max(0, first)}:`;
    return place && `${place.name}[${averaged ? rows : `${place.head},${rows}`}]`;
  });
  const found = await Promise.all(
    places.map((place, i) => place && independent(place.run, addresses[i] ?? "")),
  );
  const cells = map.drawnCells;
  const errors = steps.map((step, i) =>
    errorOfRow(cells[i], rowFor(found[i], step, i, n_prompt), step),
  );
  errors.push(cells.length === steps.length ? 0 : NaN, errorOfLength(cells, columns));
  errors.push(errorOfNames(map, await textsOf(data), n_prompt));
  if (steps[at]) errors.push(errorOfSaid(says, rowFor(found[at], steps[at], at, n_prompt)));
  const error = Math.max(...errors);
  const n = steps.reduce((sum, { n_dropped }, i) => sum + n_prompt + i - n_dropped, 1);
  return { error, n, address: error <= allowed_error ? "" : (addresses[0] ?? "") };
}

/**
 * The weights of a step, in the rows of a run from the one before the first new token on.
 *
 * @param {Matrix | null} rows
 * @param {WriterStep} step
 * @param {number} i
 * @param {number} n_prompt
 */
function rowFor(rows, { n_dropped }, i, n_prompt) {
  const place = n_prompt - 1 + i - n_dropped;
  const row = place - Math.max(0, n_prompt - 1 - n_dropped);
  return rows && row < rows.rows ? rowOf(rows, row).subarray(0, place + 1) : null;
}

/**
 * A row of the map: nothing before what the context has dropped, nor after the token itself.
 *
 * @param {ArrayLike<number>} cells
 * @param {ArrayLike<number> | null} weights
 * @param {WriterStep} step
 */
function errorOfRow(cells, weights, { n_dropped }) {
  if (!weights) return NaN;
  const errors = Array.from(cells, (shown, column) => {
    const weight = weights[column - n_dropped] ?? NaN;
    if (Number.isNaN(weight)) return Number.isNaN(shown) ? 0 : NaN;
    return Math.abs(shown - weight);
  });
  return Math.max(...errors);
}

/**
 * @param {ArrayLike<number>[]} cells
 * @param {number} columns
 */
function errorOfLength(cells, columns) {
  return cells.every((row) => row.length === columns) ? 0 : NaN;
}

/**
 * What the tokens of the text stand for, by their places in it.
 *
 * @param {Pick<WriterData, "run" | "runs" | "steps">} data
 */
export async function textsOf({ run, runs, steps }) {
  const all = steps.length ? runs : [{ n_dropped: 0, run }];
  /** @type {(string | null)[]} */
  const texts = [];
  for (const one of all) {
    /** @type {(string | null)[]} */
    const own = await independentTexts(one.run);
    own.forEach((text, i) => {
      texts[one.n_dropped + i] = text;
    });
  }
  return texts;
}

/**
 * Each row is called as its new token, each column as a token of the text.
 *
 * @param {HeatMap} map
 * @param {(string | null)[]} texts
 * @param {number} n_prompt
 */
function errorOfNames({ drawnNames }, texts, n_prompt) {
  const isRight = drawnNames.every(({ axis, at, label }) =>
    saysText(label, texts[axis === "row" ? n_prompt + at : at] ?? null),
  );
  return isRight ? 0 : NaN;
}

/**
 * The largest weight, as the sentence has it.
 *
 * @param {string} says
 * @param {ArrayLike<number> | null} weights
 */
function errorOfSaid(says, weights) {
  const printed = /most to .*\(([^()]+)\)\. Shade/su.exec(says)?.[1] ?? "";
  return weights ? errorOfNumber(printed, Math.max(...Array.from(weights))) : NaN;
}

export class Attended {
  #cancel = () => {};
  /** What is on screen. @type {OnScreen | null} */
  #shown = null;

  /** @param {Lifetime} lifetime */
  constructor(lifetime) {
    this.lifetime = lifetime;
    lifetime.keep(() => screen.isGone(ATTENDED, this));
  }

  /** What was said of the last map counts no more. */
  withdraw() {
    this.#cancel();
    this.#shown = null;
    screen.isGone(ATTENDED, this);
  }

  /**
   * A map is drawn: once the text rests, it is read back.
   *
   * @param {OnScreen} shown
   */
  soon(shown) {
    this.withdraw();
    this.#shown = shown;
    const { data } = shown;
    if (!data.runs.length || data.running) return;
    screen.changes(ATTENDED, this);
    this.#cancel = this.lifetime.timeout(async () => {
      const found = await readMap(shown).catch(() => null);
      if (this.#shown !== shown || this.lifetime.isOver) return;
      if (found) screen.wasRead({ figure: ATTENDED, token: data.key, ...found }, this);
      else screen.isGone(ATTENDED, this);
    }, REST_MS);
  }

  /**
   * A cell that a person points at may be asked where it comes from.
   *
   * @param {number} row
   * @param {number} column
   * @param {Element} host
   */
  point(row, column, host) {
    const shown = this.#shown;
    const step = shown?.data.steps[row];
    const place = shown && step && placeOf(shown, step);
    if (!shown || !step || !place) return;
    const { labels, n_prompt } = shown.data;
    const at = `${n_prompt + row - 1 - step.n_dropped},${column - step.n_dropped}`;
    point({
      run: place.run,
      address: `${place.name}[${shown.averaged ? at : `${place.head},${at}`}]`,
      drawn: shown.map.drawnAt(row, column),
      of: `${labels[n_prompt + row]} → ${labels[column]}`,
      host,
    });
  }
}
