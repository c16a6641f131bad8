// Where Streamlit's component meets the instruments: called with new data, and on a change of theme.

import { Microscope } from "./microscope.js";

const open = new WeakMap();

/** Show `component.data` in its element; the same element keeps its instrument. */
export function mount({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".hl-live");
  if (!open.has(root)) {
    open.set(
      root,
      new Microscope(root, {
        tell: (told) => setStateValue("told", told),
        lost: (key) => setTriggerValue("lost", key),
      }),
    );
  }
  open.get(root).receive(data, root);
}
