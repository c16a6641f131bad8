// Where Streamlit's component meets the instruments.

/** @import { Receiver } from "../kit/wire.js" */
/** @import { Call } from "./loader.js" */

/** @typedef {{receive: (data: any) => void, destroy: () => void}} Instrument */
/** @typedef {new (root: HTMLElement, receiver: Receiver) => Instrument} Kind */

/**
 * Each instrument's class, loaded when it is first wanted.
 *
 * @type {Record<string, () => Promise<Kind>>}
 */
const KINDS = {
  sentence_box: () =>
    import("./sentence_box/sentence_box.js").then(({ SentenceBox }) => SentenceBox),
  pickers: () => import("./pickers/pickers.js").then(({ Pickers }) => Pickers),
  part: () => import("../kit/hosts/streamlit.js").then(({ PartHost }) => PartHost),
  microscope: () => import("./microscope/microscope.js").then(({ Microscope }) => Microscope),
  writer: () => import("./writer/writer.js").then(({ Writer }) => Writer),
  editor: () => import("./editor/editor.js").then(({ Editor }) => Editor),
  chart: () => import("./chart/chart.js").then(({ Chart }) => Chart),
  sketch: () => import("./sketch/sketch.js").then(({ Sketch }) => Sketch),
  by_hand: () => import("./by_hand/by_hand.js").then(({ ByHand }) => ByHand),
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
      tick: (n) => place.call.setTriggerValue("tick", n),
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
