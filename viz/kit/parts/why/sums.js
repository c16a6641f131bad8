// One row of scores as sums of terms, and the softmax of it without some. Terms come as float32; sums
// run in float64.

import { matrix, softmaxRows } from "../../maths.js";

/** @import { Decoded } from "../../arrays.js" */
/** @import { Numbers } from "../../maths.js" */
/** @import { WhyData } from "../why.js" */

/** Which sum terms are of. @typedef {"kinds" | "words" | "query" | "keys"} Of */

/**
 * What is taken away: the numbers of terms of one sum, and whether what is added to the products goes
 * with them.
 *
 * @typedef {{of: Of, numbers: number[], withAdded: boolean}} Taken
 */

const WORDS = /^words:(\d*)\.(\d*)$/;
const ONE = /^(query|key|kind):(.+)$/;

/**
 * What a setting says is taken away; null for nothing that is here.
 *
 * @param {WhyData} data
 * @param {string} setting
 * @returns {Taken | null}
 */
export function takenOf(data, setting) {
  const [, a, b] = WORDS.exec(setting) ?? [];
  if (a || b) return wordsTaken(data, a, b);
  const [, of, name] = ONE.exec(setting) ?? [];
  if (of === "kind") return kindTaken(data, name);
  if (of !== "query" && of !== "key") return null;
  if (!data.writers[of][Number(name)]) return null;
  return { of: of === "key" ? "keys" : "query", numbers: [Number(name)], withAdded: false };
}

/**
 * @param {WhyData} data
 * @param {string} name
 * @returns {Taken | null}
 */
function kindTaken({ kinds }, name) {
  const kind = kinds.find((one) => one.name === name);
  if (!kind) return null;
  const [i, j] = kind.sides;
  return { of: "kinds", numbers: [2 * i + j], withAdded: name === "place" };
}

/**
 * @param {WhyData} data
 * @param {string} a the number of a part of the query; "" for all
 * @param {string} b and of the key
 * @returns {Taken | null}
 */
function wordsTaken({ words }, a, b) {
  const [n, m] = [words.query.length, words.key.length];
  const some = (/** @type {string} */ text, /** @type {number} */ most) =>
    text ? [Number(text)].filter((i) => i < most) : [...Array(most).keys()];
  const numbers = some(a, n).flatMap((i) => some(b, m).map((j) => i * m + j));
  return numbers.length ? { of: "words", numbers, withAdded: false } : null;
}

export class Sums {
  /** Terms by sum, and the same centred, each worked out once. @type {Map<string, any>} */
  #kept = new Map();

  /**
   * @param {Record<string, Decoded>} arrays
   * @param {WhyData} data
   */
  constructor(arrays, { at, kinds, softcap, sink }) {
    this.arrays = arrays;
    this.kinds = kinds;
    this.key = at[1];
    this.softcap = softcap;
    this.sink = sink ?? -Infinity;
    /** The keys that the query may attend to. */
    this.seen = [...arrays.seen.values.keys()].filter((key) => arrays.seen.values[key]);
    this.n = arrays.seen.values.length;
  }

  /**
   * A key's number less the mean over the keys that are seen, or less another key's.
   *
   * @param {Numbers} row (Tk)
   * @param {number | null} other
   */
  against(row, other) {
    if (other !== null) return row[this.key] - row[other];
    const sum = this.seen.reduce((all, key) => all + row[key], 0);
    return row[this.key] - sum / this.seen.length;
  }

  /**
   * All terms of one sum, less the mean, or another key's.
   *
   * @param {Of} of
   * @param {number | null} other
   * @returns {number[]}
   */
  centred(of, other) {
    return this.#once(`${of} ${other}`, () =>
      this.#rows(of).map((row) => this.against(row, other)),
    );
  }

  /**
   * The same of what is added to the products.
   *
   * @param {number | null} other
   */
  added(other) {
    return this.against(this.arrays.added.values, other);
  }

  /**
   * What each kind gives; they add up to the score.
   *
   * @param {number | null} other
   */
  ofKinds(other) {
    const centred = this.centred("kinds", other);
    return this.kinds.map(
      ({ name, sides: [i, j] }) => centred[2 * i + j] + (name === "place" ? this.added(other) : 0),
    );
  }

  /**
   * The row of weights (Tk) without something.
   *
   * @param {Taken} taken
   */
  without({ of, numbers, withAdded }) {
    const rows = this.#rows(of);
    const gone = summed(
      numbers.map((i) => rows[i]),
      this.n,
    );
    const added = this.arrays.added.values;
    const scores = this.#whole(of).map((x, i) => x - gone[i] + (withAdded ? 0 : added[i]));
    return this.#weights(scores);
  }

  /** @param {Float64Array} scores before the soft cap */
  #weights(scores) {
    const cap = this.softcap;
    const seen = matrix(1, this.n, new Float64Array(this.n).fill(-Infinity));
    for (const key of this.seen)
      seen.values[key] = cap === null ? scores[key] : cap * Math.tanh(scores[key] / cap);
    return softmaxRows(seen, 1, this.sink).values;
  }

  /**
   * @param {Of} of
   * @returns {Numbers[]}
   */
  #rows(of) {
    const { values } = this.arrays[of];
    return this.#once(of, () =>
      Array.from({ length: values.length / this.n }, (_, i) =>
        values.subarray(i * this.n, (i + 1) * this.n),
      ),
    );
  }

  /**
   * The row of scores (Tk) by one sum, without what is added.
   *
   * @param {Of} of
   * @returns {Float64Array}
   */
  #whole(of) {
    return this.#once(`sum of ${of}`, () => summed(this.#rows(of), this.n));
  }

  /**
   * @param {string} name
   * @param {() => any} make
   */
  #once(name, make) {
    if (!this.#kept.has(name)) this.#kept.set(name, make());
    return this.#kept.get(name);
  }
}

/**
 * @param {Numbers[]} rows
 * @param {number} n
 */
function summed(rows, n) {
  const sums = new Float64Array(n);
  for (const row of rows) for (let i = 0; i < n; i++) sums[i] += row[i];
  return sums;
}
