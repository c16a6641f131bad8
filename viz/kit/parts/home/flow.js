// All of Home that is drawn on its canvas, back to front.

import { drawChance } from "./chance.js";
import { N_COLUMNS } from "./layout.js";
import { drawCurves, drawLayer, drawMap } from "./maps.js";
import { LEAST_WEIGHT, curve, thickness, upTo } from "./scene.js";
import { EMBED, eased, staggered } from "./timeline.js";

/** @import { Scene } from "./scene.js" */

const LEAST_MEAN = 0.01; // of a tributary that is drawn
const TRAIL = 16; // pieces behind the token that flies

/** @param {Scene} scene */
export function drawFlow(scene) {
  const { context, flow, palette, time, focus } = scene;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, flow.width, flow.height);
  context.imageSmoothingEnabled = false;
  drawStrips(scene);
  drawRibbons(scene);
  if (time.isPlaying && time.at > EMBED && time.at < time.NEXT) drawFront(scene);
  for (let layer = 0; layer < flow.layers.length; layer++) drawLayer(scene, layer);
  if (flow.next) drawChance(scene);
  if (focus) drawFocus(scene);
  if (scene.dim) drawArcs(scene);
  if (scene.flight) drawTrail(scene, scene.flight);
}

/**
 * One head: all else steps back.
 *
 * @param {Scene} scene
 */
function drawFocus(scene) {
  const { context, flow, palette, focus, query, veil } = scene;
  if (!focus) return;
  context.globalAlpha = 0.62 * veil;
  context.fillStyle = palette.background;
  const from = flow.layers[0].x;
  context.fillRect(from, 0, flow.end - from, flow.height);
  context.globalAlpha = 1;
  drawRibbon(scene, query, true);
  drawCurves(scene, focus.layer, focus.head);
  drawMap(scene, focus.layer, focus.head, flow.width);
  const { x, y, size } = flow.layers[focus.layer].heads[focus.head];
  context.strokeStyle = palette.frame;
  context.lineWidth = 2;
  context.strokeRect(x - 2, y - 2, size + 4, size + 4);
}

/**
 * The embedding of every token, and what positions add.
 *
 * @param {Scene} scene
 */
function drawStrips(scene) {
  const { context, flow, rows, run, pictures, time, query, isGrown } = scene;
  if (!run.spec.has_stream) return;
  const height = Math.min(rows.pitch - 3, 16 * flow.unit);
  const p = time.done(EMBED);
  /** @type {[import("./layout.js").Strip | null, OffscreenCanvas, number][]} */
  const strips = [
    [flow.embed, pictures.embed, 0],
    [flow.positions, pictures.positions, 0.45],
  ];
  for (const [place, picture, from] of strips) {
    if (!place) continue;
    for (let i = run.first; i < run.n; i++) {
      const isNew = !isGrown || i === run.n - 1;
      const part = Math.min(Math.max((p - from) / 0.55, 0), 1);
      const columns = Math.ceil((isNew ? staggered(part, i, run.n, 0.6) : 1) * N_COLUMNS);
      if (!columns) continue;
      context.globalAlpha = i === query ? 1 : 0.72;
      const to = [place.x, rows.y(i) - height / 2, columns * place.column, height];
      context.drawImage(picture, 0, i, columns, 1, to[0], to[1], to[2], to[3]);
    }
  }
  context.globalAlpha = 1;
}

/** @param {Scene} scene */
function drawRibbons(scene) {
  const { context, flow, palette, rows, run, query, isGrown, front } = scene;
  const begin = beginOf(scene);
  context.fillStyle = palette.line;
  context.globalAlpha = 0.5;
  for (let i = run.first; i < run.n; i++)
    context.fillRect(begin, rows.y(i) - 0.5, flow.end - begin, 1);
  context.globalAlpha = 1;
  const known = isGrown ? run.n - 1 : run.first; // these were computed in an earlier pass
  for (let i = run.first; i < known; i++) if (i !== query) drawRibbon(scene, i, false);
  upTo(scene, query < known ? flow.width : front, () => {
    for (let i = known; i < run.n; i++) if (i !== query) drawRibbon(scene, i, false);
    if (!scene.focus)
      for (let layer = 0; layer < flow.layers.length; layer++) drawTributaries(scene, layer);
    drawRibbon(scene, query, true);
  });
}

/** @param {Scene} scene */
function beginOf({ flow }) {
  const { x, width } = flow.positions ?? flow.embed;
  return x + width + 4;
}

/**
 * The residual stream of a token, as thick as its vector is long.
 *
 * @param {Scene} scene
 * @param {number} token
 * @param {boolean} isQuery
 */
function drawRibbon(scene, token, isQuery) {
  const { context, flow, palette, rows } = scene;
  const y = rows.y(token);
  /** @type {[number, number][]} */
  const stops = [[beginOf(scene), thickness(scene, 0, token)]];
  flow.layers.forEach(({ heads, mlp }, layer) => {
    stops.push([heads[0].x + heads[0].size, thickness(scene, 2 * layer + 1, token)]);
    stops.push([mlp.x + mlp.width, thickness(scene, 2 * layer + 2, token)]);
  });
  stops.push([flow.end, stops[stops.length - 1][1]]);
  /** @param {number} more @param {number} alpha */
  const fill = (more, alpha) => {
    context.beginPath();
    for (const [x, thick] of stops) context.lineTo(x, y - thick / 2 - more);
    for (const [x, thick] of stops.toReversed()) context.lineTo(x, y + thick / 2 + more);
    context.globalAlpha = alpha;
    context.fill();
  };
  context.fillStyle = isQuery ? palette.accent : palette.muted;
  if (isQuery) fill(5 * flow.unit, 0.1); // a halo
  fill(0, isQuery ? 1 : 0.24);
  context.globalAlpha = 1;
}

/**
 * What the query takes from every other token in a layer: the mean of its heads, as wide as it is.
 *
 * @param {Scene} scene
 * @param {number} layer
 */
function drawTributaries({ context, flow, rows, run, palette, query, time, front }, layer) {
  const { x, width, mlp } = flow.layers[layer];
  const fresh = time.isPlaying ? Math.max(0, 1 - (front - x) / (2.2 * width)) : 0; // since the wave
  context.strokeStyle = palette.accent;
  run.row(query, { layer }).forEach((mean, key) => {
    if (key === query || mean < LEAST_MEAN) return;
    context.globalAlpha = Math.min(1, (0.14 + 1.5 * mean) * (1 + 1.4 * fresh));
    context.lineWidth = flow.unit * (0.5 + 9 * mean) * (1 + 0.4 * fresh);
    curve(context, [x - 6, rows.y(key)], [mlp.x, rows.y(query)]);
  });
  context.globalAlpha = 1;
}

/**
 * From the query to the words it attends to, left of the words: in one head, or on average.
 *
 * @param {Scene} scene
 */
function drawArcs({ context, flow, rows, run, palette, query, focus, dim }) {
  const x = flow.tokens.x - 7;
  context.strokeStyle = palette.accent;
  run.row(query, focus).forEach((weight, key) => {
    if (weight < LEAST_WEIGHT || key === query) return;
    const depth = Math.min(x - 3, 8 + 2.4 * Math.abs(query - key)) * 1.3; // three quarters are seen
    context.globalAlpha = dim * Math.min(1, 0.25 + weight);
    context.lineWidth = 0.8 + 2.4 * weight;
    context.beginPath();
    context.moveTo(x, rows.y(query));
    context.bezierCurveTo(x - depth, rows.y(query), x - depth, rows.y(key), x, rows.y(key));
    context.stroke();
  });
  context.globalAlpha = 1;
}

/**
 * The wave: light on both sides of a line, behind the maps, and a spark on the query's ribbon.
 *
 * @param {Scene} scene
 */
function drawFront({ context, flow, rows, palette, query, front }) {
  const reach = 46 * flow.unit;
  const glow = context.createLinearGradient(front - reach, 0, front + reach, 0);
  /** @type {[number, string][]} */
  const stops = [
    [0, "00"],
    [0.3, "0d"],
    [0.5, "3d"],
    [0.7, "0d"],
    [1, "00"],
  ];
  for (const [at, alpha] of stops) glow.addColorStop(at, palette.accent + alpha);
  context.fillStyle = glow;
  context.fillRect(front - reach, 0, 2 * reach, flow.height);
  context.fillStyle = palette.accent;
  context.beginPath();
  context.arc(front, rows.y(query), 4 * flow.unit, 0, 7);
  if (front > flow.layers[0].x) context.fill();
}

/**
 * Behind a drawn token on its way to the text.
 *
 * @param {Scene} scene
 * @param {(share: number) => [number, number]} flight
 */
function drawTrail({ context, palette, time }, flight) {
  const at = eased(time.done(time.FLY));
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  for (let i = 0; i < TRAIL; i++) {
    const [from, to] = [at - 0.02 * i - 0.02, at - 0.02 * i];
    if (from < 0) break;
    context.globalAlpha = 0.5 * (1 - i / TRAIL);
    context.beginPath();
    context.moveTo(...flight(from));
    context.lineTo(...flight(to));
    context.stroke();
  }
  context.globalAlpha = 1;
}
