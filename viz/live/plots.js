// A Plotly heat map that says which cell the mouse is on, at the speed of the mouse.
//
// Plotly's own hover reports at most twenty times a second, so the cell is found from its axes here.

import { html, svg } from "./dom.js";
import { plotlyScale } from "./colors.js";

const TICK_ROOM = 12; // pixels a label needs across its own direction
const MOST_STROKES = 48;
const UNESCAPED = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&#36;": "$", "&#37;": "%" }; // labels.py
const LETTER = 6.3; // average pixels of a tick label's letter
export const ZOOMED_FROM = 40; // columns above which a person may want to zoom
const BAR = 32; // longest bar beside a map, in pixels
const CLICK_SLACK = 4; // pixels a mouse may move between down and up in a click
let loading;

/** plotly.js, from the app itself, once; viz/live/component.py may have asked for it already. */
export function loadPlotly() {
  loading ??= globalThis.Plotly ? Promise.resolve(globalThis.Plotly) : scriptOfPlotly();
  return loading;
}

function scriptOfPlotly() {
  const src = new URL("live/plotly.min.js", document.baseURI).href;
  const asked = document.querySelector("#plotly:not([data-over])");
  const script = asked ?? html("script", { id: "plotly", src });
  return new Promise((resolve, reject) => {
    const over = () => {
      script.remove();
      if (globalThis.Plotly) return resolve(globalThis.Plotly);
      loading = undefined; // so that the next try asks anew
      return reject(new Error("plotly.js did not load from the app; heat maps need it"));
    };
    script.addEventListener("load", over);
    script.addEventListener("error", over);
    if (!asked) document.head.append(script);
  });
}

/**
 * A picture is {values, rowLabels, columnLabels, rowTitle, columnTitle, scale, hidden}: a matrix, its
 * labels (escaped for Plotly), {name, low, high, signed} and a mask of cells to hatch, or null.
 * Pictures with the same `revision` keep what a person zoomed to.
 *
 * `point`, `pick` and `leave` hear of the mouse on cells, `name` of a click on a label, and `over`
 * that the cells have moved on the screen. `drag` is what Plotly does when the mouse is dragged.
 */
export class HeatMap {
  constructor(
    host,
    {
      point = () => {},
      pick = () => {},
      leave = () => {},
      over = () => {},
      name = null,
      cell = 34,
      most = 560,
      drag,
    } = {},
  ) {
    Object.assign(this, { host, over, name });
    this.sizes = { cell, most, drag };
    this.chart = html("div", { class: "hl-chart" });
    this.guides = ["row", "column", "cell"].map((name) =>
      html("div", { class: `hl-guide hl-guide-${name}` }),
    );
    this.sides = svg("svg", { class: "hl-sides", "aria-hidden": "true" });
    for (const guide of this.guides) guide.hidden = true;
    this.names = svg("svg", { class: "hl-sides hl-names", "aria-hidden": "true" });
    host.append(this.chart, this.names, this.sides, ...this.guides);
    host.addEventListener("pointermove", (event) => this.tell(event, point));
    host.addEventListener("pointerleave", leave);
    host.addEventListener(
      "pointerdown",
      (down) =>
        addEventListener("pointerup", (up) => this.released(down, up, pick), {
          capture: true,
          once: true,
        }),
      true,
    );
    new ResizeObserver(() => this.resized()).observe(host);
  }

  /** Draw a picture in a palette; the promise ends when it is on screen. */
  async draw(picture, palette) {
    const Plotly = await loadPlotly();
    this.picture = picture;
    this.palette = palette;
    this.width = this.host.clientWidth;
    const frame = layout(picture, palette, this.width, this.sizes);
    const barLength = Math.min(190, this.width - frame.margin.l - frame.margin.r);
    this.frame = frame;
    const drags = this.sizes.drag === undefined ? [] : ["zoom2d", "pan2d"]; // chosen elsewhere
    await Plotly.react(this.chart, traces(picture, palette, barLength), unnamed(frame), {
      displaylogo: false,
      displayModeBar: picture.values.columns > ZOOMED_FROM ? "hover" : false,
      doubleClick: drags.length ? false : "reset+autosize", // cells may be clicked fast
      showTips: !drags.length, // Plotly's tip is that a double click zooms out
      modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d", "autoScale2d", ...drags],
    });
    if (!this.listens) this.chart.on("plotly_relayout", () => this.drawOverlays());
    this.listens = true;
    this.drawOverlays();
  }

  drawOverlays() {
    this.drawNames();
    this.drawSides();
    if (this.marked) this.mark(...this.marked);
    this.over();
  }

  /**
   * Labels and titles of the axes. Plotly takes 40 ms for 64 labels a side, each time; here they stay
   * until they change.
   */
  drawNames() {
    const { rowLabels, columnLabels, rowTitle, columnTitle } = this.picture;
    const { xaxis, yaxis, width, height } = this.chart._fullLayout;
    const named = [rowLabels, columnLabels, xaxis.range.join(), yaxis.range.join(), width, height];
    if (this.named?.every((value, i) => value === named[i])) return;
    this.named = named;
    const [left, top] = [xaxis._offset, yaxis._offset];
    const rows = shownLabels(rowLabels, yaxis).map(([label, at, i]) => {
      const place = { x: left - 6, y: at + 4, "text-anchor": "end" };
      return svg("text", { class: "hl-tick-row", ...place, ...this.clicks("row", i) }, label);
    });
    const columns = shownLabels(columnLabels, xaxis).map(([label, at, i]) => {
      const transform = `translate(${at + 3} ${top - 6}) rotate(-50)`;
      const clicks = this.clicks("column", i);
      return svg("text", { class: "hl-tick-column", transform, ...clicks }, label);
    });
    const middle = [left + xaxis._length / 2, top + yaxis._length / 2];
    const titles = [
      svg("text", { class: "hl-axis", x: middle[0], y: 13, "text-anchor": "middle" }, columnTitle),
      svg(
        "text",
        {
          class: "hl-axis",
          transform: `translate(13 ${middle[1]}) rotate(-90)`,
          "text-anchor": "middle",
        },
        rowTitle,
      ),
    ];
    this.names.setAttribute("width", width);
    this.names.setAttribute("height", height);
    this.names.replaceChildren(...rows, ...columns, ...titles);
  }

  /** What makes a label a thing to click, where someone listens. */
  clicks(axis, i) {
    return this.name && { "data-clicks": true, onclick: () => this.name(axis, i) };
  }

  /** Bars beside the map, one a row and one a column, from 0 to 1; a click picks the row or column. */
  drawSides() {
    const { sides } = this.picture;
    this.sides.replaceChildren();
    if (!sides) return;
    const { xaxis, yaxis, width, height } = this.chart._fullLayout;
    this.sides.setAttribute("width", width);
    this.sides.setAttribute("height", height);
    const [right, below] = [xaxis._offset + xaxis._length + 4, yaxis._offset + yaxis._length + 4];
    const bar = (box, tip, pick) =>
      this.sides.append(
        svg("rect", { class: "hl-bar", ...box, onclick: pick }, svg("title", {}, tip)),
      );
    sides.rows.forEach(({ share, tip }, i) => {
      const [y, height] = span(yaxis, i, 0.8);
      if (isInside(yaxis, i)) {
        bar({ x: right, y, height, width: Math.max(1, BAR * share) }, tip, () => sides.pickRow(i));
      }
    });
    sides.columns.forEach(({ share, tip }, j) => {
      const [x, width] = span(xaxis, j, 0.8);
      if (isInside(xaxis, j)) {
        bar({ x, y: below, width, height: Math.max(1, BAR * share) }, tip, () =>
          sides.pickColumn(j),
        );
      }
    });
  }

  /** Frame a cell, or nothing when row is null. */
  mark(row, column, pinned = false) {
    this.marked = [row, column, pinned];
    const box = row != null && this.boxOf(row, column);
    for (const guide of this.guides) guide.hidden = !box;
    if (!box) return;
    const { xaxis, yaxis } = this.chart._fullLayout;
    const { left, top, width, height } = box;
    place(this.guides[0], xaxis._offset, top, xaxis._length, height);
    place(this.guides[1], left, yaxis._offset, width, yaxis._length);
    place(this.guides[2], left, top, width, height);
    this.guides[2].classList.toggle("hl-pinned", pinned);
  }

  /** Where a cell is in the host, in pixels, or null when it is out of sight. */
  boxOf(row, column) {
    const axes = this.chart._fullLayout;
    if (!axes || !this.picture) return null;
    const { xaxis, yaxis } = axes;
    if (!isInside(yaxis, row) || !isInside(xaxis, column)) return null;
    const [[left, width], [top, height]] = [span(xaxis, column, 1), span(yaxis, row, 1)];
    return { left, top, width, height };
  }

  /** The picture as SVG text. */
  async svgText() {
    const Plotly = await loadPlotly();
    const { xaxis, yaxis, width, height } = this.chart._fullLayout;
    const layout = {
      ...this.frame,
      xaxis: { ...this.frame.xaxis, range: xaxis.range },
      yaxis: { ...this.frame.yaxis, range: yaxis.range },
    };
    const figure = { data: this.chart.data, layout };
    const address = await Plotly.toImage(figure, { format: "svg", width, height });
    return decodeURIComponent(address.slice(address.indexOf(",") + 1));
  }

  cellAt(event) {
    const axes = this.chart._fullLayout;
    if (!axes || !this.picture) return null;
    const { xaxis, yaxis } = axes;
    const box = this.chart.getBoundingClientRect();
    const column = Math.round(xaxis.p2c(event.clientX - box.left - xaxis._offset));
    const row = Math.round(yaxis.p2c(event.clientY - box.top - yaxis._offset));
    const { rows, columns } = this.picture.values;
    const exists = row >= 0 && column >= 0 && row < rows && column < columns;
    return exists && isInside(yaxis, row) && isInside(xaxis, column) ? { row, column } : null;
  }

  tell(event, point) {
    const cell = this.cellAt(event);
    if (cell) point(cell.row, cell.column);
  }

  released(down, up, pick) {
    if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) > CLICK_SLACK) return;
    const cell = this.cellAt(up);
    if (cell) pick(cell.row, cell.column);
  }

  resized() {
    if (
      this.picture &&
      Math.abs(this.host.clientWidth - this.width) > 2 &&
      this.host.clientWidth > 0
    ) {
      this.draw(this.picture, this.palette);
    }
  }
}

/** Start and length in pixels of cell i on an axis, or of the middle `share` of it. */
function span(axis, i, share) {
  const ends = [i - share / 2, i + share / 2].map((at) => axis._offset + axis.c2p(at));
  return [ends[0], ends[1] - ends[0]];
}

/** Whether cell i of an axis is in sight; a person may have zoomed. */
function isInside(axis, i) {
  const at = axis.c2p(i);
  return at >= 0 && at <= axis._length;
}

function place(node, left, top, width, height) {
  node.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
}

function traces({ values, scale, hidden, blank, sides }, palette, length) {
  const isHidden = (i) => Boolean(hidden?.[i]);
  const isOut = (i) => isHidden(i) || Boolean(blank?.[i]);
  const shown = {
    type: "heatmap",
    z: cells(values, (value, i) => (isOut(i) || !Number.isFinite(value) ? NaN : value)),
    zmin: scale.low,
    zmax: scale.high,
    hoverinfo: "none",
    colorscale: plotlyScale(scale.signed ? palette.diverging : palette.sequential),
    colorbar: colorBar(scale, palette, length, sides ? BAR + 10 : 8),
  };
  const isBroken = (value, i) => !Number.isFinite(value) && !isHidden(i);
  const extra = [];
  if (hidden) extra.push(plain(values, (value, i) => isHidden(i), palette.masked));
  if (values.values.some(isBroken)) extra.push(plain(values, isBroken, palette.bad));
  return [shown, ...extra];
}

/** A trace of one colour where `test` holds: masked cells, and cells that are no number. */
function plain(values, test, color) {
  const z = cells(values, (value, i) => (test(value, i) ? 1 : NaN));
  const colorscale = plotlyScale([color, color]);
  return { type: "heatmap", z, colorscale, showscale: false, hoverinfo: "none" };
}

/** Rows of a matrix with each value changed, as Plotly takes them. */
function cells(values, change) {
  return Array.from({ length: values.rows }, (_, row) =>
    Float32Array.from({ length: values.columns }, (_, column) => {
      const i = row * values.columns + column;
      return change(values.values[i], i);
    }),
  );
}

function colorBar({ name, low, high }, palette, length, below) {
  return {
    title: { text: name, side: "top", font: { color: palette.muted, size: 12 } },
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
    tickvals: [low, (low + high) / 2, high],
    tickformat: ".3~g",
    tickfont: { color: palette.muted, size: 12 },
  };
}

function layout(
  { values, rowLabels, columnLabels, rowTitle, columnTitle, hidden, sides, revision },
  palette,
  width,
  sizes,
) {
  const beside = sides ? BAR + 8 : 0;
  const left = 30 + LETTER * longest(rowLabels);
  const top = 30 + 0.8 * LETTER * longest(columnLabels);
  const room = Math.max(width - left - 10 - beside, 80);
  const size = Math.min(sizes.cell * 1.6, room / values.columns);
  const side = size * values.columns;
  const height = Math.min(size * values.rows, Math.max(sizes.most, 120));
  const axis = {
    showgrid: false,
    zeroline: false,
    tickfont: { color: palette.muted, size: 12 },
    ticks: "",
    automargin: false,
  };
  const title = (text) => ({ text, font: { color: palette.muted, size: 13 }, standoff: 4 });
  return {
    width,
    height: top + height + 58 + beside,
    autosize: false,
    hovermode: false,
    dragmode: sizes.drag ?? (values.columns > ZOOMED_FROM ? "zoom" : false),
    uirevision: revision,
    font: { family: palette.font, color: palette.text, size: 13 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: {
      l: left,
      r: Math.max(width - left - side, 8),
      t: top,
      b: 58 + beside,
      pad: 0,
      autoexpand: false, // room made for the colour bar would take it from the cells
    },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: palette.muted, activecolor: palette.accent },
    xaxis: {
      ...axis,
      side: "top",
      tickangle: -50,
      range: [-0.5, values.columns - 0.5],
      title: title(columnTitle),
      ...ticks(columnLabels, size),
    },
    yaxis: {
      ...axis,
      range: [values.rows - 0.5, -0.5],
      title: title(rowTitle),
      ...ticks(rowLabels, height / values.rows),
    },
    shapes: hidden ? [hatch(hidden, values.rows, values.columns, palette)] : [],
  };
}

/** A layout without the labels that `drawNames` draws. */
function unnamed(frame) {
  const bare = { showticklabels: false, title: undefined };
  return { ...frame, xaxis: { ...frame.xaxis, ...bare }, yaxis: { ...frame.yaxis, ...bare } };
}

/** The labels there is room for on an axis, as text, each with its place in pixels and its number. */
function shownLabels(labels, axis) {
  const [, pixels] = span(axis, 0, 1);
  const { tickvals } = ticks(labels, pixels);
  return tickvals
    .filter((i) => isInside(axis, i))
    .map((i) => [
      labels[i].replace(/&[#\w]+;/g, (mark) => UNESCAPED[mark]),
      axis._offset + axis.c2p(i),
      i,
    ]);
}

function longest(labels) {
  return Math.min(
    16,
    Math.max(1, ...labels.map((label) => label.replace(/&[#\w]+;/g, "x").length)),
  );
}

function ticks(labels, pixels) {
  const step = Math.ceil(TICK_ROOM / pixels);
  const values = labels.map((_, i) => i).filter((i) => i % step === 0);
  return { tickmode: "array", tickvals: values, ticktext: values.map((i) => labels[i]) };
}

/** One stroke along each run of hidden cells on an anti-diagonal; fewer where cells are many. */
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
  return {
    type: "path",
    path: strokes.join("") || "M0,0",
    line: { color: palette.hatch, width: 1 },
    layer: "above",
  };
}
