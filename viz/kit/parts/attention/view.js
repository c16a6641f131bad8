// What the views of Attention share: their place, and that they end.

import { shownPattern } from "../../patterns.js";

/** @import { Matrix, Numbers } from "../../maths.js" */
/** @import { Drawing } from "../../export.js" */
/** @import { Table } from "../../patterns.js" */
/** @import { Attention } from "../attention.js" */

/** One way of looking at the chosen head. */
export class View {
  /**
   * @param {Attention} scope
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
   * What is on screen, by names.
   *
   * @returns {Record<string, any>}
   */
  read() {
    return {};
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
