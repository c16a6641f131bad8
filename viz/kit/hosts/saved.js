// A part in one file that holds everything, with no Python behind it.

import { MissingArrays, bytesOf, inflated } from "../arrays.js";
import { currentPalette, watchTheme } from "../colors.js";
import { Lifetime } from "../lifetime.js";
import { Model } from "../model.js";
import { plotlyFromPage } from "../plotly.js";

const NOT_HERE = "This is not in the saved file; it holds what was opened before saving.";

/** @import { Palette } from "../wire.js" */
/** @import { Told } from "../model.js" */

/**
 * @template Shown
 * @typedef {{render: (shown: {model: Model, el: HTMLElement, signal: AbortSignal}) => Shown}} Part
 */

/** @typedef {{told: Told, arrays: Record<string, string>}} Contents arrays by path, deflated */

/**
 * @param {Part<unknown>} part
 * @param {HTMLElement} el
 * @param {Contents} contents
 */
export function open(part, el, contents) {
  plotlyFromPage();
  fill(el, contents.told.themes, new Lifetime());
  show(part, el, contents, { signal: new AbortController().signal });
}

/**
 * @template Shown
 * @param {Part<Shown>} part
 * @param {HTMLElement} el
 * @param {Contents} contents
 * @param {{signal: AbortSignal, source?: string}} how long, and what is said of it
 */
export function show(part, el, { told, arrays }, { signal, source }) {
  /** @param {string} path */
  const load = async (path) => {
    if (!(path in arrays)) throw new MissingArrays(NOT_HERE);
    return inflated(bytesOf(arrays[path]));
  };
  const model = new Model({ push() {}, load, source }, new Lifetime(signal));
  model.receive(told);
  return part.render({ model, el, signal });
}

/**
 * Give the whole page the colours of what it holds.
 *
 * @param {HTMLElement} el
 * @param {{light: Palette, dark: Palette}} themes
 * @param {Lifetime} lifetime
 */
export function fill(el, themes, lifetime) {
  const paint = () => {
    document.body.style.background = currentPalette(themes, el).background;
  };
  paint();
  watchTheme(lifetime, paint);
  lifetime.keep(() => (document.body.style.background = ""));
}
