// A part in a notebook, as an anywidget: its model only carries ours, so that one rule holds in all
// hosts. Arrays and choices go as messages, what Python says as traits.

import { inflated } from "../arrays.js";
import { Lifetime } from "../lifetime.js";
import { Model } from "../model.js";
import { loadPlotly, plotlyFrom } from "../plotly.js";

/** @import { Told } from "../model.js" */

const LONG_MS = 60_000; // for where nobody says that the kernel is gone: a busy one answers late
const TRAITS = ["spec", "settings", "arrays", "themes", "asks", "acked"];

/**
 * What is used of anywidget's model.
 *
 * @typedef {object} Widget
 * @property {(name: string) => any} get
 * @property {(message: object) => void} send
 * @property {(event: string, act: (...args: any[]) => void) => void} on
 * @property {(event: string, act: (...args: any[]) => void) => void} off
 */

/**
 * @param {{render: (shown: {model: Model, el: HTMLElement, signal: AbortSignal}) => void}} part
 */
export const host = (part) => ({
  /** @param {{model: Widget, el: HTMLElement}} given */
  render({ model: widget, el }) {
    const lifetime = new Lifetime();
    const ending = new AbortController();
    const wants = asker(widget, lifetime);
    const load = (/** @type {string} */ path) => wants({ path }).then(bytesOf);
    const ask = (/** @type {object} */ question) => wants({ question }).then(bytesOf);
    const by = Math.random().toString(36).slice(2); // of several views of one widget
    /** @param {object} message */
    const push = (message) => widget.send({ sent: { ...message, by } });
    const model = new Model({ push, load, ask }, lifetime);
    const receive = () => {
      const told = Object.fromEntries(TRAITS.map((name) => [name, widget.get(name)]));
      model.receive(/** @type {Told} */ ({ ...told, acked: told.acked[by] ?? 0 }));
    };
    for (const name of TRAITS) {
      widget.on(`change:${name}`, receive);
      lifetime.keep(() => widget.off(`change:${name}`, receive));
    }
    plotlyFrom(() => plotlyOf(widget));
    receive();
    const inner = document.createElement("div");
    inner.className = "hl-live";
    el.append(inner);
    part.render({ model, el: inner, signal: ending.signal });
    return () => {
      ending.abort();
      lifetime.end();
    };
  },
});

/**
 * Load plotly.js before a picture wants it: of its first second on a page it takes the most.
 *
 * @param {{model: Widget}} given
 */
export function initialize({ model }) {
  plotlyFrom(() => plotlyOf(model));
  loadPlotly().catch(() => {}); // the picture asks again and says it
}

/**
 * Comes even where the view that asked is gone: others on the page wait for it, too.
 *
 * @param {Widget} widget
 */
async function plotlyOf(widget) {
  const lifetime = new Lifetime();
  try {
    return await asker(widget, lifetime)({ path: "plotly.min.js" }).then(bytesOf);
  } finally {
    lifetime.end();
  }
}

/**
 * @param {Said} said
 * @returns {Promise<ArrayBuffer>}
 */
function bytesOf([, [bytes]]) {
  return inflated(bytes);
}

/**
 * What Python says to something that is wanted of it.
 *
 * @typedef {[said: {id: string, error?: string}, buffers: DataView<ArrayBuffer>[]]} Said
 */

/**
 * Asks Python: for bytes by their path, or a question.
 *
 * @param {Widget} widget
 * @param {Lifetime} lifetime
 * @returns {(wanted: {path: string} | {question: object}) => Promise<Said>}
 */
function asker(widget, lifetime) {
  /** @type {Map<string, {resolve: (said: Said) => void, reject: (error: Error) => void}>} */
  const asked = new Map();
  /** @type {(...said: Said) => void} */
  const answered = (...said) => {
    const [{ id, error }] = said;
    const waiting = asked.get(id); // what another view asked is not here
    asked.delete(id);
    if (error) waiting?.reject(new Error(error));
    else waiting?.resolve(said);
  };
  const gone = () => {
    for (const { reject } of asked.values())
      reject(new Error("Python is gone; run the cell again"));
    asked.clear();
  };
  const heard = { "msg:custom": answered, comm_live_update: gone };
  for (const [event, act] of Object.entries(heard)) {
    widget.on(event, act);
    lifetime.keep(() => widget.off(event, act));
  }
  return (wanted) =>
    new Promise((resolve, reject) => {
      const late = () => reject(new Error("Python is busy or gone; run the cell again"));
      const cancel = lifetime.timeout(late, LONG_MS);
      const id = Math.random().toString(36).slice(2);
      asked.set(id, {
        resolve: (said) => (cancel(), resolve(said)),
        reject: (error) => (cancel(), reject(error)),
      });
      widget.send({ id, ...wanted });
    });
}
