// How the picture moves: a pass from left to right, the answer, and what becomes of it. Where a text
// goes on, a token flies to it, and Python goes on with it meanwhile.

import { placeAt } from "../../sampling.js";
import { goalOf } from "./goals.js";
import { Timeline } from "./timeline.js";

/** @import { Drawn, Goal } from "./goals.js" */
/** @import { Chance } from "./answers.js" */
/** @import { HomeSpec, Run } from "./numbers.js" */
/** @import { Flight } from "./tokens.js" */

const STILL_MS = 700; // between two tokens where nothing moves

/** @typedef {{run: Run}} Coming */

/**
 * What the film has others do.
 *
 * @typedef {object} Crew
 * @property {() => boolean} canGoOn whether another token can be taken
 * @property {() => Chance | null} chance what the next token is taken from
 * @property {(chance: Chance, goal: Goal) => Drawn | null} take which one it is
 * @property {(place: number) => {n: number, id: number, flight: Flight} | null} takeOff the token at a
 *   place of the list leaves it, and something goes on with it
 * @property {(coming: Coming) => void} land it has become a token of the text
 */

export class Film {
  time = new Timeline([0]);
  /** @type {Goal | undefined} */
  goal;
  left = 0; // tokens still to be written
  isGrown = false; // whether all but the last token were shown before
  isFilled = false; // whether the answer stands where it was asked for
  /** @type {Drawn | null} */
  drawn = null;
  /** @type {Flight | null} */
  flight = null;
  /** What is to go on with. @type {{n: number, id: number} | null} */
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
   * Play a run from its beginning, slowly the first time.
   *
   * @param {HomeSpec} spec
   * @param {boolean} isFirst
   * @param {number} [at] the stage to begin at
   */
  begin(spec, isFirst, at = 0) {
    this.#abort();
    this.goal = goalOf(spec);
    this.time = new Timeline(spec.columns.map(({ band }) => band));
    this.time.isFirst = isFirst;
    if (!this.#isFresh) this.left = this.goal.writes;
    this.isGrown = this.isFilled = false;
    this.time.at = this.isStill ? this.time.DRAW : at;
    this.time.isPlaying = !this.isStill || this.left > 0;
  }

  /** All of it at once. */
  end() {
    [this.left, this.time.isPlaying, this.time.at] = [0, false, this.time.DRAW];
    this.isFilled = this.goal?.canHide ?? false;
  }

  /** @param {number} place of the list: the text goes on with this one */
  choose(place) {
    if (this.flight) return;
    this.write(1);
    this.drawn = { at: null, place };
    this.time.at = this.time.FLY;
  }

  /** @param {number} count tokens, besides those still to be written */
  write(count) {
    const left = Number.isFinite(this.left) ? this.left : 0;
    [this.left, this.time.isPlaying, this.#isFresh] = [left + count, true, true];
    this.#waited = Infinity; // the first of them comes at once
    this.time.at = Math.max(this.time.at, this.time.DRAW); // whoever asks for more has seen enough
  }

  play() {
    this.left = Math.max(this.left, this.goal?.writes ?? 0);
    this.time.isPlaying = true;
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

  /** @param {Coming} coming what a token that is taken makes, where it is known without Python */
  bring(coming) {
    this.#coming = coming;
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
    if (this.drawn?.at && chance && !this.flight)
      this.drawn.place = placeAt(chance.probs, this.drawn.at);
  }

  /** @param {number} ms */
  advance(ms) {
    const { time } = this;
    if (this.isStill) this.#jump(ms);
    else time.advance(ms, this.left ? time.END : time.DRAW);
    if (time.at >= time.DRAW && !this.crew.canGoOn()) this.left = 0;
    if (!this.left) {
      time.at = Math.min(time.at, time.DRAW);
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

  /** What comes next is decided. */
  #roll() {
    const chance = this.drawn ? null : this.crew.chance();
    if (chance && this.goal) this.drawn = this.crew.take(chance, this.goal);
  }

  #takeOff() {
    const found = this.drawn && !this.flight ? this.crew.takeOff(this.drawn.place) : null;
    if (!found) return;
    this.flight = found.flight;
    this.#asked = { n: found.n, id: found.id };
  }

  /** It has become a token of the text, and everything runs again, or it fills its place. */
  #land() {
    if (!this.#coming) return;
    if (!this.goal?.canWrite) return this.#fill();
    const coming = this.#coming;
    // Where the new token and the one before are one now, all rows are new.
    this.isGrown = coming.run.nTokens === (this.#asked?.n ?? 0) + 1;
    this.#abort();
    [this.#waited, this.#isFresh] = [0, false];
    this.left = coming.run.canGoOn ? this.left - 1 : 0;
    [this.time.isFirst, this.time.at] = [false, this.time.AGAIN];
    this.crew.land(coming);
  }

  #fill() {
    this.#abort();
    [this.left, this.isFilled, this.time.isPlaying] = [0, true, false];
  }

  /** Nothing is drawn, nothing flies. */
  #abort() {
    [this.flight, this.drawn, this.#asked, this.#coming] = [null, null, null, null];
    this.time.at = Math.min(this.time.at, this.time.DRAW);
  }
}
