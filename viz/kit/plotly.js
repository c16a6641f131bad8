// plotly.js, from the app itself, and what is used of it.

import { bytesOf, inflated } from "./arrays.js";
import { html } from "./dom.js";

/**
 * An axis as Plotly drew it. Its own names; nothing public tells where a cell is.
 *
 * @typedef {object} Axis
 * @property {number} _offset pixels from the left or top of the chart
 * @property {number} _length in pixels
 * @property {[number, number]} range
 * @property {(value: number) => number} c2p pixels from the start of the axis
 * @property {(pixels: number) => number} p2c
 */

/**
 * @typedef {{xaxis: Axis, yaxis: Axis, width: number, height: number, shapes: Record<string, any>[]}}
 *   DrawnLayout
 * @typedef {HTMLElement & {
 *   _fullLayout?: DrawnLayout,
 *   _fullData: Record<string, any>[],
 *   calcdata: any[][],
 *   data: object[],
 *   on: (event: string, act: (event: any) => void) => void,
 * }} Chart an element with a figure in it
 */

/**
 * @typedef {object} Plotly
 * @property {(chart: HTMLElement, data: object[], layout: object, config: object) =>
 *   Promise<unknown>} react
 * @property {(figure: object, options: object) => Promise<string>} toImage
 * @property {(chart: HTMLElement) => void} purge
 */

/** No way out: Plotly would offer to upload a figure to a cloud. */
export const NO_CLOUD = { showSendToCloud: false, plotlyServerURL: "" };

const page = /** @type {{Plotly?: Plotly}} */ (globalThis);
/** @type {Promise<Plotly> | undefined} */
let loading;

/** Where its script is: the app's own, unless a host says otherwise. */
let address = async () => new URL("live/plotly.min.js", document.baseURI).href;

/**
 * Have plotly.js loaded from elsewhere.
 *
 * @param {() => Promise<ArrayBuffer>} source gives the script
 */
export function plotlyFrom(source) {
  address = async () =>
    URL.createObjectURL(new Blob([await source()], { type: "text/javascript" }));
}

/** Have it loaded from the page itself, a saved file, where it stands deflated. */
export function plotlyFromPage() {
  const packed = () => document.querySelector("#packed-plotly")?.textContent ?? "";
  plotlyFrom(() => inflated(bytesOf(packed())));
}

/**
 * plotly.js, loaded once on a page: in a notebook each view has a copy of this module, and another one
 * may have asked for it already.
 *
 * @returns {Promise<Plotly>}
 */
export function loadPlotly() {
  loading ??= page.Plotly ? Promise.resolve(page.Plotly) : scriptOfPlotly();
  loading.catch(() => (loading = undefined)); // so that the next try asks again
  return loading;
}

/** @returns {Promise<Plotly>} */
async function scriptOfPlotly() {
  const src = await address();
  const asked = document.querySelector("#plotly");
  const script = asked ?? html("script", { id: "plotly", src });
  return new Promise((resolve, reject) => {
    const over = () => {
      script.remove();
      if (page.Plotly) return resolve(page.Plotly);
      return reject(new Error("plotly.js did not load from the app; heat maps need it"));
    };
    script.addEventListener("load", over);
    script.addEventListener("error", over);
    if (!asked) document.head.append(script);
  });
}
