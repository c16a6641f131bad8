// When something is read back: once it rests and the browser is idle. What is found goes to the verdict of
// the page, under one name for each thing that is read.

import * as screen from "./screen.js";
import { Tally } from "./tally.js";

/** @import { Lifetime } from "./lifetime.js" */

const REST_MS = 200; // after the last thing drawn: a check is never in the way of the hand
const IDLE_MS = 600; // how long a busy browser may put a check off

/**
 * What is on screen: `token` tells one drawing from another, `read` compares all of it.
 *
 * @typedef {object} Drawn
 * @property {string} token
 * @property {number} allowed
 * @property {(tally: Tally) => Promise<void>} read
 */

export class Reader {
  #cancel = () => {};

  /**
   * @param {Lifetime} lifetime
   * @param {string} figure what it is called
   */
  constructor(lifetime, figure) {
    this.lifetime = lifetime;
    this.figure = figure;
    lifetime.keep(() => screen.isGone(figure, this));
  }

  /** What was said counts no more. */
  withdraw() {
    this.#cancel();
    screen.changes(this.figure, this);
  }

  /** There is nothing to compare with. */
  gone() {
    this.#cancel();
    screen.isGone(this.figure, this);
  }

  /**
   * Something else is drawn: read it once it rests.
   *
   * @param {Drawn} drawn
   */
  soon({ token, allowed, read }) {
    this.#cancel();
    let isCurrent = true;
    const cancel = this.lifetime.timeout(async () => {
      await this.lifetime.rest(IDLE_MS);
      if (!isCurrent || this.lifetime.isOver) return;
      const tally = new Tally(allowed);
      const isRead = await read(tally).then(
        () => true,
        () => false, // the run is gone: nothing is said
      );
      if (!isCurrent || this.lifetime.isOver) return;
      if (isRead) screen.wasRead({ figure: this.figure, token, ...tally.found }, this);
      else screen.isGone(this.figure, this);
    }, REST_MS);
    this.#cancel = () => {
      isCurrent = false;
      cancel();
    };
  }
}
