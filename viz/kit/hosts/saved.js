// A part in one file that holds everything, with no Python behind it.

import { MissingArrays, bytesOf, inflated } from "../arrays.js";
import { currentPalette, dressed, watchTheme } from "../colors.js";
import { html } from "../dom.js";
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

/**
 * Arrays by path, deflated; `note` is what is not in the file as it ran.
 *
 * @typedef {{told: Told, arrays: Record<string, string>, note?: string}} Contents
 */

/**
 * @param {Part<unknown>} part
 * @param {HTMLElement} el
 * @param {Contents} contents
 */
export function open(part, el, contents) {
  plotlyFromPage();
  const lifetime = new Lifetime();
  fill(el, contents.told.themes, lifetime);
  show(part, el, contents, { signal: new AbortController().signal });
  const above = head(contents.told, lifetime);
  if (above) el.before(above);
  if (contents.note) el.after(line("footer", [contents.note], contents.told.themes, lifetime));
}

/**
 * What the part is of, above it: the model and its text, where they are known.
 *
 * @param {Told} told
 * @param {Lifetime} lifetime
 */
function head({ spec: { model, text }, themes }, lifetime) {
  if (!model && !text) return null;
  document.title = [model, text].filter(Boolean).join(" · ");
  const names = [html("b", null, html("bdi", null, model)), " ", html("bdi", null, text)];
  return line("header", names, themes, lifetime);
}

/**
 * A line beside the part, in its colours.
 *
 * @param {"header" | "footer"} where
 * @param {import("../dom.js").Children} words
 * @param {{light: Palette, dark: Palette}} themes
 * @param {Lifetime} lifetime
 */
function line(where, words, themes, lifetime) {
  const node = html(where, { class: "hl-offline" }, html("p", { class: "hl-caption" }, ...words));
  const paint = () => dressed(node, themes);
  paint();
  watchTheme(lifetime, paint);
  return node;
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
