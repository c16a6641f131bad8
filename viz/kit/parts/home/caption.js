// What is shown, in words: pieces of text and tokens. Numbers are the run's own.

import { digits, html, share } from "../../dom.js";
import { goalOf } from "./goals.js";

/** @import { Head, Run } from "./numbers.js" */
/** @import { Scene } from "./scene.js" */

/** @typedef {(Node | string)[]} Words */
/**
 * The scene, names of what the answer is taken from, and whether a person looks at something, or points
 * at what positions add.
 *
 * @typedef {Scene & {label: (place: number) => string, isLooking: boolean, isFilled: boolean, isAtPositions: boolean}} Told
 */

const NAMED = 3; // words in a sentence about a query
const WORTH = 0.05; // a weight that is named

/** @param {string} label */
export function quoted(label) {
  return html("b", { translate: "no" }, `“${label}”`);
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
  return chance ? [quoted(label(0)), ` (${byModel(chance)})`] : ["…"];
}

/** @param {Told["chance"]} chance */
function byModel(chance) {
  return `${share(chance?.before[0] ?? NaN)} by the model`;
}

/**
 * While it plays: what happens now.
 *
 * @param {Told} told
 * @returns {Words}
 */
function narrated(told) {
  const { run, time } = told;
  const { d_model, vocab_size, position, has_positions } = run.spec;
  const { cut, each, all, gives } = goalOf(run.spec);
  switch (time.stage.kind) {
    case "tokens":
      return [cut];
    case "embed":
      return [
        `Each ${each} becomes ${d_model} numbers. `,
        has_positions
          ? `Where it stands is added: ${position}.`
          : `${position} tells where it stands.`,
      ];
    case "column":
      return atColumn(told, time.stage.column);
    case "next":
      if (gives) return resting(told);
      return [
        "The vector of ",
        quoted(run.spec.labels[run.asked]),
        ` is compared with all ${vocab_size.toLocaleString("en")} ${all}. Most likely is `,
        ...mostLikely(told),
        ".",
      ];
    default:
      return taken(told);
  }
}

/**
 * @param {Told} told
 * @param {number} column
 * @returns {Words}
 */
function atColumn({ run }, column) {
  const { title, name, layer, n_heads, keys, band } = run.spec.columns[column];
  const which = name === "cross" ? "Cross-attention" : title.trim();
  const query = run.queryIn(run.asked, column);
  const { head, key, value, column: where } = run.sharpest([column], query);
  const others = keys === band ? goalOf(run.spec).others : "the source";
  return [
    which ? `${which}, layer ${layer}` : `Layer ${layer}`,
    `: in ${n_heads} heads `,
    quoted(run.spec.labels[query]),
    ` attends to ${others}. Strongest, ${run.nameOf({ column: where, head })}: `,
    quoted(run.spec.labels[key]),
    ` ${digits(value, 2)}.`,
  ];
}

/**
 * Which token it is, and what becomes of it.
 *
 * @param {Told} told
 * @returns {Words}
 */
function taken(told) {
  const { run, time, drawn, label, chance } = told;
  if (!drawn || !chance) return resting(told);
  const it = quoted(label(drawn.place));
  if (time.at >= time.FLY) return [it, ` ${goalOf(run.spec).joins}`];
  const had = share(chance.probs[drawn.place]);
  if (drawn.at !== null)
    return [`A random number, ${digits(drawn.at, 2)}, falls on `, it, `, which had ${had}.`];
  const which = drawn.place ? `number ${drawn.place + 1} of the list` : "the most likely one";
  return [it, `, ${which}, is taken: ${had}.`];
}

/**
 * At rest, with nothing looked at.
 *
 * @param {Told} told
 * @returns {Words}
 */
function resting(told) {
  const { run, isFilled } = told;
  const { spec } = run;
  const { hint } = goalOf(spec);
  const hand = matchMedia("(hover: none)").matches ? "Tap" : "Point at";
  return [
    ...answered(told),
    ...(isFilled ? stood(told) : []),
    (run.canGoOn || hint ? null : spec.why_no_more) ?? hint ?? `${hand} a word or a small map.`,
  ];
}

/**
 * What the model says in the end, if it says anything.
 *
 * @param {Told} told
 * @returns {Words}
 */
function answered({ run: { spec, asked }, chance, label }) {
  const { isSampled, rests, gives } = goalOf(spec);
  const [before, behind] = rests;
  if (gives) return [before];
  /** @type {(p: number) => string} */
  const said = (p) => (isSampled ? `${byModel(chance)}, ${share(p)} at these sliders` : share(p));
  return [
    ...(behind ? [before, quoted(spec.labels[asked]), behind] : [before]),
    ...(chance ? [quoted(label(0)), ` (${said(chance.probs[0])})`] : ["…"]),
    ". ",
  ];
}

/**
 * What stood where a token is hidden.
 *
 * @param {Told} told
 * @returns {Words}
 */
function stood({ run, chance }) {
  const found = run.spec.hidden.find(([row]) => row === run.asked);
  if (!found || !chance) return [];
  const [, label, id] = found;
  const place = chance.ids.indexOf(id);
  if (!place) return ["Correct. "];
  const guess = `: its guess number ${(place + 1).toLocaleString("en")}`;
  return ["Hidden was ", quoted(label), guess, ` (${share(chance.before[place])}). `];
}

/**
 * Of a word or a head that is looked at.
 *
 * @param {Told} told
 * @returns {Words}
 */
function lookedAt(told) {
  const { run, focus } = told;
  const query = focus ? run.queryIn(told.query, focus.column) : told.query;
  const from = quoted(run.spec.labels[query]);
  if (focus)
    return [`${run.nameOf(focus)}: `, from, " attends to ", ...attends(run, query, focus), "."];
  const isOther = query !== run.asked && run.hasAnswer(query);
  const expected = isOther ? [` ${goalOf(run.spec).expected} `, ...mostLikely(told), "."] : [];
  return [
    "On average over all heads, ",
    from,
    " attends to ",
    ...attends(run, query, null),
    ".",
    ...expected,
  ];
}

/** @param {Run} run */
function atPositions({ spec }) {
  const added = `Added to each ${goalOf(spec).each}, for where it stands: ${spec.position}.`;
  return [spec.waves ? `${added} A click opens Positional encoding.` : added];
}

/**
 * @param {Told} told
 * @returns {Words}
 */
export function captioned(told) {
  const { time, isLooking, isAtPositions, run } = told;
  if (isAtPositions) return atPositions(run);
  if (isLooking) return lookedAt(told);
  return !time.isPlaying && time.at >= time.DRAW ? resting(told) : narrated(told);
}
