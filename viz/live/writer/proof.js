// The sampler's proof: the distribution on screen, read back, against the logits of an independent run
// and filters written once more. Nothing here is used to draw.
//
// Where a filter cuts between two tokens that differ by less than rounding does, either count is right:
// the one on screen is taken, if it is one of these.

import { independent, independentTexts } from "../core/independent.js";
import { errorOfNumber, saysText } from "../core/printed.js";

/** @import { Numbers } from "../core/maths.js" */
/** @import { SamplerSettings, StepName } from "../core/sampling.js" */
/** @import { Reading } from "../core/screen.js" */
/** @import { Distribution } from "./distribution.js" */
/** @import { ShownDistribution } from "./wire.js" */

const ROUNDING = 1e-5; // how far the two runs may be apart in a share
const WIDTH_ROUNDING = 1e-5; // a bar's width is so many thousandths of a per cent

/**
 * What is on screen: the distribution, the settings it was filtered by, and where the run has it.
 *
 * @typedef {object} OnScreen
 * @property {Distribution} distribution
 * @property {ShownDistribution} shown
 * @property {SamplerSettings} sampling
 * @property {string} run
 * @property {number} row
 */

/**
 * Compare the bars, their numbers and names, the table of steps and the four facts.
 *
 * @param {OnScreen} screen
 * @param {number} allowed
 * @returns {Promise<Omit<Reading, "figure" | "token">>}
 */
export async function readDistribution({ distribution, shown, sampling, run, row }, allowed) {
  const address = `output[${row}]`;
  const logits = (await independent(run, address)).values;
  const texts = await independentTexts(run, shown.ids);
  const falling = Float64Array.from(logits).sort().reverse();
  const steps = errorOfSteps(falling, sampling, distribution.table);
  const errors = [
    steps.error,
    errorOfBars({ logits, falling, ...steps }, shown, texts, distribution.list),
    errorOfFacts(falling, steps, distribution.facts),
    errorOfOthers({ logits, falling, ...steps }, shown, distribution.others),
    errorOfStars(logits, falling, shown, distribution.list),
    errorOfFormula({ logits, falling, ...steps }, shown, texts, distribution.formula),
  ];
  const error = Math.max(...errors);
  const n = 4 * shown.ids.length + 2 * sampling.order.length + 7;
  return { error, n, address: error <= allowed ? "" : address };
}

/**
 * e^(ℓ/T) of the leading tokens, by the largest, and ln of their sum.
 *
 * @param {Float64Array} falling
 * @param {number} temperature
 * @param {number} count
 */
function spread(falling, temperature, count) {
  const leading = Array.from(
    falling.slice(0, count),
    (logit) => (logit - falling[0]) / temperature,
  );
  const log = Math.log(leading.reduceRight((sum, x) => sum + Math.exp(x), 0));
  return leading.map((x) => Math.exp(x - log));
}

/** How many of falling shares a filter keeps. @type {Record<string, (of: number[], by: SamplerSettings, more: number) => number>} */
const KEEPS = {
  top_k: (shares, { top_k }) => Math.min(top_k ?? Infinity, shares.length),
  top_p: (shares, { top_p }, more) => {
    let before = 0;
    const end = shares.findIndex((share, i) => {
      const isOut = i > 0 && top_p < 1 && before >= top_p + more;
      before += share;
      return isOut;
    });
    return end < 0 ? shares.length : end;
  },
  min_p: (shares, { min_p }, more) =>
    Math.max(1, shares.filter((share) => share >= (min_p - more) * shares[0]).length),
};

/**
 * With which probability a token is drawn: one number, and another where a filter may cut beside it.
 *
 * @param {Float64Array} falling
 * @param {number} own logit of the token
 * @param {SamplerSettings | null} sampling null for what the model predicts
 */
export function drawnWith(falling, own, sampling) {
  const whole = Math.exp(own - falling[0]) * spread(falling, 1, falling.length)[0];
  if (!sampling) return [whole];
  return [-ROUNDING, 0, ROUNDING].map((more) => {
    const { count, temperature } = keptBy(falling, sampling, more);
    if (own < falling[count - 1]) return 0;
    return spread(falling, temperature, count)[0] * Math.exp((own - falling[0]) / temperature);
  });
}

/**
 * How many tokens all steps leave.
 *
 * @param {Float64Array} falling
 * @param {SamplerSettings} sampling
 * @param {number} more
 */
function keptBy(falling, sampling, more) {
  let [count, temperature] = [falling.length, 1];
  for (const name of sampling.order) {
    if (name === "temperature") temperature = sampling.temperature;
    const keeps = KEEPS[name] ?? (() => count);
    count = keeps(spread(falling, temperature, count), sampling, more) || 1;
  }
  return { count, temperature: sampling.temperature };
}

/**
 * The table: tokens left after each step, and the share of what it was handed.
 *
 * @param {Float64Array} falling
 * @param {SamplerSettings} sampling
 * @param {HTMLTableElement} table
 */
function errorOfSteps(falling, sampling, table) {
  let [count, temperature, error] = [falling.length, 1, 0];
  for (const name of sampling.order) {
    const cells = table.querySelector(`[data-step=${name}]`)?.querySelectorAll("td") ?? [];
    const [left, mass] = Array.from(cells, ({ textContent }) => textContent ?? "");
    if (name === "temperature") temperature = sampling.temperature;
    const shares = spread(falling, temperature, count);
    const keeps = KEEPS[name] ?? (() => count);
    const [least, most] = [keeps(shares, sampling, -ROUNDING), keeps(shares, sampling, ROUNDING)];
    const said = Number(left?.replaceAll(",", ""));
    if (!(said >= Math.min(least, most) && said <= Math.max(least, most))) error = NaN;
    const kept = shares.slice(0, said).reduceRight((sum, share) => sum + share, 0);
    error = Math.max(error, errorOfNumber(mass ?? "", kept));
    count = said || 1;
  }
  return { error, count, temperature: sampling.temperature };
}

/**
 * Bars, and what stands beside them: of a token that is left its probability, else a word.
 *
 * @param {{logits: Numbers, falling: Float64Array, count: number, temperature: number}} of
 * @param {ShownDistribution} shown
 * @param {(string | null)[]} texts
 * @param {HTMLElement} list
 */
function errorOfBars({ logits, falling, count, temperature }, { ids }, texts, list) {
  const items = Array.from(list.children);
  const [whole, left] = [spread(falling, 1, falling.length), spread(falling, temperature, count)];
  const errors = ids.map((id, i) => {
    /** @param {string} part */
    const node = (part) => /** @type {HTMLElement} */ (items[i].querySelector(`.hl-dist-${part}`));
    /** @param {string} part */
    const drawn = (part) => parseFloat(node(part).style.width) / 100;
    const name = node("name").querySelector("bdi")?.textContent ?? "";
    const number = node("number").textContent?.split(" ·")[0] ?? "";
    const isKept = number !== "removed";
    const edge = falling[count - 1];
    const isRight = isKept ? logits[id] >= edge - ROUNDING : logits[id] <= edge + ROUNDING;
    const before = whole[0] * Math.exp(logits[id] - falling[0]);
    const after = isKept ? left[0] * Math.exp((logits[id] - falling[0]) / temperature) : 0;
    return Math.max(
      saysText(name, texts[i]) && isRight ? 0 : NaN,
      Math.abs(drawn("before") - before) - WIDTH_ROUNDING,
      Math.abs(drawn("after") - after) - WIDTH_ROUNDING,
      isKept ? errorOfNumber(number, after) : 0,
      0,
    );
  });
  return items.length === ids.length ? Math.max(...errors) : NaN;
}

/** @typedef {{logits: Numbers, falling: Float64Array, count: number, temperature: number}} Filtered */

/**
 * What is left for the tokens without a bar, before and after the steps.
 *
 * @param {Filtered} of
 * @param {ShownDistribution} shown
 * @param {HTMLElement} others
 */
function errorOfOthers({ logits, falling, count, temperature }, { ids }, others) {
  const said = /: (.*?) predicted, (.*?) sampled from/su.exec(others.textContent ?? "") ?? [];
  const named = ids.map((id) => logits[id]);
  const [first, edge] = [falling[0], falling[count - 1]];
  const [whole, left] = [spread(falling, 1, falling.length), spread(falling, temperature, count)];
  const before = named.reduce((sum, logit) => sum - whole[0] * Math.exp(logit - first), 1);
  const after = named
    .filter((logit) => logit > edge + ROUNDING)
    .reduce((sum, logit) => sum - left[0] * Math.exp((logit - first) / temperature), 1);
  const errors = namedAtEdge(falling, named, count).map((n) =>
    errorOfNumber(said[2] ?? "", Math.max(0, after - n * left[count - 1])),
  );
  return Math.max(errorOfNumber(said[1] ?? "", Math.max(0, before)), Math.min(...errors));
}

/**
 * How many of the named tokens are the last ones left: of equal logits any may be.
 *
 * @param {Float64Array} falling
 * @param {number[]} named their logits
 * @param {number} count
 */
function namedAtEdge(falling, named, count) {
  const edge = falling[count - 1];
  /** @param {number} logit */
  const isAtEdge = (logit) => Math.abs(logit - edge) <= ROUNDING;
  const [all, ofNamed] = [falling.filter(isAtEdge).length, named.filter(isAtEdge).length];
  const room = count - falling.filter((logit) => logit > edge + ROUNDING).length;
  const least = Math.max(0, room - (all - ofNamed));
  return Array.from({ length: Math.min(ofNamed, room) - least + 1 }, (_, i) => least + i);
}

/**
 * The star is at the most likely token, and at no other.
 *
 * @param {Numbers} logits
 * @param {Float64Array} falling
 * @param {ShownDistribution} shown
 * @param {HTMLElement} list
 */
function errorOfStars(logits, falling, { ids }, list) {
  const hasStar = Array.from(list.children, (item) =>
    Array.from(item.querySelector(".hl-dist-name")?.childNodes ?? []).some(
      (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.includes("★"),
    ),
  );
  const isRight = ids.every((id, i) => !hasStar[i] || logits[id] >= falling[0] - ROUNDING);
  return isRight && hasStar.filter(Boolean).length === 1 ? 0 : NaN;
}

/**
 * The most likely token's name and its probability below the bars.
 *
 * @param {Filtered} of
 * @param {ShownDistribution} shown
 * @param {(string | null)[]} texts
 * @param {HTMLElement} formula
 */
function errorOfFormula({ logits, falling, count, temperature }, { ids }, texts, formula) {
  const name = formula.querySelector("bdi")?.textContent ?? "";
  const isNamed = ids.some(
    (id, i) => logits[id] >= falling[0] - ROUNDING && saysText(name, texts[i]),
  );
  /** @param {string} tag */
  const last = (tag) => Array.from(formula.querySelectorAll(tag)).at(-1)?.textContent ?? "";
  const printed = last("mo") === "=" ? last("mn") : `${last("mo")} ${last("mn")}`;
  const error = errorOfNumber(printed, spread(falling, temperature, count)[0]);
  return isNamed ? error : NaN;
}

/**
 * Entropy and perplexity before and after.
 *
 * @param {Float64Array} falling
 * @param {{count: number, temperature: number}} after
 * @param {HTMLElement} facts
 */
function errorOfFacts(falling, { count, temperature }, facts) {
  /** @param {number[]} shares */
  const nats = (shares) => -shares.reduce((sum, p) => (p > 0 ? sum + p * Math.log(p) : sum), 0);
  const [before, then] = [
    nats(spread(falling, 1, falling.length)),
    nats(spread(falling, temperature, count)),
  ];
  /** @type {[string, number][]} */
  const expected = [
    ["entropy-before", before],
    ["entropy-after", then],
    ["perplexity-before", Math.exp(before)],
    ["perplexity-after", Math.exp(then)],
  ];
  const errors = expected.map(([name, value]) => {
    const printed = facts.querySelector(`[data-number=${name}]`)?.textContent ?? "";
    return errorOfNumber(printed, value) / Math.max(1, value);
  });
  return Math.max(...errors);
}
