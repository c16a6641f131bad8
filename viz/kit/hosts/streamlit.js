// A part on a page of Streamlit, as `live/main.js` mounts it.

import { MissingArrays, answerOf } from "../arrays.js";
import { currentPalette } from "../colors.js";
import { html } from "../dom.js";
import { Lifetime } from "../lifetime.js";
import { Model } from "../model.js";
import { reached } from "./recorded.js";

/** @import { Receiver } from "../wire.js" */
/** @import { Decoded } from "../arrays.js" */
/** @import { About, Ahead, Told } from "../model.js" */

/** @typedef {Pick<Told, "spec" | "settings" | "arrays">} OfRun what a part is told of a run */

/** The parts of the page by their keys. @type {Map<string, PartHost>} */
const hosts = new Map();

const NOT_LOADED = "What belongs here did not load. Reload the page.";

export class PartHost {
  /** What the part gave when it was shown. @type {any} */
  shown;
  /** @type {Promise<void> | undefined} */
  opened;
  #ending = new AbortController();
  #isLost = false; // whether the app had let go of an array
  #isAhead = false; // whether it shows what Python has not said yet
  #background = ""; // of the theme
  /** The data it was given last. @type {(Told & {key: string, part: string}) | undefined} */
  #data;

  /**
   * @param {HTMLElement} root
   * @param {Receiver} receiver
   */
  constructor(root, receiver) {
    this.root = root;
    this.lifetime = new Lifetime(undefined, root);
    this.receiver = receiver;
    const push = receiver.send ?? (() => {});
    const { differs } = receiver;
    const page = () => this.#text(`kit/saved/${this.#data?.part}.html`);
    const load = (/** @type {string} */ path) => this.#load(path);
    /** @type {Ahead} */
    const ahead = (question, isNow) => this.#ahead(question, isNow);
    const channel = { push, load, ask, ahead, source: "Live", page, differs };
    this.model = new Model(channel, this.lifetime);
    this.model.on("state", () => this.#sayWhetherHeard(), this.#ending.signal);
  }

  /** @param {Told & {key: string, part: string}} data */
  receive(data) {
    const isFirst = !this.#data;
    hosts.set(data.key, this);
    if (this.#isAhead) delete document.documentElement.dataset.ahead;
    this.#isAhead = false;
    this.#data = data;
    this.model.receive(data);
    if (this.#isLost) this.model.again("arrays");
    this.#isLost = false;
    const { background } = currentPalette(data.themes, this.root);
    if (this.#background && this.#background !== background) this.model.again("themes");
    this.#background = background;
    this.#sayWhetherHeard();
    if (isFirst) this.opened = this.lifetime.busy(this.#open(data.part));
  }

  /**
   * Ask Python what the parts of the page will be told of something, and tell them; its script
   * follows and says the same again. A part that Python has told more meanwhile is not told.
   *
   * @param {object} question
   * @param {() => boolean} isNow
   */
  async #ahead(question, isNow) {
    const asks = this.#data?.asks;
    if (!asks) return;
    const known = new Map([...hosts].map(([key, host]) => [key, host.#data]));
    const states = Array.from(hosts, ([key, host]) => [key, host.model.get("state")]);
    const answer = await ask({ ...question, settings: Object.fromEntries(states) }, asks);
    const { parts, arrays, count } = answerOf(answer);
    if (!parts || !isNow()) return;
    for (const node of document.querySelectorAll(".hl-count")) node.textContent = count;
    const same = [...hosts].filter(([key, host]) => parts[key] && host.#data === known.get(key));
    await Promise.all(same.map(([key, host]) => host.#tell(parts[key], arrays)));
  }

  /**
   * Show what Python will say of a run; it ends once that is drawn.
   *
   * @param {OfRun} told
   * @param {Record<string, Decoded>} arrays by what they are loaded by
   */
  async #tell(told, arrays) {
    if (!this.#data) return;
    document.documentElement.dataset.ahead = ""; // what is said of the run before does not hold
    this.#isAhead = true;
    const own = Object.values(/** @type {Record<string, About>} */ (told.arrays)).map(
      ({ id }) => id,
    );
    const came = Object.entries(arrays).filter(([path]) => own.includes(path.split("/")[0]));
    this.model.keep(Object.fromEntries(came));
    this.#data = { ...this.#data, ...told };
    this.model.receive(this.#data);
    await this.lifetime.idle();
  }

  /** Whether Python knows of every choice made here; `settled.js` waits for it. */
  #sayWhetherHeard() {
    this.root.toggleAttribute("data-pending", this.model.isPending);
  }

  /** @param {string} name */
  async #open(name) {
    const { signal } = this.#ending;
    const found = await import(`../parts/${name}.js`).catch(() => null);
    if (signal.aborted) return;
    const { model, root: el } = this;
    if (found) this.shown = found.default.render({ model, el, signal, reached });
    else this.root.replaceChildren(html("p", { class: "hl-error", role: "alert" }, NOT_LOADED));
  }

  /** @param {string} path */
  async #load(path) {
    const answer = await fetch(new URL(`kit/arrays/${path}`, document.baseURI)).catch(() => null);
    if (answer?.status === 200) return answer.arrayBuffer();
    this.#isLost = answer?.status === 204;
    if (this.#isLost && this.#data) this.receiver.lost?.(this.#data.key);
    if (!answer) throw new MissingArrays("The app does not answer; what was opened still works.");
    const isNone = this.#isLost ? "The app is asked again." : "The app does not have it.";
    throw new MissingArrays(isNone);
  }

  /**
   * A file of the app's as text.
   *
   * @param {string} name
   */
  async #text(name) {
    const answer = await fetch(new URL(name, document.baseURI)).catch(() => null);
    if (!answer?.ok) throw new Error("the app does not answer; this needs it");
    return answer.text();
  }

  destroy() {
    const { key } = this.#data ?? {};
    if (key && hosts.get(key) === this) hosts.delete(key);
    this.#ending.abort();
    this.lifetime.end();
  }
}

/**
 * @param {object} question
 * @param {boolean | string} asks where to
 */
async function ask(question, asks) {
  const place = new URL(`kit/answers/${asks}`, document.baseURI);
  const answer = await fetch(place, { method: "POST", body: JSON.stringify(question) });
  if (answer.status === 204) throw new Error("The page has changed meanwhile");
  if (answer.ok) return answer.arrayBuffer();
  const why = answer.status === 400 ? await answer.text() : "";
  throw new Error(why || `The app did not answer (${answer.status})`);
}
