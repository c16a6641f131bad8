// A part in a notebook, as an anywidget: its model only carries ours, so that one rule holds in all
// hosts. Arrays and choices go as messages, what Python says as traits.

import { inflated } from "../arrays.js";
import { Lifetime } from "../lifetime.js";
import { Model } from "../model.js";
import { loadPlotly, plotlyFrom } from "../plotly.js";

/** @import { Told } from "../model.js" */

const WAIT_MS = 10_000; // for an array: a kernel that is busy answers late, one that is gone never
const TRAITS = ["spec", "settings", "arrays", "themes", "acked"];

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
    const asks = asker(widget, lifetime);
    const by = Math.random().toString(36).slice(2); // of several views of one widget
    /** @param {object} message */
    const push = (message) => widget.send({ sent: { ...message, by } });
    const model = new Model({ push, load: asks }, lifetime);
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
    return await asker(widget, lifetime)("plotly.min.js");
  } finally {
    lifetime.end();
  }
}

/**
 * Asks Python for bytes by their path.
 *
 * @param {Widget} widget
 * @param {Lifetime} lifetime
 * @returns {(path: string) => Promise<ArrayBuffer>}
 */
function asker(widget, lifetime) {
  /** @type {Map<string, {resolve: (bytes: Promise<ArrayBuffer>) => void, reject: (error: Error) => void}>} */
  const asked = new Map();
  /** @type {(message: {path: string, error?: string}, buffers: DataView<ArrayBuffer>[]) => void} */
  const answered = ({ path, error }, [bytes]) => {
    const waiting = asked.get(path);
    asked.delete(path);
    if (error) waiting?.reject(new Error(error));
    else waiting?.resolve(inflated(bytes));
  };
  widget.on("msg:custom", answered);
  lifetime.keep(() => widget.off("msg:custom", answered));
  return (path) =>
    new Promise((resolve, reject) => {
      const late = () => reject(new Error("Python does not answer; run the cell again"));
      const cancel = lifetime.timeout(late, WAIT_MS);
      asked.set(path, {
        resolve: (bytes) => (cancel(), resolve(bytes)),
        reject: (error) => (cancel(), reject(error)),
      });
      widget.send({ ask: path });
    });
}
