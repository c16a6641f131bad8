// A part in one file that holds everything, with no Python behind it.

import { bytesOf } from "../arrays.js";
import { currentPalette, watchTheme } from "../colors.js";
import { Lifetime } from "../lifetime.js";
import { Model } from "../model.js";

/** @import { Palette } from "../wire.js" */
/** @import { Told } from "../model.js" */

/**
 * @param {{render: (shown: {model: Model, el: HTMLElement, signal: AbortSignal}) => void}} part
 * @param {HTMLElement} el
 * @param {{told: Told, arrays: Record<string, string>}} contents arrays by path, deflated
 */
export function open(part, el, { told, arrays }) {
  const lifetime = new Lifetime();
  /** @param {string} path */
  const load = (path) => inflated(bytesOf(arrays[path]));
  const model = new Model({ push() {}, load }, lifetime);
  model.receive(told);
  fill(el, told.themes, lifetime);
  part.render({ model, el, signal: new AbortController().signal });
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
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
