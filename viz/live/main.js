// Where Streamlit's component meets the instruments.

/** @import { Instrument } from "./core/instrument.js" */
/** @import { Receiver } from "./core/wire.js" */
/** @import { Call } from "./loader.js" */

/** @typedef {new (root: HTMLElement, receiver: Receiver) => Instrument<any>} Kind */

/**
 * Each instrument's class, loaded when it is first wanted.
 *
 * @type {Record<string, () => Promise<Kind>>}
 */
const KINDS = {
  microscope: () => import("./microscope/microscope.js").then(({ Microscope }) => Microscope),
  sampler: () => import("./sampler/sampler.js").then(({ Sampler }) => Sampler),
  writer: () => import("./writer/writer.js").then(({ Writer }) => Writer),
  editor: () => import("./editor/editor.js").then(({ Editor }) => Editor),
  rotor: () => import("./rotor/rotor.js").then(({ Rotor }) => Rotor),
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
 * @typedef {{instrument: Instrument<any>, call: Call}} Mounted
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
      tick: (n) => place.call.setTriggerValue("tick", n),
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
