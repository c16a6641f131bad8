// What all instruments share: the palette of the page's theme, settings that a person and Python both
// change, a watch on its size, and an end.

import { dressed } from "../kit/colors.js";
import { Conversation, same } from "../kit/conversation.js";
import { Lifetime } from "../kit/lifetime.js";

/** @import { InstrumentData, Palette, Receiver } from "../kit/wire.js" */

/**
 * @template {InstrumentData} Data what Python sends it
 */
export class Instrument {
  /**
   * What Python sent last. @type {Data}
   */
  data;
  /**
   * The settings that count: Python's, with what was changed here since.
   *
   * @type {Data["settings"]}
   */
  settings;
  /** @type {Palette} */
  palette;

  /**
   * @param {HTMLElement} root the element it fills
   * @param {Receiver} [receiver] who gets what it sends
   * @param {number} [quiet] milliseconds of rest before a change is sent
   */
  constructor(root, receiver = {}, quiet) {
    this.root = root;
    this.receiver = receiver;
    this.lifetime = new Lifetime();
    this.conversation = new Conversation(
      (message) => this.receiver.send?.(message),
      this.lifetime,
      quiet,
    );
  }

  /**
   * Take what Python sent. What a person has changed since, and Python has not acknowledged, stays.
   *
   * @param {Data} data
   */
  receive(data) {
    this.root.dataset.instrument = data.instrument; // within which its style sheet holds
    const isNew = data.key !== this.data?.key;
    this.data = data;
    this.palette = dressed(this.root, data.themes);
    const before = this.settings;
    this.settings = this.settle(this.conversation.settingsNow(data));
    this.#sayWhetherHeard();
    this.update(isNew, !same(before, this.settings));
  }

  /**
   * Settings as they can be here; each instrument has its own limits.
   *
   * @param {Data["settings"]} settings
   * @returns {Data["settings"]}
   */
  settle(settings) {
    return settings;
  }

  /**
   * Show what was received.
   *
   * @param {boolean} _isNew whether it has another key than what was shown before
   * @param {boolean} _hasMoved whether settings are others than before
   */
  update(_isNew, _hasMoved) {
    this.redraw();
  }

  /**
   * A person changed settings here.
   *
   * @param {Partial<Data["settings"]>} changes
   */
  set(changes) {
    this.setQuietly(changes);
    this.redraw();
  }

  /**
   * Change settings that the caller has drawn already.
   *
   * @param {Partial<Data["settings"]>} changes
   */
  setQuietly(changes) {
    this.settings = { ...this.settings, ...changes };
    this.conversation.change(changes);
    this.#sayWhetherHeard();
  }

  /** Whether Python knows of every choice made here; `settled.js` waits for it. */
  #sayWhetherHeard() {
    this.root.toggleAttribute("data-busy", this.conversation.isPending);
  }

  /**
   * Draw what the settings say.
   *
   * @returns {void | Promise<void>}
   */
  redraw() {}

  /** It was taken off the page: release everything. */
  destroy() {
    this.lifetime.end();
  }
}
