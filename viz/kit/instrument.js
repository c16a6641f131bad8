// What parts with controls share: the palette of the page's theme, settings that a person and Python
// both change, and an end.

import { dressed, watchTheme } from "./colors.js";
import { same } from "./conversation.js";
import { Lifetime } from "./lifetime.js";

/** @import { Decoded } from "./arrays.js" */
/** @import { Model } from "./model.js" */
/** @import { InstrumentData, Palette } from "./wire.js" */

/** @typedef {{model: Model, el: HTMLElement, signal: AbortSignal}} Place where a part is shown */

/**
 * A part, as hosts take it, of an instrument.
 *
 * @template {Instrument<any>} Kind
 * @param {string} name its style sheet's; that holds inside of it alone
 * @param {new (place: Place) => Kind} Class
 */
export function partOf(name, Class) {
  return {
    /** @param {Place} place */
    render(place) {
      place.el.dataset.part = name;
      const instrument = new Class(place);
      instrument.receive();
      place.model.on("told", () => instrument.receive(), place.signal);
      return instrument;
    },
  };
}

/**
 * @template {InstrumentData} Data what Python says of it
 */
export class Instrument {
  /** The arrays that it draws from. @type {string[]} */
  static needs = [];
  /** They, by name. @type {Record<string, Decoded>} */
  arrays = {};
  /**
   * What Python said last. @type {Data}
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
   * @param {Place} place
   * @param {number} [quiet] milliseconds of rest before a change is sent
   */
  constructor({ model, el, signal }, quiet) {
    this.model = model;
    this.root = el;
    this.lifetime = new Lifetime(signal, el);
    if (quiet !== undefined) model.conversation.quiet = quiet;
    watchTheme(this.lifetime, () => this.receive());
  }

  get conversation() {
    return this.model.conversation;
  }

  /** What Python says to show. */
  get spec() {
    return this.model.get("spec");
  }

  /** Take what Python said, once the arrays have come that it needs, unless it said more meanwhile. */
  receive() {
    const { model } = this;
    const { needs } = /** @type {typeof Instrument} */ (this.constructor);
    if (!needs.length) return this.#take();
    const told = model.get("told");
    const isNewest = () => told === model.get("told") && !this.lifetime.isOver;
    const taken = Promise.all(needs.map((name) => model.load(name))).then(
      (arrays) => {
        if (!isNewest()) return;
        this.arrays = Object.fromEntries(needs.map((name, i) => [name, arrays[i]]));
        this.#take();
      },
      (error) => {
        if (isNewest() && !this.data) this.root.textContent = error.message;
      },
    );
    this.lifetime.busy(taken);
  }

  /** What a person has changed since, and Python does not know, stays. */
  #take() {
    const { model } = this;
    const data = /** @type {Data} */ ({ ...this.spec, settings: model.get("settings") });
    const isNew = data.key !== this.data?.key;
    this.data = data;
    const { light, dark } = model.get("themes");
    this.palette = dressed(this.root, { light, dark });
    const before = this.settings;
    this.settings = this.settle(model.get("state"));
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
    this.model.set("state", changes);
  }

  /**
   * Draw what the settings say.
   *
   * @returns {void | Promise<void>}
   */
  redraw() {}
}
