// The palettes of viz/theme.py, sent with the data, as colours for cells.

/** @import { Lifetime } from "./lifetime.js" */
/** @import { Palette } from "./wire.js" */

const ROOT_STOPS = 49; // as in viz/theme.py

/**
 * Red, green and blue of #rrggbb.
 *
 * @param {string} color
 * @returns {number[]} three, from 0 to 255
 */
export function rgb(color) {
  return [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

/**
 * The palette that fits what an element stands on: a page of Streamlit, a notebook, or a file.
 *
 * @param {{light: Palette, dark: Palette}} themes
 * @param {Element} host
 * @returns {Palette}
 */
export function currentPalette(themes, host) {
  const background = getComputedStyle(host).getPropertyValue("--st-background-color").trim();
  if (background)
    return background.toLowerCase() === themes.dark.background ? themes.dark : themes.light;
  const { jpThemeLight } = document.body.dataset;
  const isDark = jpThemeLight === undefined ? DARK.matches : jpThemeLight === "false";
  return isDark ? themes.dark : themes.light;
}

/**
 * Give an element the colours that fit where it stands.
 *
 * @param {HTMLElement} element
 * @param {{light: Palette, dark: Palette}} themes
 * @returns {Palette}
 */
export function dressed(element, themes) {
  const palette = currentPalette(themes, element);
  for (const [name, value] of Object.entries(palette))
    if (typeof value === "string") element.style.setProperty(`--hl-${name}`, value);
  return palette;
}

/**
 * Act when a notebook or the system turns dark or light; Streamlit says so itself.
 *
 * @param {Lifetime} lifetime
 * @param {() => void} act
 */
export function watchTheme(lifetime, act) {
  lifetime.listen(DARK, "change", act);
  const observer = new MutationObserver(act);
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  lifetime.keep(() => observer.disconnect());
}

/**
 * Colours along a scale.
 *
 * @param {string[]} colors stops, evenly spread
 * @param {number} [size] how many colours
 * @returns {Uint8ClampedArray} r, g, b, r, g, b, …
 */
export function ramp(colors, size = 256) {
  const stops = colors.map(rgb);
  const table = new Uint8ClampedArray(3 * size);
  for (let i = 0; i < size; i++) {
    const at = (i / (size - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      table[3 * i + c] = stops[low][c] + (at - low) * (stops[low + 1][c] - stops[low][c]);
    }
  }
  return table;
}

/**
 * The colour of a value between low and high on a ramp, as CSS.
 *
 * @param {Uint8ClampedArray} table
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function colorAt(table, value, low, high) {
  const last = table.length / 3 - 1;
  const share = high > low ? (value - low) / (high - low) : 0;
  const i = 3 * Math.round(Math.min(Math.max(share, 0), 1) * last);
  return `rgb(${table[i]},${table[i + 1]},${table[i + 2]})`;
}

/**
 * Where a weight of attention or a probability stands on the scale of colours, both from 0 to 1. The
 * one law of their colour; viz/theme.py has the same for figures.
 *
 * @param {number} weight
 * @param {Pick<Palette, "small_weights">} palette
 */
export function weightShare(weight, { small_weights }) {
  const share = Math.min(Math.max(weight, 0), 1);
  return small_weights ? Math.sqrt(share) : share;
}

/**
 * The colours of weights, as CSS.
 *
 * @param {Palette} palette
 * @returns {(weight: number) => string}
 */
export function weightColors(palette) {
  const table = ramp(palette.sequential);
  return (weight) => colorAt(table, weightShare(weight, palette), 0, 1);
}

/**
 * What a legend says of them.
 *
 * @param {Palette} palette
 */
export function weightLegend({ small_weights }) {
  return small_weights ? "attention weight (square root)" : "attention weight, 0 to 1";
}

/**
 * The same in the form Plotly takes: its stops stand so that values can stay as they are.
 *
 * @param {Palette} palette
 */
export function plotlyWeights({ sequential, small_weights }) {
  if (!small_weights) return plotlyScale(sequential);
  const table = ramp(sequential, ROOT_STOPS);
  const colors = Array.from({ length: ROOT_STOPS }, (_, i) => colorAt(table, i, 0, ROOT_STOPS - 1));
  return plotlyScale(colors).map(([at, color]) => /** @type {const} */ ([at ** 2, color]));
}

/**
 * A scale in the form Plotly takes.
 *
 * @param {string[]} colors
 * @returns {[number, string][]}
 */
export function plotlyScale(colors) {
  return colors.map((color, i) => [i / (colors.length - 1), color]);
}

/**
 * Black or white, whichever reads better on a colour.
 *
 * @param {string} color rgb(r,g,b)
 */
export function inkOn(color) {
  const [r, g, b] = (color.match(/\d+/g) ?? []).map((x) => {
    const share = Number(x) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
}
