// Where Streamlit's component meets a part of the kit.

import { PartHost } from "../kit/hosts/streamlit.js";

/** @import { Call } from "./loader.js" */

/**
 * A part on the page, and the call through which it answers.
 *
 * @typedef {{host: PartHost, call: Call}} Mounted
 */

/** @type {WeakMap<HTMLElement, Mounted>} */
const mounted = new WeakMap();

/**
 * Show data in an element; the same element keeps its part.
 *
 * @param {HTMLElement} root
 * @param {Call} call
 */
export function mount(root, call) {
  const place = mounted.get(root) ?? opened(root, call);
  place.call = call;
  place.host.receive(call.data);
}

/**
 * @param {HTMLElement} root
 * @param {Call} call
 * @returns {Mounted}
 */
function opened(root, call) {
  /** @type {Mounted} */
  const place = {
    call,
    host: new PartHost(root, {
      send: (message) => place.call.setStateValue("sent", message),
      lost: (key) => place.call.setTriggerValue("lost", key),
      differs: (heads) => place.call.setTriggerValue("differing", heads),
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
  mounted.get(root)?.host.destroy();
  mounted.delete(root);
}
