// All of Home that is drawn on its canvas, back to front.

import { drawChance } from "./chance.js";
import { N_COLUMNS } from "./layout.js";
import { drawColumn, drawCurves, drawMap } from "./maps.js";
import { LEAST_WEIGHT, curve, lastState, reachOf, thickness, upTo } from "./scene.js";
import { eased, staggered } from "./timeline.js";

/** @import { Scene } from "./scene.js" */

const LEAST_MEAN = 0.01; // of a tributary that is drawn
const TRAIL = 16; // pieces behind the token that flies

/**
 * Draws it and says of what comes out, and of the query, what was drawn.
 *
 * @param {Scene} scene
 */
export function drawFlow(scene) {
  const { context, flow, palette, time, focus } = scene;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, flow.width, flow.height);
  context.imageSmoothingEnabled = false;
  if (flow.bands.length > 1 || flow.pages.length > 1) drawTitles(scene);
  drawStrips(scene);
  drawRibbons(scene);
  const { kind, band } = time.stage;
  if (time.isPlaying && (kind === "embed" || kind === "column")) drawFront(scene, band);
  flow.columns.forEach((_, column) => drawColumn(scene, column));
  const chance = flow.next ? drawChance(scene) : null;
  if (focus) drawFocus(scene);
  const attended = scene.dim ? drawArcs(scene) : null;
  if (scene.flight) drawTrail(scene, scene.flight);
  return { chance, attended };
}

/**
 * One head: all else steps back.
 *
 * @param {Scene} scene
 */
function drawFocus(scene) {
  const { context, flow, palette, run, focus, query, veil } = scene;
  if (!focus) return;
  context.globalAlpha = 0.62 * veil;
  context.fillStyle = palette.background;
  context.fillRect(flow.start, 0, flow.end - flow.start, flow.height);
  context.globalAlpha = 1;
  drawRibbon(scene, run.queryIn(query, focus.column), true);
  drawCurves(scene, focus.column, focus.head);
  drawMap(scene, focus.column, focus.head, flow.width);
  const { x, y, size } = flow.columns[focus.column].heads[focus.head];
  context.strokeStyle = palette.frame;
  context.lineWidth = 2;
  context.strokeRect(x - 2, y - 2, size + 4, size + 4);
}

/**
 * Above the columns of several bands, or of one of several pages, their names.
 *
 * @param {Scene} scene
 */
function drawTitles({ context, flow, run, palette }) {
  context.font = `12px ${palette.font}`;
  context.fillStyle = palette.muted;
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  flow.bands.forEach(({ top }, band) => {
    for (const column of run.columnsOf(band)) {
      const { heads } = flow.columns[column];
      if (!heads.length) continue;
      const { name: kind, layer } = run.spec.columns[column];
      const name = flow.pages.length > 1 ? `L${layer}` : `${kind} ${layer}`;
      const { x, size } = heads[heads.length - 1];
      context.fillText(name, (heads[0].x + x + size) / 2, top - 6);
    }
  });
}

/**
 * The embedding of every token, what positions add, and where it comes out its last vector.
 *
 * @param {Scene} scene
 */
function drawStrips(scene) {
  const { context, flow, rows, run, pictures, time, query, isGrown } = scene;
  if (!run.spec.has_stream) return;
  /** @type {[import("./layout.js").Strip | null, OffscreenCanvas | null, (band: number) => number][]} */
  const strips = [
    [flow.embed, pictures.embed, (band) => time.embedded(band) / 0.55],
    [flow.positions, pictures.positions, (band) => (time.embedded(band) - 0.45) / 0.55],
    [flow.last, pictures.last, () => time.done(time.NEXT)],
  ];
  for (const [place, picture, done] of strips) {
    if (!place || !picture) continue;
    for (let i = 0; i < run.n; i++) {
      if (!run.isToken(i)) continue;
      const isNew = !isGrown || i === run.n - 1;
      const part = Math.min(Math.max(done(run.bandOf(i)), 0), 1);
      const columns = Math.ceil((isNew ? staggered(part, i, run.n, 0.6) : 1) * N_COLUMNS);
      if (!columns) continue;
      context.globalAlpha = i === query ? 1 : 0.72;
      const height = Math.min(Math.max(rows.pitch(i) - 3, 0.7 * rows.pitch(i)), 16 * flow.unit);
      const to = [place.x, rows.y(i) - height / 2, columns * place.column, height];
      context.drawImage(picture, 0, i, columns, 1, to[0], to[1], to[2], to[3]);
    }
  }
  context.globalAlpha = 1;
}

/** @param {Scene} scene */
function drawRibbons(scene) {
  const { context, flow, palette, rows, run, query, isGrown, fronts } = scene;
  const begin = beginOf(scene);
  const tokens = Array.from({ length: run.n }, (_, i) => i).filter((i) => run.isToken(i));
  context.fillStyle = palette.line;
  context.globalAlpha = 0.5;
  for (const i of tokens) context.fillRect(begin, rows.y(i) - 0.5, flow.end - begin, 1);
  context.globalAlpha = 1;
  /** @param {number} i */
  const isKnown = (i) => isGrown && i < run.n - 1; // computed in an earlier pass
  for (const i of tokens) if (isKnown(i) && i !== query) drawRibbon(scene, i, false);
  fronts.forEach((front, band) =>
    upTo(scene, front, () => {
      for (const i of tokens)
        if (!isKnown(i) && i !== query && run.bandOf(i) === band) drawRibbon(scene, i, false);
    }),
  );
  if (!scene.focus)
    flow.columns.forEach(({ band }, column) => {
      if (band !== run.bandOf(query) || !flow.columns[column].heads.length) return;
      upTo(scene, reachOf(scene, column), () => drawTributaries(scene, column));
    });
  const reach = isKnown(query) ? flow.width : fronts[run.bandOf(query)];
  upTo(scene, reach, () => drawRibbon(scene, query, true));
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
  const { context, flow, palette, rows, run } = scene;
  const y = rows.y(token);
  const band = run.bandOf(token);
  const own = run.columnsOf(band).filter((column) => flow.columns[column].heads.length);
  /** @type {[number, number][]} */
  const stops = [[beginOf(scene), thickness(scene, run.spec.columns[own[0]].at - 1, token)]];
  for (const column of own) {
    const { heads, mlp } = flow.columns[column];
    const { at } = run.spec.columns[column];
    const { x, size } = heads[heads.length - 1];
    stops.push([x + size, thickness(scene, at, token)]);
    if (mlp) stops.push([mlp.x + mlp.width, thickness(scene, at + 1, token)]);
  }
  stops.push([flow.end, thickness(scene, lastState(run, own), token)]);
  /** @param {number} more @param {number} alpha */
  const fill = (more, alpha) => {
    context.beginPath();
    for (const [x, thick] of stops) context.lineTo(x, y - thick / 2 - more);
    for (const [x, thick] of stops.toReversed()) context.lineTo(x, y + thick / 2 + more);
    context.globalAlpha = alpha;
    context.fill();
  };
  context.fillStyle = isQuery ? palette.accent : palette.muted;
  if (isQuery) fill(Math.min(5 * flow.unit, rows.pitch(token) / 2), 0.1); // a halo
  fill(0, isQuery ? 1 : 0.24);
  context.globalAlpha = 1;
}

/**
 * What the query takes from every other token in a column: the mean of its heads, as wide as it is.
 *
 * @param {Scene} scene
 * @param {number} column
 */
function drawTributaries(scene, column) {
  const { context, flow, rows, run, palette, query, time, fronts } = scene;
  const { band, x, width } = flow.columns[column];
  const fresh = time.isPlaying ? Math.max(0, 1 - (fronts[band] - x) / (2.2 * width)) : 0; // since the wave
  context.strokeStyle = palette.accent;
  run.row(query, { column }).forEach((mean, key) => {
    if (key === query || mean < LEAST_MEAN || scene.isLeftOut(key)) return;
    context.globalAlpha = Math.min(1, (0.14 + 1.5 * mean) * (1 + 1.4 * fresh));
    context.lineWidth = flow.unit * (0.5 + 9 * mean) * (1 + 0.4 * fresh);
    curve(context, [x - 6, rows.y(key)], [x + width, rows.y(query)]);
  });
  context.globalAlpha = 1;
}

/**
 * From the query to the words it attends to, left of the words: in one head, or on average.
 *
 * @param {Scene} scene
 */
function drawArcs({ context, flow, rows, run, palette, query, focus, dim }) {
  if (flow.picture) return null; // its patches are tinted
  /** @type {[key: number, weight: number][]} */
  const drawn = [];
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
    drawn.push([key, weight]);
  });
  context.globalAlpha = 1;
  return drawn;
}

/**
 * The wave: light on both sides of a line, behind the maps, and a spark on the query's ribbon.
 *
 * @param {Scene} scene
 * @param {number} band
 */
function drawFront({ context, flow, rows, run, palette, query, fronts }, band) {
  const front = fronts[band];
  const { top, height } = flow.bands[band];
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
  context.fillRect(front - reach, top, 2 * reach, height);
  context.fillStyle = palette.accent;
  context.beginPath();
  context.arc(front, rows.y(query), 4 * flow.unit, 0, 7);
  if (front > flow.start && run.bandOf(query) === band) context.fill();
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
