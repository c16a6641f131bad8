// What a model is asked, by the name that Python has for it: how its answer is taken, and how Home
// speaks of that.

import { placeAt } from "../../sampling.js";

/** @import { Chance } from "./answers.js" */
/** @import { HomeSpec, Run } from "./numbers.js" */

/**
 * The place of the list that is taken, and the random number that fell on it, where one did.
 *
 * @typedef {{at: number | null, place: number}} Drawn
 */

/**
 * @typedef {object} Goal
 * @property {string} title of the list of answers
 * @property {string} end what the last stage is called
 * @property {string} from how the answer's row is named: after “x”, or in the place of it
 * @property {string} cut what happens first
 * @property {string} each what each row of the input is called
 * @property {string} all what the last vector is compared with
 * @property {string} others what a row attends to
 * @property {[string, string?]} rests what is said at the end before the answer, around its row
 * @property {string} expected what is said before what the model says at another row
 * @property {string | null} hint what a person can do then, if not to point
 * @property {string} joins what becomes of a token that is taken
 * @property {boolean} isSampled whether temperature and top-p decide
 * @property {((spec: HomeSpec) => string) | null} gives what comes out where there are no answers
 * @property {boolean} canWrite whether a person can ask for more tokens
 * @property {boolean} canChoose whether the text goes on with any token that a person clicks
 * @property {boolean} canHide whether a click on a word hides it
 * @property {number} writes tokens that it takes without being asked
 * @property {((chance: Chance, run: Run) => Drawn) | null} take which token is taken; null: none
 */

/** @returns {Drawn} */
function mostLikely() {
  return { at: null, place: 0 };
}

/** @param {Chance} chance @returns {Drawn} */
function drawn({ probs }) {
  const at = Math.random();
  return { at, place: placeAt(probs, at) };
}

/**
 * The token that came there when the text was written.
 *
 * @param {Chance} chance
 * @param {Run} run
 * @returns {Drawn}
 */
function written({ ids }, { n, spec }) {
  return { at: null, place: Math.max(0, ids.indexOf(spec.came[n - 1 + spec.begins])) };
}

/** Of a model that is only looked at. */
const LOOKED_AT = {
  all: "",
  from: "",
  expected: "",
  hint: null,
  gives: null,
  joins: "",
  isSampled: false,
  canWrite: false,
  canChoose: false,
  canHide: false,
  writes: 0,
  take: null,
};

/**
 * Of a text that is written token by token.
 *
 * @type {Omit<Goal, "cut">}
 */
const NEXT_TOKEN = {
  ...LOOKED_AT,
  title: "Next token",
  end: "next token",
  from: "after",
  each: "token",
  others: "other tokens",
  all: "tokens",
  rests: ["After ", " the most likely token is "],
  expected: "It expected",
  canWrite: true,
  canChoose: true,
};

/** @type {Goal} */
const TARGET = {
  ...NEXT_TOKEN,
  cut: "Above the text to translate; below the translation, as far as it is written.",
  joins: "joins the translation, and the decoder runs once more.",
  writes: Infinity,
  take: written,
};

/**
 * Of a model that says nothing: it is only looked at.
 *
 * @param {string} each
 * @param {string} cut
 * @param {string} others
 * @returns {Goal}
 */
function lookedAt(each, cut, others) {
  return {
    ...LOOKED_AT,
    title: `One vector for each ${each}`,
    end: "last vectors",
    cut,
    each,
    others,
    rests: [`In each layer each ${each} attended to ${others}. `],
    gives: ({ d_model, has_stream }) =>
      `This model gives no words: after its last layer each ${each} is a vector of ` +
      `${d_model.toLocaleString("en")} numbers.` +
      (has_stream ? " Some of them stand at the end of its line." : "") +
      (each === "token" ? " One vector for the sentence is often their mean." : ""),
  };
}

/** @type {Record<"next" | "hidden" | "target" | "written" | "class" | "vectors" | "patches", Goal>} */
export const GOALS = {
  next: {
    ...NEXT_TOKEN,
    cut: "The text is cut into tokens, words and parts of words.",
    joins: "joins the text, and it all runs once more.",
    isSampled: true,
    take: drawn,
  },
  hidden: {
    ...LOOKED_AT,
    title: "Hidden token",
    end: "hidden token",
    from: "at",
    cut: "The text is cut into tokens. What is hidden is [MASK] to the model.",
    each: "token",
    others: "the tokens on both sides",
    all: "tokens",
    rests: ["In the place of ", " the most likely token is "],
    expected: "In its place the model says",
    hint: "Click a word to hide it, or again to show it.",
    joins: "is what the model puts there.",
    canHide: true,
    writes: 1,
    take: mostLikely,
  },
  target: TARGET,
  written: {
    ...TARGET,
    cut: "Above the text; below what the model makes of it, as far as it is written.",
    joins: "joins what is written, and the decoder runs once more.",
    canChoose: false,
  },
  class: {
    ...LOOKED_AT,
    title: "Class",
    end: "class",
    from: "at",
    cut: "The picture is cut into patches; a class token, [CLS], is put before them.",
    each: "patch",
    others: "the patches",
    all: "classes",
    rests: ["The most likely class is "],
    hint: "Point at a patch or a small map.",
  },
  vectors: lookedAt("token", "The text is cut into tokens.", "other tokens"),
  patches: lookedAt("patch", "The picture is cut into patches.", "other patches"),
};

/** @param {HomeSpec} spec */
export function goalOf({ goal }) {
  return GOALS[goal];
}
