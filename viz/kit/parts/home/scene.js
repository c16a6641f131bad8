// What is drawn of a moment, and the strokes that all of it is made of.

/** @import { Palette } from "../../wire.js" */
/** @import { Flow, Rows } from "./layout.js" */
/** @import { Chance } from "./answers.js" */
/** @import { Head, Run } from "./numbers.js" */
/** @import { Pictures } from "./pictures.js" */
/** @import { Timeline } from "./timeline.js" */

/**
 * A moment of Home.
 *
 * @typedef {object} Scene
 * @property {CanvasRenderingContext2D} context
 * @property {Flow} flow
 * @property {Rows} rows
 * @property {number} size tokens, between two numbers while one joins
 * @property {Run} run
 * @property {Palette} palette
 * @property {Pictures} pictures
 * @property {Timeline} time
 * @property {number[]} fronts where the wave of each band is
 * @property {boolean} isGrown whether all but the last token were computed before: their rows stay
 * @property {number} query the token that is looked from
 * @property {Head | null} focus the head that is looked through
 * @property {number} dim 0 to 1: how far maps step back behind the row that is looked at
 * @property {number} veil 0 to 1: how far all steps back behind the head that is looked through
 * @property {Chance | null} chance what may follow the query
 * @property {import("./goals.js").Drawn | null} drawn which answer is taken
 * @property {(key: number) => boolean} isLeftOut whether no lines lead to a key, an attention sink
 * @property {number | null} pointed the place in the list that is pointed at
 * @property {((share: number) => [number, number]) | null} flight of the drawn token
 */

export const LEAST_WEIGHT = 0.04; // of a curve that is drawn

/**
 * Draw something up to where the wave is.
 *
 * @param {Scene} scene
 * @param {number} reach
 * @param {() => void} draw
 */
export function upTo({ context, flow }, reach, draw) {
  context.save();
  context.beginPath();
  context.rect(0, 0, reach, flow.height);
  context.clip();
  draw();
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
export function curve(context, [x0, y0], [x1, y1]) {
  const bend = (x1 - x0) * 0.6;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
}

/**
 * A band between two edges.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number, number]} from x, top and bottom
 * @param {[number, number, number]} to
 * @param {string | CanvasGradient} fill
 */
export function band(context, [x0, top0, bottom0], [x1, top1, bottom1], fill) {
  const bend = (x1 - x0) * 0.5;
  context.fillStyle = fill;
  context.beginPath();
  context.moveTo(x0, top0);
  context.bezierCurveTo(x0 + bend, top0, x1 - bend, top1, x1, top1);
  context.lineTo(x1, bottom1);
  context.bezierCurveTo(x1 - bend, bottom1, x0 + bend, bottom0, x0, bottom0);
  context.fill();
}

/**
 * How thick a token's ribbon is in a state.
 *
 * @param {Scene} scene
 * @param {number} state
 * @param {number} token
 */
export function thickness({ flow, run, rows }, state, token) {
  const most = Math.min(4 * flow.unit, 0.5 * rows.pitch(token));
  return most * (0.15 + 0.85 * run.length(state, token));
}

/**
 * The state that the last of some columns makes in the end.
 *
 * @param {Run} run
 * @param {number[]} columns
 */
export function lastState(run, columns) {
  const { at, mlp } = run.spec.columns[columns[columns.length - 1]];
  return at + (mlp === null ? 0 : 1);
}

/**
 * How far a column is computed: all of it where the query's rows are of an earlier pass.
 *
 * @param {Scene} scene
 * @param {number} column
 */
export function reachOf({ flow, run, isGrown, query, fronts }, column) {
  const { band: own } = flow.columns[column];
  const isOld = isGrown && (query < run.n - 1 || own < run.spec.bands.length - 1);
  return isOld ? flow.width : fronts[own];
}
