// Settings a person changes in the browser, until Python has acknowledged them.
//
// Messages to Python are numbered by turns, and with its settings Python says up to which turn it
// has taken messages over. A setting changed here counts, whatever Python sends, until that turn is
// acknowledged, or until Python shows a value that came from neither side of this conversation: then
// a person chose it elsewhere on the page.
//
// A message can be lost: Streamlit stops a run for a newer one even before it has looked at what it was
// sent. So what an answer does not acknowledge is sent once more, after a while that gets longer.

/** @import { Lifetime } from "./lifetime.js" */
/** @import { Message } from "./wire.js" */

const QUIET_MS = 250; // how long a person must rest before Python is sent a change
const AGAIN_MS = 3000; // the first such while
const REMEMBERED = 50; // values sent of one setting that Python may still come back with

/**
 * A setting changed here and not acknowledged yet. `turn` is null until it is sent.
 *
 * @typedef {{value: unknown, turn: number | null}} Change
 */

export class Conversation {
  /** The last turn; null until Python has named one. @type {number | null} */
  #turn = null;
  /** @type {Record<string, Change>} */
  #changes = {};
  /** What was sent of each setting, the newest last. @type {Record<string, unknown[]>} */
  #sent = {};
  /** What Python's settings were the last time. @type {Record<string, unknown> | null} */
  #fromPython = null;
  #cancel = () => {};
  /** @type {(() => void) | null} */
  #cancelAgain = null;
  #while = AGAIN_MS;

  /**
   * @param {(message: Message) => void} send
   * @param {Lifetime} lifetime after which nothing is sent
   * @param {number} [quiet] milliseconds of rest before something is sent
   */
  constructor(send, lifetime, quiet = QUIET_MS) {
    this.send = send;
    this.lifetime = lifetime;
    this.quiet = quiet;
  }

  /**
   * The settings that count now: Python's, but for those changed here that it does not know yet.
   *
   * @template {Record<string, any>} Settings
   * @param {{settings: Settings, acked: number}} data as Python sent it
   * @returns {Settings}
   */
  settingsNow({ settings, acked }) {
    this.#turn ??= acked;
    for (const [name, { turn }] of Object.entries(this.#changes)) {
      const isAcknowledged = turn !== null && turn <= acked;
      if (isAcknowledged || this.#isChosenElsewhere(name, settings[name]))
        delete this.#changes[name];
    }
    this.#fromPython = settings;
    this.#sayAgain();
    return { ...settings, ...this.#unacknowledged() };
  }

  /**
   * Whether Python shows a value that is neither its last one nor one it was sent. One it was sent
   * may be some changes old: Python answers late.
   *
   * @param {string} name
   * @param {unknown} value
   */
  #isChosenElsewhere(name, value) {
    if (!this.#fromPython || same(value, this.#fromPython[name])) return false;
    return !this.#sent[name]?.some((earlier) => same(value, earlier));
  }

  /**
   * A person changed settings: send them once there is rest.
   *
   * @param {Record<string, unknown>} values
   */
  change(values) {
    for (const [name, value] of Object.entries(values)) this.#changes[name] = { value, turn: null };
    this.#sendSoon();
  }

  /** Whether something changed here is not sent yet, or not acknowledged. */
  get isPending() {
    return Object.keys(this.#changes).length > 0;
  }

  /** Send at once what waits for rest; says whether anything did. */
  flush() {
    const waits = Object.values(this.#changes).some(({ turn }) => turn === null);
    if (waits) this.#sendNow();
    return waits;
  }

  /** What was sent and is not acknowledged is sent once more, unless it is meanwhile. */
  #sayAgain() {
    const waits = Object.values(this.#changes).some(({ turn }) => turn !== null);
    if (waits && this.#cancelAgain) return;
    this.#cancelAgain?.();
    this.#cancelAgain = null;
    if (!waits) this.#while = AGAIN_MS;
    else
      this.#cancelAgain = this.lifetime.timeout(() => {
        this.#cancelAgain = null;
        this.#while *= 2;
        this.#sendNow();
      }, this.#while);
  }

  #sendSoon() {
    this.#cancel();
    this.#cancel = this.lifetime.timeout(() => this.#sendNow(), this.quiet);
  }

  #sendNow() {
    this.#cancel();
    const turn = (this.#turn ?? 0) + 1;
    this.#turn = turn;
    for (const change of Object.values(this.#changes)) change.turn ??= turn;
    const changes = this.#unacknowledged();
    for (const [name, value] of Object.entries(changes))
      this.#sent[name] = [...(this.#sent[name] ?? []), value].slice(-REMEMBERED);
    this.send({ turn, changes });
  }

  /** The values changed here that Python has not acknowledged. */
  #unacknowledged() {
    return Object.fromEntries(
      Object.entries(this.#changes).map(([name, { value }]) => [name, value]),
    );
  }
}

/**
 * Whether two values are alike as JSON.
 *
 * @param {unknown} a
 * @param {unknown} b
 */
export function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
