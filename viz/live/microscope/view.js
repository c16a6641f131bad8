// What the views of the microscope share: their place, and that they end.

import { shownPattern } from "../core/patterns.js";

/** @import { Matrix, Numbers } from "../core/maths.js" */
/** @import { Drawing, Table } from "../core/patterns.js" */
/** @import { Microscope } from "./microscope.js" */
/** @import { Tally } from "../core/tally.js" */

/** One way of looking at the chosen head. */
export class View {
  /**
   * @param {Microscope} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    this.scope = scope;
    this.host = host;
    this.lifetime = scope.lifetime.child();
  }

  /**
   * Draw the chosen head.
   *
   * @param {() => boolean} _isCurrent whether nothing newer has been asked for since
   * @returns {void | Promise<void>}
   */
  draw(_isCurrent) {}

  /**
   * Read back what it has drawn and compare it with the independent run.
   *
   * @param {Tally} _tally gets what is found
   * @returns {Promise<void>}
   */
  async read(_tally) {}

  /**
   * Where a weight of the chosen head comes from; null between words, which are made of several, and
   * where there is no independent run.
   *
   * @param {number} row
   * @param {number} column
   */
  weightAddress(row, column) {
    const { data, group, settings } = this.scope;
    const { layer, head, words } = settings;
    if (words || !data.has_independent) return null;
    return `${group.sites[layer]}.pattern[${head},${row},${column}]`;
  }

  /**
   * What is drawn has changed.
   *
   * @param {boolean} [isOther] whether all of it has, not what the mouse is on
   */
  changed(isOther = true) {
    this.scope.verdict.screenChanged(isOther);
  }

  /** Another view takes its place; it may come back. */
  leave() {}

  /** It does not come back. */
  destroy() {
    this.leave();
    this.lifetime.end();
  }

  /**
   * What it shows as numbers to save; null when there are none yet.
   *
   * @returns {Table | null}
   */
  table() {
    return null;
  }

  /**
   * What it shows as drawings to save.
   *
   * @returns {Drawing[] | Promise<Drawing[]>}
   */
  drawings() {
    return [];
  }

  /**
   * A pattern of this head as the options ask for it.
   *
   * @param {Matrix} pattern
   * @param {Numbers} mask
   */
  shown(pattern, mask) {
    return shownPattern(pattern, mask, this.scope.between, this.scope.settings);
  }

  /**
   * A pattern between tokens, whatever the options say of words.
   *
   * @param {Matrix} pattern
   * @param {Numbers} mask
   */
  shownInTokens(pattern, mask) {
    const options = { ...this.scope.settings, words: false };
    return shownPattern(pattern, mask, this.scope.between, options);
  }
}
