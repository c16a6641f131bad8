// What the page loads before Streamlit has anything to show: plotly.js and the modules, while Python
// still starts or computes. The page names the modules (routes.py): those that Home needs as
// `modulepreload`, those that can wait in `data-later` of this script.

import { loadPlotly } from "../kit/plotly.js";
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

watch();
// Where it does not load now, whoever needs it tries again and says so.
loadPlotly().then(loadTheRest, loadTheRest);
