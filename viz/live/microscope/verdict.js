// The badge of the head on screen: read back and compared with an independent run where there is one,
// else recomputed from the head's own arrays. A changed view withdraws the last verdict at once.

import { badge, showCheck, showScreenCheck, withdraw } from "../core/badge.js";
import { errorOnScreen } from "./proof.js";

/** @import { Microscope } from "./microscope.js" */

const REST_MS = 120; // after the last thing drawn: a check is never in the way of the hand

export class Verdict {
  #cancel = () => {};
  #reported = "";

  /** @param {Microscope} scope */
  constructor(scope) {
    this.scope = scope;
    this.node = badge();
  }

  /** Whether what is on screen can be compared: the steps of a head, between tokens. */
  get #isOnScreen() {
    const { settings, data, isOffline, view } = this.scope;
    const isOfTokens = settings.stage !== "weights" || !settings.words;
    return data.has_independent && !isOffline && Boolean(view?.onScreen()) && isOfTokens;
  }

  /** Another head is loaded. */
  headChanged() {
    const { settings, data } = this.scope;
    this.node.hidden = settings.view === "summary";
    if (data.has_independent && settings.view === "map") withdraw(this.node, true);
    else this.#say();
  }

  /** What is on screen is no longer what was compared. */
  screenChanged() {
    this.#cancel();
    if (!this.#isOnScreen) return;
    withdraw(this.node, false);
    this.#cancel = this.scope.lifetime.timeout(() => this.#compare(), REST_MS);
  }

  /** Nothing is on screen. */
  clear() {
    this.#cancel();
    this.node.textContent = "";
  }

  /** All of a view is drawn: say what there is to say of it. */
  viewDrawn() {
    if (this.#isOnScreen) this.screenChanged();
    else this.#say();
  }

  /** The browser's own check of the head. */
  #say() {
    const { data, loaded } = this.scope;
    this.#report(showCheck(this.node, loaded.error, data.allowed_error));
  }

  /** Read the screen back and compare; without an answer there is the browser's own check alone. */
  async #compare() {
    const { data, view, group, title, loaded } = this.scope;
    const shown = view?.onScreen();
    if (this.scope.isBusy || !shown) return;
    const screen = { title: title.textContent ?? "", ...shown };
    const found = await errorOnScreen(data.key, group.sites, screen).catch(() => null);
    const { settings } = this.scope;
    const isCurrent = loaded === this.scope.loaded && shown.stage === settings.stage;
    if (!isCurrent || this.scope.isBusy || this.scope.lifetime.isOver) return;
    if (!found) return this.#say();
    const both = { error: Math.max(loaded.error, found.error), n: found.n };
    this.#report(showScreenCheck(this.node, both, data.allowed_error));
  }

  /**
   * Tell Python once for each head, and where the verdict is another one: each report runs the page
   * again, which no movement of the mouse may cause.
   *
   * @param {number | null} error
   */
  #report(error) {
    const { settings, data, group, conversation } = this.scope;
    const place = { key: data.key, site: group.sites[settings.layer], head: settings.head };
    const verdict = JSON.stringify([place, error !== null && error <= data.allowed_error]);
    if (verdict === this.#reported) return;
    this.#reported = verdict;
    conversation.report("checked", { ...place, error });
  }
}
