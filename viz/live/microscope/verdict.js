// The badge of the view on screen: read back and compared with an independent run where there is one,
// else recomputed from the head's own arrays. A changed view withdraws the last verdict at once.

import { badge, showCheck, showScreenCheck, withdraw } from "../core/badge.js";
import { Tally } from "../core/tally.js";
import { readDoes } from "./reading/words.js";

/** @import { Found } from "../core/tally.js" */
/** @import { Microscope } from "./microscope.js" */

const REST_MS = 120; // after the last thing drawn: a check is never in the way of the hand
const IDLE_MS = 400; // how long a busy browser may put a check off

export class Verdict {
  #cancel = () => {};
  #reported = "";
  /** How often what is on screen has changed. */
  #round = 0;

  /** @param {Microscope} scope */
  constructor(scope) {
    this.scope = scope;
    this.node = badge();
  }

  /** Whether there is an independent run to compare with. */
  get #canRead() {
    const { data, isOffline } = this.scope;
    return data.has_independent && !isOffline;
  }

  /** Another head is loaded. */
  headChanged() {
    this.#round += 1;
    this.node.hidden = this.scope.settings.view === "summary" && !this.#canRead;
    if (this.#canRead) withdraw(this.node, true);
    else this.#say();
  }

  /**
   * What is on screen is no longer what was compared.
   *
   * @param {boolean} [isOther] whether all of it is another thing, not what the mouse is on
   */
  screenChanged(isOther = false) {
    this.#cancel();
    this.#round += 1;
    if (!this.#canRead) return;
    withdraw(this.node, isOther);
    this.#cancel = this.scope.lifetime.timeout(() => this.#compare(), REST_MS);
  }

  /** Nothing is on screen. */
  clear() {
    this.#cancel();
    this.#round += 1;
    this.node.textContent = "";
  }

  /** All of a view is drawn: say what there is to say of it. */
  viewDrawn() {
    if (this.#canRead) this.screenChanged();
    else this.#say();
  }

  /** The browser's own check of the head. */
  #say() {
    const { data, loaded } = this.scope;
    this.#report(showCheck(this.node, loaded.error, data.allowed_error));
  }

  /** Read the screen back and compare; without an answer there is the browser's own check alone. */
  async #compare() {
    const round = this.#round;
    const { data, lifetime, loaded } = this.scope;
    await lifetime.rest(IDLE_MS);
    if (round !== this.#round || this.scope.isBusy || lifetime.isOver) return;
    const found = await this.#read().catch(() => null);
    if (round !== this.#round || this.scope.isBusy || lifetime.isOver) return;
    if (!found) return this.#say();
    const both = { error: Math.max(loaded.error, found.error), n: found.n };
    this.#report(showScreenCheck(this.node, both, data.allowed_error), found.address);
  }

  /** @returns {Promise<Found>} */
  async #read() {
    const { data, view, settings, does } = this.scope;
    const tally = new Tally(data.allowed_error);
    await view?.read(tally);
    if (settings.view !== "summary") await readDoes(this.scope, does, tally);
    return tally.found;
  }

  /**
   * Tell Python once for each head, and where the verdict is another one: each report runs the page
   * again, which no movement of the mouse may cause.
   *
   * @param {number | null} error
   * @param {string} [address] the first array that is off
   */
  #report(error, address = "") {
    const { settings, data, group, conversation } = this.scope;
    const place = { key: data.key, site: group.sites[settings.layer], head: settings.head };
    const passed = error !== null && error <= data.allowed_error;
    const verdict = JSON.stringify([place, passed, passed || address]);
    if (verdict === this.#reported) return;
    this.#reported = verdict;
    conversation.report("checked", { ...place, error, address });
  }
}
