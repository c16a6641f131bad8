// What is shown, in words: pieces of text and tokens. Numbers are the run's own.

import { digits, html } from "../../dom.js";
import { EMBED, LAYERS } from "./timeline.js";

/** @import { Head, Run } from "./numbers.js" */
/** @import { Scene } from "./scene.js" */

/** @typedef {(Node | string)[]} Words */
/**
 * The scene, names of what follows, and whether a person looks at something.
 *
 * @typedef {Scene & {label: (place: number) => string, isLooking: boolean}} Told
 */

const NAMED = 3; // words in a sentence about a query
const WORTH = 0.05; // a weight that is named

/** @param {string} label */
export function quoted(label) {
  return html("b", { translate: "no" }, `“${label}”`);
}

/** @param {number} p */
export function percent(p) {
  return p > 0 && p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`;
}

/**
 * “animal” 0.41, “the” 0.22 and itself 0.10: what a query attends to, in one head or on average.
 *
 * @param {Run} run
 * @param {number} query
 * @param {Head | null} focus
 * @returns {Words}
 */
export function attends(run, query, focus) {
  const named = run
    .row(query, focus)
    .map((value, key) => ({ value, key }))
    .sort((a, b) => b.value - a.value)
    .filter(({ value }, i) => !i || value >= WORTH)
    .slice(0, NAMED);
  return named.flatMap(({ value, key }, i) => [
    i ? (i === named.length - 1 ? " and " : ", ") : "",
    key === query ? "itself" : quoted(run.spec.labels[key]),
    ` ${digits(value, 2)}`,
  ]);
}

/**
 * @param {Told} told
 * @returns {Words}
 */
function mostLikely({ chance, label }) {
  if (!chance) return ["…"];
  return [quoted(label(0)), ` (${percent(chance.before[0])} by the model)`];
}

/**
 * While it plays: what happens now.
 *
 * @param {Told} told
 * @returns {Words}
 */
function narrated(told) {
  const { run, time, drawn, label, chance } = told;
  const { n_layers, n_heads, d_model, vocab_size, position, has_positions } = run.spec;
  const query = quoted(run.spec.labels[run.n - 1]);
  if (time.at >= time.FLY && drawn)
    return [quoted(label(drawn.place)), " joins the text, and it all runs once more."];
  if (time.at >= time.DRAW && drawn && chance)
    return [
      `A random number, ${digits(drawn.at, 2)}, falls on `,
      quoted(label(drawn.place)),
      `, which had ${percent(chance.probs[drawn.place])}.`,
    ];
  if (time.at >= time.NEXT)
    return [
      `The vector of `,
      query,
      ` is compared with all ${vocab_size.toLocaleString("en")} tokens. Most likely is `,
      ...mostLikely(told),
      ".",
    ];
  if (time.at >= LAYERS) {
    const layer = Math.min(Math.floor(time.at) - LAYERS, n_layers - 1);
    const { head, key, value } = run.sharpest(layer, run.n - 1);
    return [
      `Layer ${layer}: ${n_heads} heads let `,
      query,
      " take up what other words hold. Strongest so far, head ",
      `${head}: `,
      quoted(run.spec.labels[key]),
      ` ${digits(value, 2)}.`,
    ];
  }
  if (time.at >= EMBED)
    return [
      `Each token becomes ${d_model} numbers. `,
      has_positions
        ? `Where it stands is added: ${position}.`
        : `${position} tells where it stands.`,
    ];
  return ["The text is cut into tokens, words and parts of words."];
}

/**
 * At rest, with nothing looked at.
 *
 * @param {Told} told
 * @returns {Words}
 */
function resting(told) {
  const { run, chance, label } = told;
  const why = run.spec.why_no_more;
  const query = quoted(run.spec.labels[run.n - 1]);
  const hand = matchMedia("(hover: none)").matches ? "Tap" : "Point at";
  return [
    "After ",
    query,
    " the most likely token is ",
    ...(chance ? [quoted(label(0)), ` (${percent(chance.probs[0])} at these sliders)`] : ["…"]),
    ". ",
    why ?? `${hand} a word or a small map.`,
  ];
}

/**
 * Of a word or a head that is looked at.
 *
 * @param {Told} told
 * @returns {Words}
 */
function lookedAt(told) {
  const { run, query, focus } = told;
  const from = quoted(run.spec.labels[query]);
  if (focus)
    return [
      `Layer ${focus.layer}, head ${focus.head}: `,
      from,
      " attends to ",
      ...attends(run, query, focus),
      ".",
    ];
  const expected = query < run.n - 1 ? [" It expected ", ...mostLikely(told), "."] : [];
  return [
    "On average over all heads, ",
    from,
    " attends to ",
    ...attends(run, query, null),
    ".",
    ...expected,
  ];
}

/**
 * @param {Told} told
 * @returns {Words}
 */
export function captioned(told) {
  const { time, isLooking } = told;
  if (isLooking) return lookedAt(told);
  return !time.isPlaying && time.at >= time.DRAW ? resting(told) : narrated(told);
}
