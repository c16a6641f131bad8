// Where Streamlit's component meets a part of the kit, or a figure made in Python.

/** @import { Receiver } from "../kit/wire.js" */
/** @import { Call } from "./loader.js" */

/** @typedef {{receive: (data: any) => void, destroy: () => void}} Instrument */
/** @typedef {new (root: HTMLElement, receiver: Receiver) => Instrument} Kind */

/** @type {Record<string, () => Promise<Kind>>} */
const KINDS = {
  part: () => import("../kit/hosts/streamlit.js").then(({ PartHost }) => PartHost),
  chart: () => import("./chart/chart.js").then(({ Chart }) => Chart),
};

/**
 * The class of an instrument.
 *
 * @param {string} name
 */
export function kindOf(name) {
  return KINDS[name]();
}

/**
 * An instrument on the page, and the call through which it answers.
 *
 * @typedef {{instrument: Instrument, call: Call}} Mounted
 */

/** @type {WeakMap<HTMLElement, Mounted>} */
const mounted = new WeakMap();

/**
 * Show data in an element; the same element keeps its instrument.
 *
 * @param {HTMLElement} root
 * @param {Call} call
 * @param {Kind} Kind
 */
export function mount(root, call, Kind) {
  const place = mounted.get(root) ?? opened(root, call, Kind);
  place.call = call;
  place.instrument.receive(call.data);
}

/**
 * @param {HTMLElement} root
 * @param {Call} call
 * @param {Kind} Kind
 * @returns {Mounted}
 */
function opened(root, call, Kind) {
  /** @type {Mounted} */
  const place = {
    call,
    instrument: new Kind(root, {
      send: (message) => place.call.setStateValue("sent", message),
      lost: (key) => place.call.setTriggerValue("lost", key),
      differs: (heads) => place.call.setTriggerValue("differing", heads),
      picked: (at) => place.call.setTriggerValue("picked", at),
    }),
  };
  mounted.set(root, place);
  return place;
}

/**
 * The element is taken off the page.
 *
 * @param {HTMLElement} root
 */
export function unmount(root) {
  mounted.get(root)?.instrument.destroy();
  mounted.delete(root);
}
