// Where Streamlit's component meets the instruments: called with new data, and on a change of theme.

import { Editor } from "./editor.js";
import { Microscope } from "./microscope.js";
import { Rotor } from "./rotor.js";
import { Sampler } from "./sampler.js";
import { Writer } from "./writer.js";

const INSTRUMENTS = {
  microscope: Microscope,
  sampler: Sampler,
  writer: Writer,
  editor: Editor,
  rotor: Rotor,
};
const open = new WeakMap();

/** Show `component.data` in its element; the same element keeps its instrument. */
export function mount({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".hl-live");
  if (!open.has(root)) {
    const Instrument = INSTRUMENTS[data.instrument];
    const say = {
      tell: (told) => setStateValue("told", told),
      lost: (key) => setTriggerValue("lost", key),
      tick: (n) => setTriggerValue("tick", n),
    };
    open.set(root, new Instrument(root, say));
  }
  open.get(root).receive(data, root);
}
