// What Streamlit runs for the component: it loads the modules and hands each call on.
//
// Streamlit runs this text from an address of its own, so the modules are found from the page's, and
// what fails before they load must be said here. It calls with every new data, and calls what it was
// given back when the component is taken off the page. But it does so too when newer data came while
// a call was waiting for the modules, and the newer call may begin only after that: what is still
// in the document goes on, with what a person has changed there and Python was not sent yet.

/**
 * What Streamlit hands over.
 *
 * @typedef {object} Call
 * @property {any} data what the part is told, and its name
 * @property {HTMLElement} parentElement
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/** @type {WeakMap<HTMLElement, Call>} */
const newest = new WeakMap();

/**
 * @param {Call} call
 * @returns {Promise<(() => void) | undefined>} what to call when the component is taken off the page
 */
export default async function show(call) {
  const root = call.parentElement.querySelector(".hl-live, .hl-figure, .hl-control");
  if (!(root instanceof HTMLElement)) return undefined;
  newest.set(root, call);
  try {
    const main = await import(new URL("live/main.js", document.baseURI).href);
    if (newest.get(root) === call) main.mount(root, call);
    return () => {
      if (!root.isConnected) main.unmount(root);
    };
  } catch (error) {
    root.textContent = `This figure did not load from the app: ${error}`;
    return undefined;
  }
}
