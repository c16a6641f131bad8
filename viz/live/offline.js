// A saved microscope: the arrays it holds came along in the file, so it needs no app.

import { PackedLibrary } from "./arrays.js";
import { Microscope } from "./microscope.js";

/** Open what exports.js saved: {data, arrays}. */
export function open(root, { data, arrays }) {
  root.style.setProperty("--st-background-color", preferredBackground(data.themes));
  document.body.style.background = preferredBackground(data.themes);
  const scope = new Microscope(root, { library: new PackedLibrary(arrays), offline: true });
  document.title = `Headlight: ${data.queryLabels.join(" ")}`;
  scope.receive(data);
  return scope;
}

function preferredBackground(themes) {
  return (matchMedia("(prefers-color-scheme: dark)").matches ? themes.dark : themes.light)
    .background;
}
