// A saved microscope: the arrays it holds came along in the file, so it needs no app.

import { PackedLibrary } from "../core/arrays.js";
import { Microscope } from "../microscope/microscope.js";

/** @import { Palette } from "../core/wire.js" */
/** @import { MicroscopeData } from "../microscope/wire.js" */

/**
 * Open what microscope/exports.js saved.
 *
 * @param {HTMLElement} root
 * @param {{data: MicroscopeData, arrays: Record<string, string>}} contents
 */
export function open(root, { data, arrays }) {
  const background = preferredBackground(data.themes);
  root.style.setProperty("--st-background-color", background);
  document.body.style.background = background;
  const scope = new Microscope(root, {}, { library: new PackedLibrary(arrays), isOffline: true });
  const [first] = data.groups;
  document.title = `Headlight: ${data.streams[first.queries].labels.join(" ")}`;
  scope.receive(data);
  return scope;
}

/** @param {{light: Palette, dark: Palette}} themes */
function preferredBackground({ light, dark }) {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  return (isDark ? dark : light).background;
}
