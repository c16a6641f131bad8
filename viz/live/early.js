// What the page loads before Streamlit has anything to show: plotly.js and the modules, while Python
// still starts or computes. The page names the modules (routes.py): those that Home needs as
// `modulepreload`, those that can wait in `data-later` of this script.

import { loadPlotly } from "../kit/plotly.js";
import { watchConnection } from "./connection.js";
import { watch } from "./settled.js";

function loadTheRest() {
  const script = document.querySelector("script[data-later]");
  const names = script?.getAttribute("data-later")?.split(" ") ?? [];
  for (const name of names) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = new URL(name, document.baseURI).href;
    document.head.append(link);
  }
}

/** The page has come to rest, and nothing plays on it. */
function atRest() {
  const root = document.documentElement;
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!root.dataset.settled || document.querySelector("[data-drawn$='plays']")) return;
      observer.disconnect();
      resolve(null);
    });
    observer.observe(root, { attributeFilter: ["data-settled", "data-drawn"], subtree: true });
  });
}

/**
 * A key that composes a word, as Enter does that chooses Japanese letters, is for no box and no page:
 * Streamlit's own boxes would send half a word. Safari says of the last one only 229.
 *
 * @param {KeyboardEvent} event
 */
function leaveToComposing(event) {
  if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
}

addEventListener("keydown", leaveToComposing, true);
watch();
watchConnection();
// Home draws without plotly.js, which keeps a browser busy for half a second: there it can wait.
const page = new URLSearchParams(location.search).get("page");
const isWanted = page !== null && page !== "Home";
// Where it does not load now, whoever needs it tries again and says so.
(isWanted ? loadPlotly() : atRest().then(loadPlotly)).then(loadTheRest, loadTheRest);
