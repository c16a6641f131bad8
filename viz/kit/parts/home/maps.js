// The layers: their heads as small maps, and what their MLPs add.

import { N_COLUMNS } from "./layout.js";
import { LEAST_WEIGHT, curve, upTo } from "./scene.js";

/** @import { Scene } from "./scene.js" */

const LEAST_STRIPE = 7; // pixels of the query's row on a map

/**
 * @param {Scene} scene
 * @param {number} layer
 */
export function drawLayer(scene, layer) {
  const { context, flow, palette, run, isGrown, query, time, front } = scene;
  const reach = isGrown && query < run.n - 1 ? flow.width : front;
  const { x, width, heads, mlp } = flow.layers[layer];
  const passed = (reach - x) / width; // columns, since the wave came in
  context.fillStyle = palette.background; // streams pass behind a layer as a whole
  context.fillRect(heads[0].x, mlp.y, heads[0].size, mlp.height);
  if (time.isPlaying && passed > 0)
    drawStrongest(scene, layer, reach, Math.max(0, 1 - passed / 1.6));
  drawAdded(scene, layer, reach);
  heads.forEach((_, head) => drawMap(scene, layer, head, reach));
}

/**
 * As the wave passes: what each head attends to most.
 *
 * @param {Scene} scene
 * @param {number} layer
 * @param {number} reach
 * @param {number} strength
 */
function drawStrongest(scene, layer, reach, strength) {
  if (!strength) return;
  const { context, flow, rows, run, palette, query } = scene;
  const { x, heads } = flow.layers[layer];
  context.strokeStyle = palette.accent;
  upTo(scene, reach, () =>
    heads.forEach(({ x: left, y, size }, head) => {
      const weights = run.row(query, { layer, head });
      const most = Math.max(...weights);
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
 * @param {number} layer
 * @param {number} head
 */
export function drawCurves({ context, flow, rows, run, palette, query }, layer, head) {
  const { x, heads, mlp } = flow.layers[layer];
  const { x: left, y, size } = heads[head];
  const middle = y + size / 2;
  context.strokeStyle = palette.accent;
  run.row(query, { layer, head }).forEach((weight, key) => {
    if (weight < LEAST_WEIGHT) return;
    context.globalAlpha = Math.min(1, 0.25 + 0.75 * weight);
    context.lineWidth = flow.unit * (0.8 + 3.2 * weight);
    curve(context, [x - 10, rows.y(key)], [left - 2, middle]);
  });
  context.globalAlpha = 0.9;
  context.lineWidth = 1.6 * flow.unit;
  curve(context, [left + size + 2, middle], [mlp.x, rows.y(query)]);
  context.globalAlpha = 1;
}

/**
 * A head's map, as far as the wave has come: every row, and the query's row as a stripe.
 *
 * @param {Scene} scene
 * @param {number} layer
 * @param {number} head
 * @param {number} reach
 */
export function drawMap(scene, layer, head, reach) {
  const { context, flow, palette, pictures, run, size: count, isGrown, query, dim } = scene;
  const { n } = run;
  const { x, y, size } = flow.layers[layer].heads[head];
  const cell = size / count;
  context.fillStyle = palette.masked;
  context.fillRect(x, y, size, size);
  const known = isGrown ? n - 1 : 0; // rows of earlier passes stay
  if (reach < x + size) drawUnknown(scene, layer, { x, y, cell }, known);
  const [left, top] = [head * n, layer * n];
  /** @param {number} from @param {number} to */
  const put = (from, to) => {
    const high = to - from;
    const at = [x, y + from * cell, n * cell, high * cell];
    if (high > 0)
      context.drawImage(pictures.maps, left, top + from, n, high, at[0], at[1], at[2], at[3]);
  };
  context.globalAlpha = 0.76 - 0.36 * dim;
  put(0, known);
  const high = Math.max(cell, Math.min(LEAST_STRIPE * flow.unit, size / 5));
  const at = Math.min(y + (query + 0.5) * cell - high / 2, y + size - high);
  const fresh = () => {
    put(known, n);
    context.globalAlpha = 1;
    context.fillStyle = palette.background;
    context.fillRect(x, at - 1.5, size, high + 3);
    context.fillStyle = palette.masked;
    context.fillRect(x, at, size, high);
    context.drawImage(pictures.maps, left, top + query, n, 1, x, at, n * cell, high);
  };
  if (reach >= x + size) fresh();
  else if (reach > x) upTo(scene, reach, fresh);
  drawPassing(scene, layer, reach, { x, y: at, width: size, height: high });
}

/**
 * Before it is computed: nothing, but not masked.
 *
 * @param {Scene} scene
 * @param {number} layer
 * @param {{x: number, y: number, cell: number}} place
 * @param {number} known rows
 */
function drawUnknown({ context, palette, run }, layer, { x, y, cell }, known) {
  context.fillStyle = palette.sequential[0];
  for (let row = Math.max(known, run.first); row < run.n; row++)
    for (let key = 0; key < run.n; key++)
      if (!run.isMasked(layer, row, key))
        context.fillRect(x + key * cell, y + row * cell, cell, cell);
}

/**
 * A frame around the query's row while the wave has just passed.
 *
 * @param {Scene} scene
 * @param {number} layer
 * @param {number} reach
 * @param {import("./layout.js").Box} box
 */
function drawPassing({ context, flow, palette, time }, layer, reach, { x, y, width, height }) {
  const passed = time.isPlaying ? (reach - x) / flow.layers[layer].width : 9; // columns ago
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
 * @param {number} layer
 * @param {number} reach
 */
function drawAdded({ context, flow, palette, pictures, run, query }, layer, reach) {
  const { x, y, width, height } = flow.layers[layer].mlp;
  context.fillStyle = palette.surface;
  context.fillRect(x, y, width, height);
  if (reach <= x || !run.spec.has_stream) return;
  const cell = height / N_COLUMNS;
  for (let i = 0; i < N_COLUMNS; i++)
    context.drawImage(
      ...[pictures.ffn, i, layer * run.n + query, 1, 1],
      ...[x, y + i * cell, width, cell],
    );
}
