// A heat map as Plotly takes it: traces and layout of a picture.

import { unescaped } from "./labels.js";
import { bands, slanted } from "./looks.js";
import { plotlyScale, plotlyWeights, weightLegend, weightShare } from "./colors.js";

/** @import { Axis } from "./plotly.js" */
/** @import { Matrix, Numbers } from "./maths.js" */
/** @import { Looks, Palette } from "./wire.js" */

const MOST_CELL = 54.4; // pixels of a cell
const TICK_ROOM = 12; // pixels a label needs across its own direction
const ROOT_TICKS = [0, 0.01, 0.1, 0.5, 1];
const MOST_STROKES = 48;
const LETTER = 6.3; // average pixels of a tick label's letter
const MOST_LETTERS = 16;
const STRETCH = 1.6; // how much higher than wide, or wider, a cell may be on a wall
const BAND = 4; // pixels between labels and cells, for who wrote what
const OUT_OF_SIGHT = -99; // a row and a column that no map has
export const ZOOMED_FROM = 40; // columns above which a person may want to zoom
export const BAR = 32; // longest bar beside a map, in pixels

/**
 * The colours of a map: from `low` to `high`; signed ones are symmetric about 0, others are of weights.
 *
 * @typedef {object} Scale
 * @property {string} name
 * @property {number} low
 * @property {number} high
 * @property {boolean} [signed]
 */

/**
 * A bar beside a row or below a column, from 0 to 1, with words for the mouse.
 *
 * @typedef {{share: number, tip: string}} SideBar
 * @typedef {object} Sides
 * @property {SideBar[]} rows
 * @property {SideBar[]} columns
 * @property {(i: number) => void} pickRow
 * @property {(i: number) => void} pickColumn
 */

/**
 * What a heat map shows. Labels are escaped for Plotly. `hidden` cells are grey and hatched, `blank`
 * ones hatched. Pictures with the same `revision` keep what a person zoomed to.
 *
 * @typedef {object} Picture
 * @property {Matrix} values
 * @property {string[]} rowLabels
 * @property {string[]} columnLabels
 * @property {Looks} [rowLooks]
 * @property {Looks} [columnLooks]
 * @property {string} rowTitle
 * @property {string} columnTitle
 * @property {Scale} scale
 * @property {Numbers | null} hidden
 * @property {Numbers} [blank]
 * @property {Sides} [sides]
 * @property {string} [revision]
 */

/**
 * How large a map may be, and what Plotly does when the mouse is dragged.
 *
 * @typedef {object} Sizes
 * @property {number} most pixels of the height
 * @property {number} [room] pixels of the height there are on a wall
 * @property {"zoom" | false} [drag] undefined: zoom where there are many columns
 */

/**
 * The traces: values, hidden cells, and cells that are no number.
 *
 * @param {Picture} picture
 * @param {Palette} palette
 * @param {number} barLength pixels of the colour bar
 * @returns {object[]}
 */
export function traces({ values, scale, hidden, blank, sides }, palette, barLength) {
  /** @param {number} i */
  const isHidden = (i) => Boolean(hidden?.[i]);
  /** @param {number} i */
  const isOut = (i) => isHidden(i) || Boolean(blank?.[i]);
  const bar = colorBar(scale, palette, barLength, sides ? BAR + 10 : 8);
  const shown = {
    type: "heatmap",
    z: cells(values, (value, i) => (isOut(i) || !Number.isFinite(value) ? NaN : value)),
    zmin: scale.low,
    zmax: scale.high,
    hoverinfo: "none",
    colorscale: scale.signed ? plotlyScale(palette.diverging) : plotlyWeights(palette),
    showscale: Boolean(scale.signed),
    colorbar: bar,
  };
  /** @type {(value: number, i: number) => boolean} */
  const isBroken = (value, i) => !Number.isFinite(value) && !isHidden(i);
  /** @type {object[]} */
  const extra = scale.signed ? [] : [weightBar(bar, palette)];
  if (hidden) extra.push(plain(values, (_, i) => isHidden(i), palette.masked));
  if (values.values.some(isBroken)) extra.push(plain(values, isBroken, palette.bad));
  return [shown, ...extra];
}

/**
 * The colour bar of weights: on it, unlike in the cells, the colours change steadily, for Plotly would
 * crowd those of small weights at its left end.
 *
 * @param {object} colorbar
 * @param {Palette} palette
 */
function weightBar(colorbar, palette) {
  const colorscale = plotlyScale(palette.sequential);
  const place = { x: [OUT_OF_SIGHT], y: [OUT_OF_SIGHT], z: [[0]] }; // without a value no bar is drawn
  return { type: "heatmap", ...place, zmin: 0, zmax: 1, hoverinfo: "none", colorscale, colorbar };
}

/**
 * A trace of one colour where `test` holds.
 *
 * @param {Matrix} values
 * @param {(value: number, i: number) => boolean} test
 * @param {string} color
 */
function plain(values, test, color) {
  const z = cells(values, (value, i) => (test(value, i) ? 1 : NaN));
  const colorscale = plotlyScale([color, color]);
  return { type: "heatmap", z, colorscale, showscale: false, hoverinfo: "none" };
}

/**
 * Rows of a matrix with each value changed, as Plotly takes them.
 *
 * @param {Matrix} m
 * @param {(value: number, i: number) => number} change
 */
function cells({ rows, columns, values }, change) {
  return Array.from({ length: rows }, (_, row) =>
    Float32Array.from({ length: columns }, (_, column) => {
      const i = row * columns + column;
      return change(values[i], i);
    }),
  );
}

/**
 * @param {Scale} scale
 * @param {Palette} palette
 * @param {number} length
 * @param {number} below pixels between the map and the bar
 */
function colorBar({ name, low, high, signed }, palette, length, below) {
  const isRoot = !signed && palette.small_weights;
  const shown = isRoot ? ROOT_TICKS.filter(hasRoom) : [low, (low + high) / 2, high];
  /** @param {number} tick */
  function hasRoom(tick) {
    const wide = LETTER * (String(tick).length + 2);
    return !tick || wide / 2 <= weightShare(tick, palette) * length;
  }
  return {
    title: {
      text: signed ? name : weightLegend(palette),
      side: "top",
      font: { color: palette.muted, size: 12 },
    },
    orientation: "h",
    x: 0,
    xanchor: "left",
    y: 0,
    yanchor: "top",
    ypad: below,
    xpad: 0,
    thickness: 9,
    len: length,
    lenmode: "pixels",
    outlinewidth: 0,
    tickvals: signed ? shown : shown.map((weight) => weightShare(weight, palette)),
    ticktext: signed ? undefined : shown.map(String),
    tickformat: ".3~g",
    tickfont: { color: palette.muted, size: 12 },
  };
}

/**
 * @typedef {ReturnType<typeof layout>} Frame
 */

/**
 * The layout of a picture in a host of some width.
 *
 * @param {Picture} picture
 * @param {Palette} palette
 * @param {number} width
 * @param {Sizes} sizes
 */
export function layout(picture, palette, width, sizes) {
  const { values, hidden, blank, revision, rowLooks, columnLooks } = picture;
  const isOut = hidden && values.values.map((_, i) => Number(hidden[i] || blank?.[i] || 0));
  const { margin, size, height } = measures(picture, width, sizes);
  const transparent = "rgba(0,0,0,0)";
  return {
    width,
    height: margin.t + height + margin.b,
    autosize: false,
    hovermode: /** @type {const} */ (false),
    dragmode: sizes.drag ?? (values.columns > ZOOMED_FROM ? "zoom" : false),
    uirevision: revision,
    font: { family: palette.font, color: palette.text, size: 13 },
    paper_bgcolor: transparent,
    plot_bgcolor: transparent,
    margin,
    modebar: { bgcolor: transparent, color: palette.muted, activecolor: palette.accent },
    xaxis: {
      ...axisOf(picture.columnTitle, slanted(picture.columnLabels, columnLooks), size, palette),
      ticklabelstandoff: columnLooks ? BAND : 0,
      side: "top",
      tickangle: -50,
      range: [-0.5, values.columns - 0.5],
    },
    yaxis: {
      ...axisOf(
        picture.rowTitle,
        slanted(picture.rowLabels, rowLooks),
        height / values.rows,
        palette,
      ),
      ticklabelstandoff: rowLooks ? BAND : 0,
      range: [values.rows - 0.5, -0.5],
    },
    shapes: [
      ...(isOut ? [hatch(isOut, values.rows, values.columns, palette)] : []),
      ...bands("y", rowLooks, palette),
      ...bands("x", columnLooks, palette),
    ],
  };
}

/**
 * Room for labels and bars, and for the cells what is left of the width.
 *
 * @param {Picture} picture
 * @param {number} width
 * @param {Sizes} sizes
 */
function measures({ values, rowLabels, columnLabels, sides }, width, sizes) {
  const beside = sides ? BAR + 8 : 0;
  const left = 30 + LETTER * longest(rowLabels);
  const room = Math.max(width - left - 10 - beside, 80);
  const size = Math.min(MOST_CELL, room / values.columns);
  const margin = {
    l: left,
    r: Math.max(width - left - size * values.columns, 8),
    t: 30 + 0.8 * LETTER * longest(columnLabels),
    b: 58 + beside,
    pad: 0,
    autoexpand: false, // room made for the colour bar would take it from the cells
  };
  const square = size * values.rows;
  const free = (sizes.room ?? 0) - margin.t - margin.b;
  const height = sizes.room
    ? Math.min(Math.max(free, square / STRETCH), STRETCH * square)
    : Math.min(square, Math.max(sizes.most, 120));
  return { margin, size, height };
}

/**
 * @param {string} title
 * @param {string[]} labels
 * @param {number} pixels of a cell along this axis
 * @param {Palette} palette
 */
function axisOf(title, labels, pixels, palette) {
  return {
    showgrid: false,
    zeroline: false,
    tickfont: { color: palette.muted, size: 12 },
    ticks: "",
    automargin: false,
    title: { text: title, font: { color: palette.muted, size: 13 }, standoff: 4 },
    ...ticks(labels, pixels),
  };
}

/**
 * A layout without labels and titles of axes, for who draws them.
 *
 * @param {Frame} frame
 */
export function unnamed(frame) {
  const bare = { showticklabels: false, title: undefined };
  return { ...frame, xaxis: { ...frame.xaxis, ...bare }, yaxis: { ...frame.yaxis, ...bare } };
}

/**
 * Those labels there is room for.
 *
 * @param {string[]} labels
 * @param {number} pixels of a cell
 */
export function ticks(labels, pixels) {
  const step = Math.ceil(TICK_ROOM / pixels);
  const values = labels.map((_, i) => i).filter((i) => i % step === 0);
  return { tickmode: "array", tickvals: values, ticktext: values.map((i) => labels[i]) };
}

/**
 * The characters of the longest label.
 *
 * @param {string[]} labels
 */
function longest(labels) {
  const lengths = labels.map((label) => label.replace(/&[#\w]+;/g, "x").length);
  return Math.min(MOST_LETTERS, Math.max(1, ...lengths));
}

/**
 * Start and length in pixels of cell i on an axis, or of the middle `share` of it.
 *
 * @param {Axis} axis
 * @param {number} i
 * @param {number} share
 */
export function span(axis, i, share) {
  const [start, end] = [i - share / 2, i + share / 2].map((at) => axis._offset + axis.c2p(at));
  return [start, end - start];
}

/**
 * Whether cell i of an axis is in sight; a person may have zoomed.
 *
 * @param {Axis} axis
 * @param {number} i
 */
export function isInside(axis, i) {
  const at = axis.c2p(i);
  return at >= 0 && at <= axis._length;
}

/**
 * The length of a bar beside the map; of what is no share, as the sum of weights that are no numbers,
 * the least.
 *
 * @param {number} share
 */
export function sideLength(share) {
  return share > 0 ? Math.max(1, BAR * Math.min(share, 1)) : 1;
}

/**
 * One stroke along each run of hidden cells on an anti-diagonal; fewer where cells are many.
 *
 * @param {Numbers} hidden
 * @param {number} rows
 * @param {number} columns
 * @param {Palette} palette
 */
function hatch(hidden, rows, columns, palette) {
  const strokes = [];
  const step = Math.ceil((rows + columns) / (2 * MOST_STROKES));
  for (let total = 0; total < rows + columns - 1; total += step) {
    let start = null;
    const last = Math.max(0, total - columns + 1);
    for (let row = Math.min(total, rows - 1); row >= last - 1; row--) {
      const column = total - row;
      const isHidden = row >= last && hidden[row * columns + column];
      if (isHidden && !start) start = [column - 0.5, row + 0.5];
      if (!isHidden && start) {
        strokes.push(`M${start[0]},${start[1]}L${column - 0.5},${row + 0.5}`);
        start = null;
      }
    }
  }
  const line = { color: palette.hatch, width: 1 };
  return { type: "path", path: strokes.join("") || "M0,0", line, layer: "above" };
}

/**
 * The labels there is room for on an axis, as text, each with its place in pixels and its number.
 *
 * @param {string[]} labels
 * @param {Axis} axis
 */
export function shownLabels(labels, axis) {
  const [, pixels] = span(axis, 0, 1);
  return ticks(labels, pixels)
    .tickvals.filter((i) => isInside(axis, i))
    .map((i) => ({ label: unescaped(labels[i]), at: axis._offset + axis.c2p(i), i }));
}
