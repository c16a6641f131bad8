// What one part shows and what a person chose in it. It knows no host: a channel carries what is
// chosen to Python, and fetches arrays.

import { answerOf, decoded, deflated } from "./arrays.js";
import { Conversation, same } from "./conversation.js";

/** @import { Lifetime } from "./lifetime.js" */
/** @import { Decoded } from "./arrays.js" */
/** @import { Message, Palette } from "./wire.js" */

const CONTENTS = `"/*${"contents"}*/"`; // its place in kit/hosts/page.html, nowhere else in the page
const KEPT_BYTES = 2 ** 28;

/**
 * What Python says: what to show, what is chosen, and which arrays can be loaded. Of an array the
 * first `split` axes are loaded index by index.
 *
 * @typedef {{id: string, dtype: string, shape: number[], split: number}} About
 * @typedef {object} Told
 * @property {Record<string, any>} spec
 * @property {Record<string, any>} settings
 * @property {Record<string, About>} arrays
 * @property {{light: Palette, dark: Palette}} themes
 * @property {boolean | string} asks whether Python answers questions; in the app it says where
 * @property {number} acked the turn up to which Python has taken over what it was sent
 */

/**
 * What carries to and from Python. `load` takes an array's id and indices with slashes between;
 * `ask` carries a question, as JSON, and gives the answer as `answerOf` takes it. `source` says in a word or two where the
 * numbers come from.
 *
 * @typedef {(question: object, isNow: () => boolean) => Promise<void>} Ahead
 * @typedef {object} Channel
 * @property {(message: Message) => void} push
 * @property {(path: string) => Promise<ArrayBuffer>} load
 * @property {(question: object, asks: boolean | string) => Promise<ArrayBuffer>} [ask]
 * @property {string} [source]
 * @property {Ahead} [ahead] tells all parts of a page what Python will say of something
 * @property {() => Promise<string>} [page] a page for a file of its own, to be filled in
 * @property {(heads: import("./wire.js").Differing[]) => void} [differs]
 */

/**
 * What can be had and heard of: `state` is what counts, `settings` what Python said of it last, and
 * `told` is heard each time that Python says something.
 *
 * @typedef {"spec" | "state" | "settings" | "arrays" | "themes" | "told"} Name
 */

export class Model {
  /** @type {Record<Name, Record<string, any>>} */
  #values = { spec: {}, state: {}, settings: {}, arrays: {}, themes: {}, told: {} };
  /** @type {Map<string, Set<() => void>>} */
  #listeners = new Map();
  /** By path, the last used last. @type {Map<string, Promise<Decoded>>} */
  #loaded = new Map();
  /** @type {Told["asks"]} */
  #asks = false;

  /**
   * @param {Channel} channel
   * @param {Lifetime} lifetime after which nothing is sent
   */
  constructor(channel, lifetime) {
    this.channel = channel;
    this.conversation = new Conversation((message) => channel.push(message), lifetime);
  }

  get source() {
    return this.channel.source ?? "";
  }

  /** Whether Python runs the model again where a choice asks for it. */
  get isLive() {
    return this.source === "Live";
  }

  /** @param {Name} name */
  get(name) {
    return this.#values[name];
  }

  /**
   * A person chose: listeners hear of it now, Python once the hand rests.
   *
   * @param {"state"} _name Python alone says all else
   * @param {Record<string, any>} changes fields of the state
   */
  set(_name, changes) {
    const { state } = this.#values;
    const changed = Object.entries(changes).filter(([name, value]) => !same(value, state[name]));
    if (!changed.length) return;
    this.#values.state = { ...state, ...changes };
    this.conversation.change(Object.fromEntries(changed));
    this.#emit("state");
  }

  /** @param {Record<string, any>} changes of the state, for Python at once */
  choose(changes) {
    this.set("state", changes);
    this.save_changes();
  }

  /** The hand rests: Python may know. */
  save_changes() {
    this.conversation.flush();
  }

  /** Whether it can be saved as a file of its own. */
  get canSave() {
    return Boolean(this.channel.page);
  }

  /** Whether Python has yet to hear of a choice, or to take it over. */
  get isPending() {
    return this.conversation.isPending;
  }

  /**
   * What Python says now; what was changed here since, and it has not acknowledged, counts.
   *
   * @param {Told} told
   */
  receive({ spec, settings, arrays, themes, asks, acked }) {
    this.#asks = asks;
    const state = this.conversation.settingsNow({ settings, acked });
    const before = this.#values;
    this.#values = { spec, state, settings, arrays, themes, told: {} };
    for (const [name, value] of Object.entries(this.#values))
      if (!same(value, before[/** @type {Name} */ (name)])) this.#emit(name);
    this.#emit("told");
  }

  /**
   * Have listeners look again: what could not be loaded may be there now, or the page looks otherwise.
   *
   * @param {Name} name
   */
  again(name) {
    this.#emit(name);
  }

  /**
   * An array by its name, or one piece of it by its indices.
   *
   * @param {string} name
   * @param {...number} at one index for each axis that it is split along
   */
  load(name, ...at) {
    const { arrays } = this.#values;
    const { id, dtype, shape, split } = arrays[name] ?? {};
    if (split !== at.length)
      return Promise.reject(new Error(`no array is called ${[name, ...at].join(" ")}`));
    const path = [id, ...at].join("/");
    const known = this.#loaded.get(path);
    const array =
      known ??
      this.channel.load(path).then((bytes) => decoded(bytes, dtype, shape.slice(at.length)));
    this.#loaded.delete(path); // and back in, as the last used
    this.#loaded.set(path, array);
    if (!known) array.catch(() => this.#loaded.delete(path)); // so that it can be asked again
    if (!known) this.#makeRoom();
    return array;
  }

  /** Let go of what was used longest ago, where what is kept is too much. */
  async #makeRoom() {
    let bytes = 0;
    for (const [path, array] of [...this.#loaded].reverse()) {
      bytes += (await array.catch(() => null))?.values.byteLength ?? 0;
      if (bytes > KEPT_BYTES) this.#loaded.delete(path);
    }
  }

  /** The text of a file that opens without Python, with all that was loaded by now. */
  async saved() {
    const page = await this.channel.page?.();
    if (!page) throw new Error("no app is here to do it");
    const { spec, state, arrays, themes } = this.#values;
    const loaded = Array.from(this.#loaded, async ([path, array]) => [
      path,
      await deflated(/** @type {Uint8Array<ArrayBuffer>} */ ((await array).values)),
    ]);
    const contents = {
      told: { spec, settings: state, arrays, themes, acked: 0 },
      arrays: Object.fromEntries(await Promise.all(loaded)),
    };
    const text = JSON.stringify(contents).replaceAll("<", "\\u003c");
    return page.replace(CONTENTS, () => text);
  }

  /** Whether Python answers questions between two runs. */
  get canAsk() {
    return Boolean(this.#asks && this.channel.ask);
  }

  /**
   * Ask Python something; an error in words where it refuses, or nobody answers. Arrays that come
   * along are in `arrays`.
   *
   * @param {object} question
   * @returns {Promise<any>}
   */
  async ask(question) {
    if (!this.#asks || !this.channel.ask) throw new Error("No Python answers here");
    return answerOf(await this.channel.ask(question, this.#asks));
  }

  /** Whether parts of the page can be told what Python will say, before it does. */
  get canAhead() {
    return Boolean(this.#asks && this.channel.ahead);
  }

  /**
   * Have the parts of the page draw what Python will say of something; they have when it ends.
   *
   * @param {object} question
   * @param {() => boolean} isNow whether the answer still counts
   */
  async ahead(question, isNow) {
    await this.channel.ahead?.(question, isNow);
  }

  /**
   * Keep arrays that came unasked, by the paths that they would be loaded by.
   *
   * @param {Record<string, Decoded>} arrays
   */
  keep(arrays) {
    for (const [path, array] of Object.entries(arrays))
      this.#loaded.set(path, Promise.resolve(array));
    this.#makeRoom();
  }

  /**
   * Hear of changes of the state, the spec, the arrays or the themes.
   *
   * @param {Name} name
   * @param {() => void} listener
   * @param {AbortSignal} signal ends it
   */
  on(name, listener, signal) {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    signal.addEventListener("abort", () => listeners.delete(listener));
  }

  /** @param {string} name */
  #emit(name) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) listener();
  }
}
