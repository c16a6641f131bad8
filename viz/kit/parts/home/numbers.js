// The numbers of one run that Home draws. A row is a token or a patch of one of its bands, counted
// over all of them; where words are folded, one row stands for several of them, and is no query.

import { reach } from "../../measures.js";
import { Following } from "./answers.js";
import { goalOf } from "./goals.js";
import { headName } from "../../names.js";

/** @import { Numbers } from "../../maths.js" */

/** The first token is an attention sink where more than this share of the heads give it more than it. */
const SINK = 0.5;

/**
 * A head: a column of the picture, and the number of its map in it.
 *
 * @typedef {{column: number, head: number}} Head
 */

/**
 * An attention layer.
 *
 * @typedef {object} Column
 * @property {string} title what stands before the name of a head, empty where there is one kind
 * @property {"layer" | "cross"} name
 * @property {number} layer
 * @property {string} group as in an address: decoder.attn
 * @property {number} band of its queries
 * @property {number} keys the band of its keys
 * @property {number} n_heads
 * @property {number} at which state of its band it makes
 * @property {number | null} mlp which MLP follows, if one does
 * @property {string} opens an address of a head's own page, with {head} in it, or empty
 */

/**
 * What Python says of a run.
 *
 * @typedef {object} HomeSpec
 * @property {string} key another one when the numbers are
 * @property {boolean} plays whether it plays when it is opened
 * @property {keyof typeof import("./goals.js").GOALS} goal
 * @property {string[]} labels of the rows
 * @property {string[]} axis the same, short and escaped for Plotly
 * @property {import("../../wire.js").Looks} [looks] where there is something to show of them
 * @property {number[]} folded rows that stand for several tokens
 * @property {{name: string, from: number, to: number}[]} bands their rows
 * @property {Column[]} columns in the order of the forward pass
 * @property {number} asked the row whose output answers
 * @property {number} begins what makes a row of the last band the place of its token
 * @property {[number, number]} answers rows that have an output
 * @property {[number, string, number][]} hidden rows, what stood there, and its id
 * @property {number[]} came the id that came after each place of the last text
 * @property {number} side patches in a row of the picture; 0: it is a text
 * @property {number} n_tokens of the whole text
 * @property {number} d_model
 * @property {number} vocab_size
 * @property {string} position the scheme, in words
 * @property {boolean} has_positions whether vectors are added to the embeddings
 * @property {string} waves an address of the page about them, or empty
 * @property {boolean} has_stream whether lengths and vectors of the residual stream are known
 * @property {string | null} why_no_more why the text cannot go on
 * @property {[number, number] | null} refused a drawn token that cannot stand there
 * @property {[number, number] | null} after its length before, and the token it went on with
 * @property {number} slack a cut that rounding alone would move
 * @property {Record<string, {low: number, high: number, step: number}>} bounds of the sliders
 */

/**
 * Of all C columns, H heads at most, N rows and S states.
 *
 * @typedef {object} HomeArrays
 * @property {Numbers} pattern (C, H, N, N)
 * @property {Numbers} mask (C, N, N), 1 where any head of a column may attend
 * @property {Numbers} norms (S, N), lengths of the residual stream: before, between, after
 * @property {Numbers} embed (N, 24) of each vector some numbers
 * @property {Numbers} positions (N, 24)
 * @property {Numbers} ffn (M, N, 24), what each MLP adds
 * @property {Numbers} [last] (N, 24) after the last layer, where there are no answers
 * @property {Numbers} [pixels] (S, S) of a picture
 */

export class Run {
  /** What it says at each row, as far as it was asked for. @type {Following} */
  following;
  /** @type {{row: number, resting: number, heads: number, isOne: boolean} | undefined} */
  #sink;

  /**
   * @param {HomeSpec} spec
   * @param {HomeArrays} arrays
   * @param {number} [n] rows that are shown: of a text that is still being written the first ones
   */
  constructor(spec, arrays, n = spec.labels.length) {
    this.spec = spec;
    this.arrays = arrays;
    this.n = n;
    this.size = spec.labels.length; // rows of the arrays
    this.mostHeads = Math.max(...spec.columns.map(({ n_heads }) => n_heads));
    this.mostNorm = reach(arrays.norms);
  }

  /**
   * The same run when it had fewer rows: later ones changed nothing of them.
   *
   * @param {number} n
   */
  upTo(n) {
    return Object.assign(new Run(this.spec, this.arrays, n), { following: this.following });
  }

  /** A text that is known to its end is written once more: from its first token on. */
  fromStart() {
    const { came, bands, folded } = this.spec;
    const { from } = bands[bands.length - 1];
    return came.length ? this.upTo(folded.includes(from) ? this.size : from + 1) : this;
  }

  /** The row whose output answers. */
  get asked() {
    return this.n < this.size ? this.n - 1 : this.spec.asked;
  }

  /** Tokens of the text so far. */
  get nTokens() {
    return this.spec.n_tokens - (this.size - this.n);
  }

  /** Whether rows are still to come, or Python can go on with the text. */
  get canGoOn() {
    return this.n < this.size || this.spec.why_no_more === null;
  }

  /** @param {number} row */
  isToken(row) {
    return row >= 0 && row < this.n && !this.spec.folded.includes(row);
  }

  /** @param {number} row */
  hasAnswer(row) {
    const [from, to] = this.spec.answers;
    return row >= from && row < to;
  }

  /** @param {number} row */
  bandOf(row) {
    return this.spec.bands.findIndex(({ to }) => row < to);
  }

  /**
   * The rows of a band that are shown.
   *
   * @param {number} band
   */
  rowsOf(band) {
    const { from, to } = this.spec.bands[band];
    return { from, to: Math.min(to, this.n) };
  }

  /** @param {number} band */
  columnsOf(band) {
    return this.spec.columns.flatMap((column, i) => (column.band === band ? [i] : []));
  }

  /**
   * @param {number} column
   * @returns {Head[]}
   */
  headsOf(column) {
    const { n_heads } = this.spec.columns[column];
    return Array.from({ length: n_heads }, (_, head) => ({ column, head }));
  }

  /**
   * @param {number} column
   * @param {number} head
   * @param {number} query
   * @param {number} key
   */
  weight(column, head, query, key) {
    const map = column * this.mostHeads + head;
    return this.arrays.pattern[(map * this.size + query) * this.size + key];
  }

  /**
   * @param {number} column
   * @param {number} query
   * @param {number} key
   */
  isMasked(column, query, key) {
    return !this.arrays.mask[(column * this.size + query) * this.size + key];
  }

  /**
   * Whether no layer lets a row of the same text attend to another.
   *
   * @param {number} query
   * @param {number} key
   */
  isLater(query, key) {
    const band = this.bandOf(query);
    const own = this.columnsOf(band).filter((i) => this.spec.columns[i].keys === band);
    return this.bandOf(key) === band && own.every((column) => this.isMasked(column, query, key));
  }

  /**
   * What a query attends to in a head, or on average in all of a column, or in all that it is in.
   *
   * @param {number} query
   * @param {Partial<Head> | null} focus
   * @returns {number[]}
   */
  row(query, focus) {
    const columns =
      focus?.column === undefined ? this.columnsOf(this.bandOf(query)) : [focus.column];
    const mean = Array.from({ length: this.n }, () => 0);
    for (const column of columns) {
      const { n_heads } = this.spec.columns[column];
      const [from, to] = focus?.head === undefined ? [0, n_heads] : [focus.head, focus.head + 1];
      for (let head = from; head < to; head++)
        for (let key = 0; key < this.n; key++)
          mean[key] += this.weight(column, head, query, key) / (columns.length * (to - from));
    }
    return mean;
  }

  /**
   * The first row of the text, how many heads of its layers give it more than half of the attention
   * of the rows after it, how many there are, and whether it is an attention sink.
   */
  get sink() {
    if (this.#sink) return this.#sink;
    const main = this.spec.bands.length - 1;
    const { from, to } = this.rowsOf(main);
    const queries = [...Array(to).keys()].filter((row) => row > from && this.isToken(row));
    const own = this.columnsOf(main).filter((column) => this.spec.columns[column].keys === main);
    const given = own
      .flatMap((column) => this.headsOf(column))
      .map(({ column, head }) =>
        queries.reduce((sum, query) => sum + this.weight(column, head, query, from), 0),
      );
    const resting = given.filter((sum) => sum > SINK * queries.length).length;
    const [heads, isOne] = [given.length, resting > SINK * given.length];
    return (this.#sink = { row: from, resting, heads, isOne });
  }

  /**
   * The row to look from in a column: the query, or of another text the last row.
   *
   * @param {number} query
   * @param {number} column
   */
  queryIn(query, column) {
    const { from, to } = this.rowsOf(this.spec.columns[column].band);
    if (query >= from && query < to) return query;
    let row = to - 1;
    while (row > from && !this.isToken(row)) row -= 1;
    return row;
  }

  /**
   * The length of a token's vector in a state, from 0 to 1 of the longest.
   *
   * @param {number} state
   * @param {number} token
   */
  length(state, token) {
    return this.spec.has_stream
      ? this.arrays.norms[state * this.size + token] / this.mostNorm
      : 0.3;
  }

  /**
   * The strongest attention of a query to one token, in one head of some columns.
   *
   * @param {number[]} columns
   * @param {number} query
   */
  sharpest(columns, query) {
    let best = { column: 0, head: 0, key: 0, value: -1 };
    for (const of of columns.flatMap((column) => this.headsOf(column)))
      this.row(query, of).forEach((value, key) => {
        if (value > best.value && !this.spec.folded.includes(key)) best = { ...of, key, value };
      });
    return best;
  }

  /**
   * A head as an address spells it: decoder.attn.2.3.
   *
   * @param {Head} head
   */
  spelled({ column, head }) {
    const { group, layer } = this.spec.columns[column];
    return `${group}.${layer}.${head}`;
  }

  /**
   * The head of a spelling, if there is one.
   *
   * @param {string} at
   * @returns {Head | null}
   */
  headAt(at) {
    const all = this.spec.columns.flatMap((_, column) => this.headsOf(column));
    return all.find((head) => this.spelled(head) === at) ?? null;
  }

  /**
   * What a head is called.
   *
   * @param {Head} head
   */
  nameOf({ column, head }) {
    const { title, layer } = this.spec.columns[column];
    return `${title}${headName(layer, head)}`;
  }
}

const ARRAYS = ["pattern", "mask", "norms", "embed", "positions", "ffn"];

/**
 * A run, and what each id of the vocabulary is called.
 *
 * @param {import("../../model.js").Model} model
 * @param {HomeSpec} spec
 */
export async function loadRun(model, spec) {
  const isAnswered = !goalOf(spec).gives;
  const names = [...ARRAYS, ...(isAnswered ? [] : ["last"]), ...(spec.side ? ["pixels"] : [])];
  const following = new Following((query) => model.load("logits", query - spec.answers[0]));
  following.after(spec.asked); // it is asked for along with the rest
  const loads = ["vocabulary", ...names].map((name) => model.load(name));
  const [vocabulary, ...arrays] = await Promise.all(loads);
  const found = Object.fromEntries(names.map((name, i) => [name, arrays[i].values]));
  const run = new Run(spec, /** @type {HomeArrays} */ (/** @type {unknown} */ (found)));
  run.following = following;
  const words = new TextDecoder().decode(/** @type {Uint8Array} */ (vocabulary.values));
  return { run, vocabulary: /** @type {string[]} */ (JSON.parse(words)) };
}
