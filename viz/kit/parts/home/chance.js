// What comes out: the query's ribbon opens up into a bar of length one, whose slices are the
// probabilities that the next token is drawn by.

import { N_NEXT } from "./layout.js";
import { band, lastState, thickness } from "./scene.js";
import { eased } from "./timeline.js";

/** @import { NextPlace } from "./layout.js" */
/** @import { Scene } from "./scene.js" */

export const NEEDLE = 0.65; // of the drawing, while the random number moves
const ABOVE_ROW_END = 5; // pixels: where the bars of the list are

/**
 * Draws it and says what was drawn: where each slice begins and where the needle stands, in shares of
 * the bar's height.
 *
 * @param {Scene} scene
 */
export function drawChance(scene) {
  const { context, flow, run, time, chance, drawn, isGrown } = scene;
  if (!flow.next || !chance) return null;
  const p = isGrown && chance.query < run.n - 1 ? 1 : eased(time.done(time.NEXT));
  if (!p) return null;
  drawFunnel(scene, flow.next.bar, p);
  const slices = drawSlices(scene, flow.next, chance.probs, p);
  const at = time.at > time.DRAW ? drawn?.at : null;
  const needle = at ? drawNeedle(scene, flow.next, at) : null;
  context.globalAlpha = 1;
  return { slices, needle };
}

/**
 * @param {Scene} scene
 * @param {NextPlace} next
 * @param {Float64Array} probs
 * @param {number} p how much of the bar is there
 */
function drawSlices(scene, next, probs, p) {
  const { time, drawn } = scene;
  const settled = drawn && time.at > time.DRAW + NEEDLE ? Math.min(drawn.place, N_NEXT) : null;
  let from = 0;
  const begins = [];
  for (let place = 0; place <= N_NEXT; place++) {
    const share = place < N_NEXT ? (probs[place] ?? 0) : Math.max(0, 1 - from);
    const isStrong = place === scene.pointed || place === settled;
    begins.push(drawSlice(scene, next, { place, from, share, isStrong, p }));
    from += share;
  }
  return begins;
}

/**
 * From the end of the query's ribbon to the whole bar.
 *
 * @param {Scene} scene
 * @param {import("./layout.js").Box} bar
 * @param {number} p how much of it is there
 */
function drawFunnel(scene, bar, p) {
  const { context, flow, rows, run, palette, chance } = scene;
  const query = chance?.query ?? run.asked;
  const y = rows.y(query);
  const thick = thickness(scene, lastState(run, run.columnsOf(run.bandOf(query))), query);
  const funnel = context.createLinearGradient(flow.end, 0, bar.x, 0);
  funnel.addColorStop(0, `${palette.accent}80`);
  funnel.addColorStop(1, `${palette.accent}1f`);
  context.globalAlpha = p;
  const bottom = bar.y + bar.height * p;
  band(context, [flow.end, y - thick / 2, y + thick / 2], [bar.x, bar.y, bottom], funnel);
}

/**
 * A token's part of the bar, and its way to the list.
 *
 * @param {Scene} scene
 * @param {NextPlace} next
 * @param {{place: number, from: number, share: number, isStrong: boolean, p: number}} slice
 */
function drawSlice({ context, palette }, { bar, rowsY, pitch, x }, slice) {
  const { place, from, share, isStrong, p } = slice;
  const tall = share * bar.height * p;
  if (tall < 0.15) return null;
  const fill = place < N_NEXT ? palette.accent : palette.muted;
  const top = bar.y + from * bar.height * p;
  const bottom = top + Math.max(0.6, tall - 1);
  context.fillStyle = fill;
  context.globalAlpha = place < N_NEXT ? 1 : 0.35;
  context.fillRect(bar.x, top, bar.width, bottom - top);
  context.globalAlpha = (isStrong ? 0.6 : place < N_NEXT ? 0.22 : 0.12) * p;
  const middle = rowsY + (place + 1) * pitch - ABOVE_ROW_END;
  const thick = Math.min(5, Math.max(1, share * bar.height));
  band(
    context,
    [bar.x + bar.width, top, bottom],
    [x - 4, middle - thick / 2, middle + thick / 2],
    fill,
  );
  return (top - bar.y) / bar.height;
}

/**
 * The random number: it comes down the bar, and stops where it falls.
 *
 * @param {Scene} scene
 * @param {NextPlace} next
 * @param {number} at
 */
function drawNeedle({ context, palette, time }, { bar }, at) {
  const y = bar.y + bar.height * at * eased(Math.min(1, time.done(time.DRAW) / NEEDLE));
  context.globalAlpha = 1 - time.done(time.FLY);
  context.fillStyle = palette.text;
  context.fillRect(bar.x - 6, y - 1, bar.width + 12, 2);
  return (y - bar.y) / bar.height;
}
