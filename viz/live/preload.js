// What Streamlit runs beside the component: plotly.js and the modules load while Python computes.

/** @param {{data: string[]}} call the modules below /live */
export default function preload({ data }) {
  if ("Plotly" in globalThis || document.getElementById("plotly")) return;
  /** @param {string} name */
  const address = (name) => new URL(`live/${name}`, document.baseURI).href;
  const script = document.createElement("script");
  const over = () => (script.dataset.over = "");
  script.addEventListener("load", over);
  script.addEventListener("error", over);
  script.id = "plotly";
  script.src = address("plotly.min.js");
  document.head.append(script);
  for (const name of data) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = address(name);
    document.head.append(link);
  }
}
