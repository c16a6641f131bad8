// The attention layers: their heads as small maps, and what the MLPs behind them add.

import { N_COLUMNS } from "./layout.js";
import { LEAST_WEIGHT, curve, reachOf, upTo } from "./scene.js";

/** @import { Scene } from "./scene.js" */

const LEAST_STRIPE = 7; // pixels of the query's row on a map

/**
 * @param {Scene} scene
 * @param {number} column
 */
export function drawColumn(scene, column) {
  const { context, flow, palette, time } = scene;
  const reach = reachOf(scene, column);
  const { x, width, heads } = flow.columns[column];
  if (!heads.length) return;
  const passed = (reach - x) / width; // columns, since the wave came in
  const [{ x: left, y, size }, last] = [heads[0], heads[heads.length - 1]];
  const low = Math.max(...heads.map((place) => place.y)) + size;
  context.fillStyle = palette.background; // streams pass behind a layer as a whole
  context.fillRect(left, y, last.x + size - left, low - y);
  if (time.isPlaying && passed > 0)
    drawStrongest(scene, column, reach, Math.max(0, 1 - passed / 1.6));
  drawAdded(scene, column, reach);
  heads.forEach((_, head) => drawMap(scene, column, head, reach));
}

/**
 * As the wave passes: what each head attends to most.
 *
 * @param {Scene} scene
 * @param {number} column
 * @param {number} reach
 * @param {number} strength
 */
function drawStrongest(scene, column, reach, strength) {
  if (!strength) return;
  const { context, flow, rows, run, palette } = scene;
  const query = run.queryIn(scene.query, column);
  const { x, heads } = flow.columns[column];
  context.strokeStyle = palette.accent;
  upTo(scene, reach, () =>
    heads.forEach(({ x: left, y, size }, head) => {
      const weights = run.row(query, { column, head });
      const most = Math.max(...weights);
      if (scene.isLeftOut(weights.indexOf(most))) return;
      context.globalAlpha = strength * (0.2 + 0.8 * most);
      context.lineWidth = flow.unit * (0.6 + 1.6 * most);
      curve(context, [x - 8, rows.y(weights.indexOf(most))], [left - 1, y + size / 2]);
    }),
  );
  context.globalAlpha = 1;
}

/**
 * What one head reads, from the left into its map, and that it writes to the query.
 *
 * @param {Scene} scene
 * @param {number} column
 * @param {number} head
 */
export function drawCurves(scene, column, head) {
  const { context, flow, rows, run, palette } = scene;
  const query = run.queryIn(scene.query, column);
  const { x, width, heads } = flow.columns[column];
  const { x: left, y, size } = heads[head];
  const middle = y + size / 2;
  context.strokeStyle = palette.accent;
  run.row(query, { column, head }).forEach((weight, key) => {
    if (weight < LEAST_WEIGHT) return;
    context.globalAlpha = Math.min(1, 0.25 + 0.75 * weight);
    context.lineWidth = flow.unit * (0.8 + 3.2 * weight);
    curve(context, [x - 10, rows.y(key)], [left - 2, middle]);
  });
  context.globalAlpha = 0.9;
  context.lineWidth = 1.6 * flow.unit;
  curve(context, [left + size + 2, middle], [x + width, rows.y(query)]);
  context.globalAlpha = 1;
}

/**
 * A head's map, as far as the wave has come: every row, and the query's row as a stripe.
 *
 * @param {Scene} scene
 * @param {number} column
 * @param {number} head
 * @param {number} reach
 */
export function drawMap(scene, column, head, reach) {
  const { context, flow, palette, pictures, run, isGrown, dim } = scene;
  const { x, y, size } = flow.columns[column].heads[head];
  const { band, keys } = run.spec.columns[column];
  const [rows, columns] = [shownOf(scene, band), shownOf(scene, keys)];
  const [tall, wide] = [size / rows.n, size / columns.n]; // of a cell
  context.fillStyle = palette.masked;
  context.fillRect(x, y, size, size);
  const isLast = band === run.spec.bands.length - 1;
  const known = isGrown ? (isLast ? rows.to - 1 : rows.to) : rows.from; // of earlier passes, they stay
  const [left, top] = [head * run.size + columns.from, column * run.size];
  const [n, right] = [columns.to - columns.from, wide * (columns.to - columns.from)];
  /** @param {number} from @param {number} to @param {OffscreenCanvas} [of] @param {number} [at] */
  const put = (from, to, of = pictures.maps, at = left) => {
    const [high, down] = [to - from, y + (from - rows.from) * tall];
    if (high > 0) context.drawImage(of, at, top + from, n, high, x, down, right, high * tall);
  };
  // Before it is computed: nothing, but not masked.
  if (reach < x + size) put(known, rows.to, pictures.unknown, columns.from);
  context.globalAlpha = 0.76 - 0.36 * dim;
  put(rows.from, known);
  const query = run.queryIn(scene.query, column);
  const high = Math.max(tall, Math.min(LEAST_STRIPE * flow.unit, size / 5));
  const stripe = Math.min(y + (query - rows.from + 0.5) * tall - high / 2, y + size - high);
  const fresh = () => {
    put(known, rows.to);
    context.globalAlpha = 1;
    context.fillStyle = palette.background;
    context.fillRect(x, stripe - 1.5, size, high + 3);
    context.fillStyle = palette.masked;
    context.fillRect(x, stripe, size, high);
    context.drawImage(pictures.maps, left, top + query, n, 1, x, stripe, right, high);
  };
  if (reach >= x + size) fresh();
  else if (reach > x) upTo(scene, reach, fresh);
  drawPassing(scene, column, reach, { x, y: stripe, width: size, height: high });
}

/**
 * The rows of a band, and how many of them there are, between two numbers while one joins.
 *
 * @param {Scene} scene
 * @param {number} band
 */
function shownOf({ run, size }, band) {
  const { from, to } = run.rowsOf(band);
  return { from, to, n: (to === run.n ? size : to) - from };
}

/**
 * A frame around the query's row while the wave has just passed.
 *
 * @param {Scene} scene
 * @param {number} column
 * @param {number} reach
 * @param {import("./layout.js").Box} box
 */
function drawPassing({ context, flow, palette, time }, column, reach, { x, y, width, height }) {
  const passed = time.isPlaying ? (reach - x) / flow.columns[column].width : 9; // columns ago
  context.globalAlpha = passed > 0 ? Math.max(0, 1 - passed / 1.1) : 0;
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  if (context.globalAlpha) context.strokeRect(x - 1, y - 1, width + 2, height + 2);
  context.globalAlpha = 1;
}

/**
 * Some numbers of what the MLP adds to the query's stream.
 *
 * @param {Scene} scene
 * @param {number} column
 * @param {number} reach
 */
function drawAdded({ context, flow, palette, pictures, run, query }, column, reach) {
  const box = flow.columns[column].mlp;
  if (!box) return;
  const { x, y, width, height } = box;
  context.fillStyle = palette.surface;
  context.fillRect(x, y, width, height);
  if (reach <= x || !run.spec.has_stream) return;
  const row = (run.spec.columns[column].mlp ?? 0) * run.size + run.queryIn(query, column);
  const cell = height / N_COLUMNS;
  for (let i = 0; i < N_COLUMNS; i++)
    context.drawImage(pictures.ffn, i, row, 1, 1, x, y + i * cell, width, cell);
}
