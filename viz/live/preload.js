// What Streamlit runs beside the component: plotly.js and the modules load while Python computes.

/**
 * The modules below /live: what the first page needs, and what can wait until that is there.
 *
 * @param {{data: {first: string[], later: string[]}}} call
 */
export default function preload({ data }) {
  if ("Plotly" in globalThis || document.getElementById("plotly")) return;
  /** @param {string} name */
  const address = (name) => new URL(`live/${name}`, document.baseURI).href;
  /** @param {string[]} names */
  const load = (names) => {
    for (const name of names) {
      const link = document.createElement("link");
      link.rel = "modulepreload";
      link.href = address(name);
      document.head.append(link);
    }
  };
  const script = document.createElement("script");
  const over = () => {
    script.dataset.over = "";
    load(data.later);
  };
  script.addEventListener("load", over);
  script.addEventListener("error", over);
  script.id = "plotly";
  script.src = address("plotly.min.js");
  document.head.append(script);
  load(data.first);
}
