// The verdict on all figures of the page: how many values were read back, and how far off they are.

import { badge, showScreenCheck, withdraw } from "../core/badge.js";
import { Lifetime } from "../core/lifetime.js";
import { allReadings, changes, isGone, listen, wasRead } from "../core/screen.js";
import * as stale from "../core/stale.js";
import { Card } from "./card.js";
import { NUMBERS, followNumbers, readNumbers } from "./numbers.js";
import { TOKENS, readStrip } from "./strip.js";

/** @import { Reading } from "../core/screen.js" */
/** @import { Receiver } from "../core/wire.js" */
/** @import { Failure, ScreenData } from "./wire.js" */

const REST_MS = 200; // after the last word of Python: what is above the page is there by then
const TRIES = 5;
const STALE = "earlier run"; // what is left of one, among the figures

export class Screen {
  /** @type {ScreenData} */
  data;
  #cancelCheck = () => {};
  #cancelNumbers = () => {};
  #cancelLook = () => {};
  #reported = "[]"; // Python believes that all is well until it hears otherwise

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver = {}) {
    this.receiver = receiver;
    this.lifetime = new Lifetime();
    this.node = badge("hl-verdict");
    this.card = new Card(this.lifetime);
    root.replaceChildren(this.node, this.card.node, this.card.dialog);
    followNumbers(this.lifetime);
    this.lifetime.keep(listen(() => this.#show()));
    this.lifetime.keep(stale.listen(() => this.#lookSoon(TRIES)));
  }

  /** @param {ScreenData} data */
  receive(data) {
    this.data = data;
    this.#show();
    this.#cancelCheck();
    this.#cancelNumbers();
    if (data.run) changes(TOKENS, this);
    else isGone(TOKENS, this);
    if (data.numbers) changes(NUMBERS, this);
    else isGone(NUMBERS, this);
    this.#checkSoon(TRIES);
    this.#lookSoon(TRIES);
  }

  /** @param {number} tries how often what is left is looked at again */
  #lookSoon(tries) {
    this.#cancelLook();
    this.#cancelLook = this.lifetime.timeout(() => this.#look(tries), REST_MS);
  }

  /**
   * What is said of an earlier run may stand as long as the rerun takes, and the moment that drawing
   * does, but no longer.
   *
   * @param {number} tries
   */
  #look(tries) {
    if (stale.isRerunning()) return this.#lookSoon(TRIES);
    const { n, left } = stale.leftOver();
    if (left && tries) return this.#lookSoon(tries - 1);
    if (!left) return isGone(STALE, this);
    const run = this.data?.run ?? "";
    wasRead({ figure: STALE, token: run, error: NaN, n, address: `“${left}”` }, this);
  }

  /** @param {number} tries how often what is off is looked at again */
  #checkSoon(tries) {
    this.#cancelCheck = this.lifetime.timeout(() => {
      this.#checkTokens(tries);
      this.#checkNumbers(tries);
    }, REST_MS);
  }

  /**
   * Read the tokens above the page back. Streamlit puts them there by itself: those of another text
   * may stand a moment longer, but not for a second.
   *
   * @param {number} tries
   */
  async #checkTokens(tries) {
    const { run, allowed_error } = this.data;
    const found = run && (await readStrip(run, allowed_error).catch(() => null));
    if (run !== this.data.run || this.lifetime.isOver) return;
    if (found && found.address && tries) return this.#checkSoon(tries - 1);
    if (found) wasRead({ figure: TOKENS, token: run, ...found }, this);
    else isGone(TOKENS, this);
  }

  /**
   * Read the numbers in lines and tables back; Streamlit puts them there by itself, too.
   *
   * @param {number} tries
   */
  async #checkNumbers(tries) {
    const { numbers, allowed_error } = this.data;
    const found = numbers && (await readNumbers(allowed_error).catch(() => null));
    if (numbers !== this.data.numbers || this.lifetime.isOver) return;
    if (found && found.address && tries)
      this.#cancelNumbers = this.lifetime.timeout(() => this.#checkNumbers(tries - 1), REST_MS);
    else if (found) wasRead({ figure: NUMBERS, token: numbers, ...found }, this);
    else isGone(NUMBERS, this);
  }

  #show() {
    if (!this.data) return;
    const readings = allReadings();
    this.node.hidden = !readings.length;
    if (!readings.length) {
      this.node.textContent = "";
      this.#report([]);
      return;
    }
    const read = readings.filter((reading) => reading !== null);
    if (read.length < readings.length) {
      withdraw(this.node, true);
      return;
    }
    const error = Math.max(0, ...read.map((reading) => reading.error));
    const n = read.reduce((sum, reading) => sum + reading.n, 0);
    const isOfTokens = read.every(({ figure }) => figure === TOKENS);
    const of = isOfTokens ? "values of the tokens above" : "values on screen";
    const off = read.find((reading) => !(reading.error <= this.data.allowed_error));
    const address = off && `${off.figure}, ${off.address}`;
    showScreenCheck(this.node, { error, n, address }, this.data.allowed_error, of);
    this.#report(read);
  }

  /**
   * Python is told of failures, and when there are none any more: each word runs the page again.
   *
   * @param {Reading[]} read
   */
  #report(read) {
    /** @type {Failure[]} */
    const failures = read
      .filter(({ address }) => address)
      .map(({ figure, token, address, error }) => ({
        figure,
        token,
        address,
        error: Number.isNaN(error) ? null : error,
      }));
    const report = JSON.stringify(failures.map(({ figure, token }) => [figure, token]));
    if (report === this.#reported) return;
    this.#reported = report;
    this.receiver.found?.(failures);
  }

  /** It was taken off the page: release everything. */
  destroy() {
    isGone(TOKENS, this);
    isGone(NUMBERS, this);
    isGone(STALE, this);
    this.lifetime.end();
  }
}
