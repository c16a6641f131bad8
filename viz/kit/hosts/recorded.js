// Home with a run that was recorded, which stands where the live one will until that is drawn.
//
// It stands in a closed shadow: neither the page's styles nor whoever looks for the live part, such
// as `settled.js`, find it. Nobody can point at it, and a screen reader does not read it.

import { same } from "../conversation.js";
import { html } from "../dom.js";
import { Lifetime } from "../lifetime.js";
import { fill, show } from "./saved.js";

/** @import { Home } from "../parts/home.js" */
/** @import { HomeSpec } from "../parts/home/numbers.js" */
/** @import { Contents, Part } from "./saved.js" */

// Something is drawn, whatever it is, or it is said why nothing can be.
const LIVE = ".hl-live:not([data-busy]), .stMain .hl-error, [data-testid='stException']";
const CHANGES = ["data-busy", "data-settled", "data-test-script-state"];
const SOURCE = "Recorded run · the model is starting";

/** @type {Home | null} */
let now = null;

/**
 * How far the film of a run has come there; of another run not at all.
 *
 * @param {HomeSpec} spec
 */
export function reached({ labels, columns }) {
  const spec = now?.run?.spec;
  const isSame = same(spec?.labels, labels) && spec?.columns.length === columns.length;
  return (isSame && now?.film.time.at) || 0;
}

function isLive() {
  return document.documentElement.dataset.settled || document.querySelector(LIVE) !== null;
}

/**
 * Show it until something live is drawn, or the page is at rest without.
 *
 * @param {Part<Home>} part
 * @param {Contents} contents
 * @param {{style: string, background: string}} look a style sheet, and the chosen theme's background
 */
export function stand(part, contents, { style, background }) {
  if (isLive()) return;
  const ending = new AbortController();
  const lifetime = new Lifetime(ending.signal);
  const host = html("div", { "aria-hidden": "true", inert: true });
  host.style.setProperty("--st-background-color", background);
  const el = html("div", { class: "hl-live" });
  const root = host.attachShadow({ mode: "closed" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  root.append(el);
  document.body.append(host);
  lifetime.keep(() => host.remove());
  lifetime.keep(() => (now = null));
  fill(el, contents.told.themes, lifetime);
  now = show(part, el, contents, { signal: ending.signal, source: SOURCE });
  const observer = new MutationObserver(() => isLive() && ending.abort());
  observer.observe(document.documentElement, { attributeFilter: CHANGES, subtree: true });
  lifetime.keep(() => observer.disconnect());
}
