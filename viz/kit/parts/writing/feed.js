// How a text comes while it is written: the browser asks Python for the next tokens, shows them, and
// asks again. A run of the page for every few tokens would take longer than they do.

/** @import { Lifetime } from "../../lifetime.js" */
/** @import { More } from "./wire.js" */

const REST_MS = 50; // before asking again for a text that has become another one meanwhile

/**
 * What the feed needs to know, and whom it tells.
 *
 * @typedef {object} Reader
 * @property {() => boolean} wants whether anything is to come
 * @property {(known: number | null) => Promise<More>} ask for what follows on so many new tokens there
 *   are here, or will be; null for those shown
 * @property {(more: More) => boolean} fits whether an answer goes on with what is shown
 * @property {(more: More) => void} take
 * @property {() => void} failed Python does not answer
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
    if (this.#isOn || !this.#isWanted) return;
    this.#isOn = true;
    try {
      await this.#read();
    } catch {
      if (this.#isWanted) this.reader.failed();
    } finally {
      this.#isOn = false;
    }
  }

  get #isWanted() {
    return !this.lifetime.isOver && this.reader.wants();
  }

  /** The next tokens are asked for before these are shown: Python writes while the browser draws. */
  async #read() {
    const { reader } = this;
    /** @type {Promise<More> | null} */
    let coming = null;
    while (this.#isWanted) {
      const more = await (coming ?? reader.ask(null));
      coming = null;
      if (!this.#isWanted) return;
      if (!reader.fits(more)) {
        await new Promise((resolve) => this.lifetime.timeout(() => resolve(null), REST_MS));
        continue;
      }
      if (more.running) coming = reader.ask(more.known + more.steps.length);
      coming?.catch(() => {}); // it may be waited for no more
      await new Promise((resolve) => this.lifetime.frame(() => resolve(null)));
      if (this.#isWanted) reader.take(more);
    }
  }
}
