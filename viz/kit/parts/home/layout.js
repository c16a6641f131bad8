// Where everything stands: a pure function of the model's shape and of the room there is.
//
// From left to right: tokens, embedding, what positions add, a column for each layer (curves in, maps,
// curves out, MLP), the bar of probabilities, the list of next tokens. Sizes follow one unit, the
// smaller of width / 1280 and height / 500; maps take what both directions allow.

export const N_NEXT = 8; // tokens named on the right; one more row is for all others
export const N_COLUMNS = 24; // numbers drawn of each vector
const MOST_MAP = 96;
const LEFT = 40; // room for arcs
const RIGHT = 8;
const TITLE = 40; // above the list of next tokens
const CONTROLS = 150; // below it

/**
 * @typedef {{x: number, width: number, column: number}} Strip
 * @typedef {{x: number, y: number, size: number}} Place of a small map
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {{x: number, width: number, heads: Place[], mlp: Box}} LayerPlace
 * @typedef {{x: number, y: number, width: number, pitch: number, rowsY: number, bar: Box}} NextPlace
 */

/**
 * @typedef {object} Flow
 * @property {number} width
 * @property {number} height
 * @property {number} unit
 * @property {{x: number, width: number, font: number}} tokens
 * @property {Strip} embed
 * @property {Strip | null} positions null where nothing is added
 * @property {LayerPlace[]} layers
 * @property {number} end where the ribbons end
 * @property {NextPlace | null} next null where the list stands below
 * @property {number[]} stops where the wave is at the beginning of each stage
 */

/**
 * @typedef {object} Shape
 * @property {number} n_layers
 * @property {number} n_heads
 * @property {boolean} hasPositions
 * @property {number} width
 * @property {number} height
 * @property {boolean} isNarrow whether the list of next tokens stands below
 */

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
export function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}

/**
 * @param {Shape} shape
 * @returns {Flow}
 */
export function layout({ n_layers, n_heads, hasPositions, width, height, isNarrow }) {
  const unit = clamp(Math.min(width / 1280, height / 500), 0.8, 1.5);
  /** @param {number} size */
  const px = (size) => Math.round(size * unit);
  const tokens = {
    x: isNarrow ? 20 : LEFT,
    width: px(isNarrow ? 82 : 90),
    font: clamp(px(16), 14, 21),
  };
  const column = Math.max(2, Math.round(1.8 * unit));
  /** @param {number} x */
  const strip = (x) => ({ x, width: N_COLUMNS * column, column });
  const embed = strip(tokens.x + tokens.width + px(8));
  const positions = hasPositions ? strip(embed.x + embed.width + px(18)) : null;
  const last = positions ?? embed;
  const start = last.x + last.width + 6;
  const next = isNarrow ? null : nextAt(width, height, unit);
  const end = next ? next.bar.x - px(46) : width - px(20);
  const room = { height, start, end: end - px(8), unit };
  const layers = columns({ n_layers, n_heads }, room);
  const ends = layers.slice(1).map(({ x }) => x);
  const right = next ? next.x + next.width : width - 4;
  const stops = [tokens.x, embed.x - 4, start, ...ends, end - px(8), right];
  return { width, height, unit, tokens, embed, positions, layers, end, next, stops };
}

/**
 * @param {{n_layers: number, n_heads: number}} model
 * @param {{height: number, start: number, end: number, unit: number}} room
 * @returns {LayerPlace[]}
 */
function columns({ n_layers, n_heads }, { height, start, end, unit }) {
  const pitch = (end - start) / n_layers;
  const least = n_heads > 16 ? 1 : n_heads > 8 ? 3 : 6;
  const fits = Math.floor(Math.min((height - (n_heads - 1) * least) / n_heads, pitch * 0.52));
  const size = clamp(fits, 2, MOST_MAP);
  const free = n_heads > 1 ? (height - n_heads * size) / (n_heads - 1) : 0;
  const gap = Math.max(0, Math.min(free, 4 + size * 0.13));
  const tall = n_heads * size + (n_heads - 1) * gap;
  const top = (height - tall) / 2;
  const thick = Math.max(3, Math.round(Math.min(6 * unit, 0.07 * pitch)));
  const out = 0.36 * (pitch - size - thick); // of the room beside the maps, what is right of them
  return Array.from({ length: n_layers }, (_, layer) => {
    const x = start + layer * pitch;
    const left = Math.round(x + pitch - thick - out - size);
    const heads = Array.from({ length: n_heads }, (__, head) => {
      return { x: left, y: Math.round(top + head * (size + gap)), size };
    });
    const mlp = { x: Math.round(x + pitch - thick), y: top, width: thick, height: tall };
    return { x, width: pitch, heads, mlp };
  });
}

/**
 * @param {number} width
 * @param {number} height
 * @param {number} unit
 * @returns {NextPlace}
 */
function nextAt(width, height, unit) {
  const wide = Math.round(clamp(width * 0.165, 196, 310));
  const pitch = Math.floor(clamp((height - TITLE - CONTROLS) / (N_NEXT + 1), 26, 46));
  const y = Math.max(0, Math.round((height - TITLE - CONTROLS - (N_NEXT + 1) * pitch) / 2));
  const x = width - RIGHT - wide;
  const bar = {
    x: x - Math.round(58 * unit),
    y: y + TITLE,
    width: Math.round(9 * unit),
    height: (N_NEXT + 1) * pitch - 10,
  };
  return { x, y, width: wide, pitch, rowsY: y + TITLE, bar };
}

/** @typedef {{pitch: number, y: (i: number) => number}} Rows */

/**
 * The rows of n tokens, between two numbers while one joins, in the middle of the height.
 *
 * @param {Flow} flow
 * @param {number} n
 * @returns {Rows}
 */
export function rowsOf({ height, unit }, n) {
  const pitch = Math.min(height / n, 42 * unit);
  const top = (height - n * pitch) / 2;
  return { pitch, y: (i) => top + (i + 0.5) * pitch };
}

/**
 * Where the wave is.
 *
 * @param {Flow} flow
 * @param {number} at stages
 */
export function frontAt({ stops }, at) {
  const i = Math.min(Math.floor(at), stops.length - 1);
  const next = stops[Math.min(i + 1, stops.length - 1)];
  return stops[i] + (at - i) * (next - stops[i]);
}

/**
 * The stage at a place: the other way round, for a hand on the axis.
 *
 * @param {Flow} flow
 * @param {number} x
 */
export function stageAt({ stops }, x) {
  const i = clamp(stops.filter((stop) => stop <= x).length - 1, 0, stops.length - 2);
  return clamp(i + (x - stops[i]) / (stops[i + 1] - stops[i]), 0, stops.length - 1);
}
