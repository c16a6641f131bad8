// Numbers and words of tokens that stand in lines and tables of the page, read back: each says at which
// address an independent run has it, or the id of its token. Whoever points at one may ask where it comes from.

import { independentNumbers, independentWords } from "../core/independent.js";
import { point } from "../core/pointed.js";
import { errorOfNumber, saysAll, saysText } from "../core/printed.js";

/** @import { Lifetime } from "../core/lifetime.js" */
/** @import { Reading } from "../core/screen.js" */

export const NUMBERS = "numbers"; // what they are called among the figures
const PRINTED = ".stHtml .hl-number[data-address]";
const WORDS = ".stHtml [data-word], .stHtml [data-text]";
const CLAIMS = ".stHtml [data-claim]";
const ADDRESSED = ".stHtml [data-address]";
const LONGEST = 80; // characters of what a number is of
const EXPONENT = /^−?(\d+)(?:\.(\d+))?e([−+-]\d+)$/;

/**
 * All numbers and words of the page against their runs; null where there are none.
 *
 * @param {number} allowed
 * @returns {Promise<Omit<Reading, "figure" | "token"> | null>}
 */
export async function readNumbers(allowed) {
  const found = (await Promise.all([errorsOfNumbers(), errorsOfWords(), errorsOfClaims()])).flat();
  if (!found.length) return null;
  const off = found.find(({ error }) => !(error <= allowed));
  const error = Math.max(...found.map((one) => one.error));
  return { error, n: found.length, address: off?.address ?? "" };
}

/** Each number of the page against its run. */
async function errorsOfNumbers() {
  const nodes = Array.from(document.querySelectorAll(PRINTED), (node) => ({
    node,
    ...named(/** @type {HTMLElement} */ (node)),
  }));
  const values = await byRun(nodes, independentNumbers);
  return nodes.map(({ node, run, address, times, value }) => {
    const expected = values.get(run)?.get(address) ?? NaN;
    return { address, error: errorOf(node.textContent ?? "", value, expected, times) };
  });
}

/** Each word against the text of the id at its address, a whole text against that of all ids there. */
async function errorsOfWords() {
  const nodes = Array.from(document.querySelectorAll(WORDS), (node) => {
    const { run = "", word, text } = /** @type {HTMLElement} */ (node).dataset;
    const address = word ?? text ?? "";
    return { label: node.textContent ?? "", run, address, isWhole: word === undefined };
  });
  const texts = await byRun(nodes, independentWords);
  return nodes.map(({ label, run, address, isWhole }) => {
    const found = texts.get(run)?.get(address) ?? [""];
    const isRight = isWhole ? saysAll(label, found) : saysText(label, found[0]);
    return { address, error: isRight ? 0 : NaN };
  });
}

/** Words of ours hold where the run has 1. */
async function errorsOfClaims() {
  const nodes = Array.from(document.querySelectorAll(CLAIMS), (node) => {
    const { run = "", claim = "" } = /** @type {HTMLElement} */ (node).dataset;
    return { run, address: claim };
  });
  const values = await byRun(nodes, independentNumbers);
  return nodes.map(({ run, address }) => {
    return { address, error: values.get(run)?.get(address) === 1 ? 0 : NaN };
  });
}

/**
 * What the runs have at all addresses.
 *
 * @template T
 * @param {{run: string, address: string}[]} nodes
 * @param {(run: string, addresses: string[]) => Promise<Map<string, T>>} ask
 * @returns {Promise<Map<string, Map<string, T>>>}
 */
async function byRun(nodes, ask) {
  const found = new Map();
  for (const run of new Set(nodes.map((node) => node.run))) {
    const addresses = nodes.filter((node) => node.run === run).map(({ address }) => address);
    found.set(run, await ask(run, Array.from(new Set(addresses))));
  }
  return found;
}

/** @param {HTMLElement} node */
function named({ dataset }) {
  const { run = "", address = "", times = "1", value = "" } = dataset;
  return { run, address, times: Number(times), value: value === "" ? null : Number(value) };
}

/**
 * How far a number is off as it is printed, and as it was before it was.
 *
 * @param {string} text
 * @param {number | null} value
 * @param {number} expected
 * @param {number} times what the text says of the value
 */
function errorOf(text, value, expected, times) {
  const size = Math.max(1, Math.abs(expected));
  const before = value === null ? 0 : Math.abs(value - expected);
  return Math.max(before, errorOfText(text.replaceAll(",", ""), times * expected) / times) / size;
}

/**
 * @param {string} text
 * @param {number} value
 */
function errorOfText(text, value) {
  const [, , after = "", power] = EXPONENT.exec(text) ?? [];
  if (!power) return errorOfNumber(text, value);
  const rounding = 0.5 * 10 ** (Number(power.replace("−", "-")) - after.length);
  return Math.max(0, Math.abs(Number(text.replaceAll("−", "-")) - value) - rounding);
}

/**
 * Let the number that is pointed at be asked for.
 *
 * @param {Lifetime} lifetime
 */
export function followNumbers(lifetime) {
  for (const event of ["pointerover", "focusin"])
    lifetime.listen(document, event, ({ target }) => {
      const node = target instanceof Element ? target.closest(ADDRESSED) : null;
      if (!(node instanceof HTMLElement)) return;
      const { run, address, value } = named(node);
      const around = (node.closest("tr, dl > div, p") ?? node).textContent ?? "";
      const of = around.length > LONGEST ? `${around.slice(0, LONGEST)}…` : around;
      point({ run, address, drawn: value, of, host: node });
    });
}
