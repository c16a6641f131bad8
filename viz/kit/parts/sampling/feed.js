// How a text comes while it is written: the browser asks the app for the next tokens, shows them, and
// asks again. A run of the page for every few tokens would take longer than they do.

/** @import { Lifetime } from "../../lifetime.js" */
/** @import { More, Question } from "./wire.js" */

const REST_MS = 50; // before asking again for a text that has become another one meanwhile

/**
 * What the feed needs to know, and whom it tells.
 *
 * @typedef {object} Reader
 * @property {() => string | null} address where to ask; null while nothing is to come
 * @property {(known: number | null) => Question} question
 * @property {(more: More) => boolean} fits whether an answer goes on with what is shown
 * @property {(more: More) => void} take
 * @property {() => void} failed the app cannot be asked so
 */

export class Feed {
  #isOn = false;

  /**
   * @param {Lifetime} lifetime
   * @param {Reader} reader
   */
  constructor(lifetime, reader) {
    this.lifetime = lifetime;
    this.reader = reader;
  }

  /** Ask until nothing more is to come; one at a time, whoever calls this how often. */
  async goOn() {
    if (this.#isOn || !this.#address) return;
    this.#isOn = true;
    try {
      await this.#read();
    } catch {
      if (this.#address) this.reader.failed();
    } finally {
      this.#isOn = false;
    }
  }

  get #address() {
    return this.lifetime.isOver ? null : this.reader.address();
  }

  /** The next tokens are asked for before these are shown: the app writes while the browser draws. */
  async #read() {
    const { reader } = this;
    /** @type {Promise<More> | null} */
    let coming = null;
    while (this.#address) {
      const more = await (coming ?? this.#ask(null));
      coming = null;
      if (!this.#address) return;
      if (!reader.fits(more)) {
        await new Promise((resolve) => this.lifetime.timeout(() => resolve(null), REST_MS));
        continue;
      }
      if (more.running) coming = this.#ask(more.known + more.steps.length);
      coming?.catch(() => {}); // it may be waited for no more
      await new Promise((resolve) => this.lifetime.frame(() => resolve(null)));
      if (this.#address) reader.take(more);
    }
  }

  /**
   * @param {number | null} known new tokens there are here, or will be; null for those shown
   * @returns {Promise<More>}
   */
  async #ask(known) {
    const address = new URL(`live/texts/${this.#address}`, document.baseURI);
    const body = JSON.stringify(this.reader.question(known));
    const response = await fetch(address, { method: "POST", body });
    if (!response.ok) throw new Error(`the app did not answer (${response.status})`);
    return response.json();
  }
}
