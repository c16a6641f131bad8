// A saved microscope: the arrays it holds came along in the file, so it needs no app.

import { PackedLibrary } from "../../kit/arrays.js";
import { fill } from "../../kit/hosts/saved.js";
import { Lifetime } from "../../kit/lifetime.js";
import { plotlyFromPage } from "../../kit/plotly.js";
import { Microscope } from "../../kit/parts/attention.js";

/** @import { MicroscopeData } from "../../kit/parts/attention/wire.js" */

/**
 * Open what microscope/exports.js saved.
 *
 * @param {HTMLElement} root
 * @param {{data: MicroscopeData, arrays: Record<string, string>}} contents
 */
export function open(root, { data, arrays }) {
  plotlyFromPage();
  fill(root, data.themes, new Lifetime());
  const scope = new Microscope(root, {}, { library: new PackedLibrary(arrays), isOffline: true });
  const [first] = data.groups;
  document.title = `Headlight: ${data.streams[first.queries].labels.join(" ")}`;
  scope.receive(data);
  return scope;
}
