// How the picture moves: a pass from left to right, a random number, and the token it falls on, with
// which Python goes on while it flies to the text.

import { EMBED, Timeline } from "./timeline.js";
import { placeAt } from "./numbers.js";

/** @import { Chance, HomeSpec, Run, Sorted } from "./numbers.js" */
/** @import { Flight } from "./tokens.js" */

const STILL_MS = 700; // between two tokens where nothing moves

/** @typedef {{run: Run, sorted: Sorted}} Coming a run, and what follows its last token */

/**
 * What the film has others do.
 *
 * @typedef {object} Crew
 * @property {() => Chance | null} chance what the next token is drawn from
 * @property {(place: number) => {n: number, id: number, flight: Flight} | null} takeOff the token at a
 *   place of the list leaves it: Python is asked to go on with it
 * @property {(coming: Coming) => void} land it has become a token of the text
 */

export class Film {
  time = new Timeline(1);
  left = 0; // tokens still to be written
  isGrown = false; // whether all but the last token were shown before
  /** @type {{at: number, place: number} | null} */
  drawn = null;
  /** @type {Flight | null} */
  flight = null;
  /** What Python was asked to go on with. @type {{n: number, id: number} | null} */
  #asked = null;
  /** @type {Coming | null} */
  #coming = null;
  #waited = 0;
  #isFresh = false; // nothing was written since a person asked for it: a new sentence goes on, too

  /**
   * @param {boolean} isStill whether nothing moves
   * @param {Crew} crew
   */
  constructor(isStill, crew) {
    this.isStill = isStill;
    this.crew = crew;
  }

  /**
   * Play a text from its beginning, slowly the first time.
   *
   * @param {number} n_layers
   * @param {boolean} isFirst
   */
  begin(n_layers, isFirst) {
    this.#abort();
    this.time = new Timeline(n_layers);
    this.time.isFirst = isFirst;
    if (!this.#isFresh) this.left = 0;
    this.isGrown = false;
    if (this.isStill) this.time.at = this.time.DRAW;
    else this.time.isPlaying = true;
  }

  /** @param {number} count tokens */
  write(count) {
    [this.left, this.time.isPlaying, this.#isFresh] = [count, true, true];
    this.time.at = Math.max(this.time.at, this.time.DRAW); // whoever asks for more has seen enough
  }

  pause() {
    const isFlying = this.flight !== null;
    [this.left, this.time.isPlaying] = [isFlying ? 1 : 0, isFlying];
    this.#isFresh = false;
  }

  /** @param {number} at the stage to go to */
  seek(at) {
    if (this.flight) return; // Python is at work on it
    [this.time.at, this.time.isPlaying, this.left] = [Math.min(at, this.time.DRAW), false, 0];
  }

  /**
   * Take a run that goes on with what was drawn; says whether it is one.
   *
   * @param {Coming} coming
   */
  goesOn(coming) {
    const isMine = this.#isAsked(coming.run.spec.after);
    if (isMine) this.#coming = coming;
    return isMine;
  }

  /** @param {[number, number] | null} appended */
  #isAsked(appended) {
    const { n, id } = this.#asked ?? {};
    return appended !== null && appended[0] === n && appended[1] === id;
  }

  /**
   * Hear that the text cannot go on with what was drawn: another is drawn, or none.
   *
   * @param {HomeSpec} spec
   */
  hear({ refused, why_no_more }) {
    if (!this.#asked) return;
    if (why_no_more) this.left = 0;
    if (why_no_more || this.#isAsked(refused)) this.#abort();
  }

  /** What the number that was drawn falls on, after a slider was moved. */
  drawAgain() {
    const chance = this.crew.chance();
    if (this.drawn && chance && !this.flight) this.drawn.place = placeAt(chance, this.drawn.at);
  }

  /** @param {number} ms */
  advance(ms) {
    const { time } = this;
    if (this.isStill) this.#jump(ms);
    else time.advance(ms, this.left ? time.END : time.DRAW);
    if (!this.left) {
      if (time.at >= time.DRAW) time.isPlaying = false;
      return;
    }
    if (time.at >= time.DRAW) this.#roll();
    if (time.at >= time.FLY) this.#takeOff();
    if (time.at >= time.END) this.#land();
  }

  /**
   * Without movement: from one end to the next.
   *
   * @param {number} ms
   */
  #jump(ms) {
    const { time } = this;
    this.#waited += ms;
    time.at = this.left && this.#waited > STILL_MS ? time.END : Math.max(time.at, time.DRAW);
  }

  /** A random number decides what comes next. */
  #roll() {
    const chance = this.drawn ? null : this.crew.chance();
    if (!chance) return;
    const at = Math.random();
    this.drawn = { at, place: placeAt(chance, at) };
  }

  #takeOff() {
    const found = this.drawn && !this.flight ? this.crew.takeOff(this.drawn.place) : null;
    if (!found) return;
    this.flight = found.flight;
    this.#asked = { n: found.n, id: found.id };
  }

  /** It has become a token of the text, and everything runs again. */
  #land() {
    if (!this.#coming) return;
    const coming = this.#coming;
    // Where the new token and the one before are one now, all rows are new.
    this.isGrown = coming.run.spec.n_tokens === (this.#asked?.n ?? 0) + 1;
    this.#abort();
    [this.#waited, this.#isFresh] = [0, false];
    this.left = coming.run.spec.why_no_more ? 0 : this.left - 1;
    [this.time.isFirst, this.time.at] = [false, EMBED];
    this.crew.land(coming);
  }

  /** Nothing is drawn, nothing flies. */
  #abort() {
    [this.flight, this.drawn, this.#asked, this.#coming] = [null, null, null, null];
    this.time.at = Math.min(this.time.at, this.time.DRAW);
  }
}
