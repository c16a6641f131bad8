// Where Streamlit's component meets the instruments.

import { Editor } from "./editor/editor.js";
import { Microscope } from "./microscope/microscope.js";
import { Rotor } from "./rotor/rotor.js";
import { Sampler } from "./sampler/sampler.js";
import { Writer } from "./writer/writer.js";

/** @import { Instrument } from "./core/instrument.js" */
/** @import { Receiver } from "./core/wire.js" */
/** @import { Call } from "./loader.js" */

/** @type {Record<string, new (root: HTMLElement, receiver: Receiver) => Instrument<any>>} */
const INSTRUMENTS = {
  microscope: Microscope,
  sampler: Sampler,
  writer: Writer,
  editor: Editor,
  rotor: Rotor,
};

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
 */
export function mount(root, call) {
  const place = mounted.get(root) ?? opened(root, call);
  place.call = call;
  place.instrument.receive(call.data);
}

/**
 * @param {HTMLElement} root
 * @param {Call} call
 * @returns {Mounted}
 */
function opened(root, call) {
  const Kind = INSTRUMENTS[call.data.instrument];
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
