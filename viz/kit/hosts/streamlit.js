// A part on a page of Streamlit, as `live/main.js` mounts it.

import { MissingArrays } from "../arrays.js";
import { currentPalette } from "../colors.js";
import { html } from "../dom.js";
import { Lifetime } from "../lifetime.js";
import { Model } from "../model.js";
import { reached } from "./recorded.js";

/** @import { Receiver } from "../wire.js" */
/** @import { Told } from "../model.js" */

const NOT_LOADED = "What belongs here did not load. Reload the page.";

export class PartHost {
  /** What the part gave when it was shown. @type {any} */
  shown;
  /** @type {Promise<void> | undefined} */
  opened;
  #ending = new AbortController();
  #isLost = false; // whether the app had let go of an array
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
    this.model = new Model({ push, load, ask, source: "Live", page, differs }, this.lifetime);
    this.model.on("state", () => this.#sayWhetherHeard(), this.#ending.signal);
  }

  /** @param {Told & {key: string, part: string}} data */
  receive(data) {
    const isFirst = !this.#data;
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
