// Where everything stands: a pure function of the model's shape and of the room there is.
//
// From left to right: tokens, embedding, what positions add, a column for each attention layer (curves
// in, maps, curves out, MLP), the bar of probabilities, the list of what is said; where nothing is said,
// the last vectors. A model of two texts has two bands of this, one above the other. Layers that have no
// room for maps that can be read come in pages, and many heads of one in several files. Sizes follow one
// unit, the smaller of width / 1280 and height / 500; maps take what both directions allow.

export const N_NEXT = 8; // tokens named on the right; one more row is for all others
export const N_COLUMNS = 24; // numbers drawn of each vector
const MOST_MAP = 96;
const LEAST_MAP = 24; // below it layers come in pages
const PAGED_MAP = 28; // units: what these are made for
const BESIDE = 4; // pixels between two files of maps
const LEFT = 40; // room for arcs
const RIGHT = 8;
const TITLE = 40; // above the list of next tokens
const CONTROLS = 136; // below it
export const HEADER = 20; // above each of several bands
const PAGER = 28; // above layers that come in pages
const ROW = 42; // the highest row of a text
const PICTURE = 176; // the width of a picture

/**
 * @typedef {{x: number, width: number, column: number}} Strip
 * @typedef {{x: number, y: number, size: number}} Place of a small map
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {{from: number, to: number, files: number}} Page columns in sight at once, and of each its files of maps
 * @typedef {{band: number, x: number, width: number, heads: Place[], mlp: Box | null}} ColumnPlace
 *   without heads where it is on another page
 * @typedef {{x: number, y: number, width: number, pitch: number, rowsY: number, bar: Box}} NextPlace
 * @typedef {{top: number, height: number}} BandPlace
 * @typedef {{x: number, y: number, cell: number, side: number}} PicturePlace
 */

/**
 * @typedef {object} Flow
 * @property {number} width
 * @property {number} height
 * @property {number} unit
 * @property {{x: number, width: number, font: number}} tokens
 * @property {PicturePlace | null} picture in the place of tokens
 * @property {Strip} embed
 * @property {Strip | null} positions null where nothing is added
 * @property {Strip | null} last vectors, where they are what comes out
 * @property {BandPlace[]} bands
 * @property {ColumnPlace[]} columns
 * @property {Page[]} pages
 * @property {Page} page which is in sight
 * @property {number} start where the first column begins
 * @property {number} end where the ribbons end
 * @property {NextPlace | null} next null where the list stands below
 * @property {number[][]} fronts of each band where its wave is at the beginning of each stage
 * @property {number[]} stops the stages on the axis
 */

/**
 * @typedef {object} Shape
 * @property {{band: number, n_heads: number, mlp: number | null}[]} columns
 * @property {boolean} hasPositions
 * @property {boolean} [hasLast]
 * @property {number} side patches in a row of a picture; 0: tokens
 * @property {number} width
 * @property {number} height
 * @property {boolean} isNarrow whether the list of next tokens stands below
 * @property {number} sight a column that is in sight
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
export function layout({ columns, hasPositions, hasLast, side, width, height, isNarrow, sight }) {
  const unit = clamp(Math.min(width / 1280, height / 500), 0.8, 1.5);
  /** @param {number} size */
  const px = (size) => Math.round(size * unit);
  const nBands = columns[columns.length - 1].band + 1;
  const { tokens, picture } = given({ side, height, unit, isNarrow, nBands });
  const column = Math.max(2, Math.round(1.8 * unit));
  /** @param {number} left */
  const strip = (left) => ({ x: left, width: N_COLUMNS * column, column });
  const embed = strip(tokens.x + tokens.width + px(picture ? 22 : 8));
  const positions = hasPositions ? strip(embed.x + embed.width + px(18)) : null;
  const first = positions ?? embed;
  const start = first.x + first.width + 6;
  const next = isNarrow ? null : nextAt(width, height, unit);
  const edge = next ? next.x : width;
  const last = hasLast ? strip(edge - px(20) - embed.width) : null;
  const end = last ? last.x - px(6) : next ? next.bar.x - px(46) : width - px(20);
  const across = { start, end: end - px(8), unit };
  const pages = pagesOf(columns, nBands, { ...across, height });
  const page = pages.find(({ to }) => sight < to) ?? pages[0];
  const bands = bandsOf(nBands, height, pages.length);
  const places = bands.map((place, band) => {
    const own = columns.filter((about) => about.band === band);
    return columnsOf(own, page, { ...across, ...place }).map((found) => ({ ...found, band }));
  });
  const right = next ? next.x + next.width : width - 4;
  const ends = { left: tokens.x, embed: embed.x - 4, end: end - px(8), right };
  const fronts = frontsOf(places, ends);
  const stops = stopsOf(fronts, { ...ends, start }, pages.length);
  const boxes = { tokens, picture, embed, positions, last, bands, columns: places.flat() };
  return { width, height, unit, ...boxes, pages, page, start, end, next, fronts, stops };
}

/**
 * What stands at the left: tokens, or a picture.
 *
 * @param {{side: number, height: number, unit: number, isNarrow: boolean, nBands: number}} room
 */
function given({ side, height, unit, isNarrow, nBands }) {
  /** @param {number} size */
  const px = (size) => Math.round(size * unit);
  const [size, least] = nBands > 1 ? [15, 13] : [16, 14];
  const x = isNarrow ? 20 : side ? RIGHT : LEFT;
  const picture = side ? pictureAt(x, px(isNarrow ? 112 : PICTURE), side, height) : null;
  const width = picture ? side * picture.cell : px(isNarrow ? 82 : 90);
  return { tokens: { x, width, font: clamp(px(size), least, 21) }, picture };
}

/**
 * Which columns are in sight together: all, or of one text as many as have room for their maps.
 *
 * @param {{n_heads: number}[]} columns
 * @param {number} nBands
 * @param {{start: number, end: number, unit: number, height: number}} room
 * @returns {Page[]}
 */
function pagesOf(columns, nBands, { start, end, unit, height }) {
  const { length } = columns;
  const n_heads = Math.max(...columns.map((column) => column.n_heads));
  /** @param {number} files @param {number} n @param {number} tall */
  const size = (files, n, tall) => sizeOf(n_heads, files, (end - start) / n, tall);
  if (nBands > 1 || size(1, length, height) >= LEAST_MAP)
    return [{ from: 0, to: length, files: 1 }];
  const least = Math.max(LEAST_MAP, PAGED_MAP * unit);
  let [files, most] = [1, length];
  while (files < n_heads && size(files, 1, height - PAGER) < least) files += 1;
  while (most > 1 && size(files, most, height - PAGER) < least) most -= 1;
  const n = Math.ceil(length / most);
  /** @param {number} i */
  const at = (i) => Math.floor((i * length) / n);
  return Array.from({ length: n }, (_, i) => ({ from: at(i), to: at(i + 1), files }));
}

/**
 * @param {number} n
 * @param {number} height
 * @param {number} nPages
 * @returns {BandPlace[]}
 */
function bandsOf(n, height, nPages) {
  const header = nPages > 1 ? PAGER : n > 1 ? HEADER : 0;
  const tall = height / n - header;
  return Array.from({ length: n }, (_, i) => {
    return { top: i * (tall + header) + header, height: tall };
  });
}

/**
 * @param {number} x
 * @param {number} width
 * @param {number} side
 * @param {number} height
 * @returns {PicturePlace}
 */
function pictureAt(x, width, side, height) {
  const cell = Math.floor(width / side);
  return { x, y: Math.round((height - side * cell) / 2), cell, side };
}

/**
 * Where the wave is in each band at the beginning of each stage: in one after the other.
 *
 * @param {ColumnPlace[][]} places
 * @param {{left: number, embed: number, end: number, right: number}} ends
 */
function frontsOf(places, { left, embed, end, right }) {
  return places.map((own, band) => {
    const before = places.slice(0, band).flatMap((columns) => [left, ...columns.map(() => left)]);
    const behind = places
      .slice(band + 1)
      .flatMap((columns) => [right, ...columns.map(() => right)]);
    const last = behind.length ? right : end;
    return [left, ...before, embed, ...own.map(({ x }) => x), ...behind, last, right];
  });
}

/**
 * Where stages are on the axis: where the wave is, and of what is not all in sight evenly.
 *
 * @param {number[][]} fronts
 * @param {{left: number, embed: number, start: number, end: number, right: number}} ends
 * @param {number} nPages
 */
function stopsOf(fronts, { left, embed, start, end, right }, nPages) {
  const n = fronts[0].length;
  if (fronts.length > 1) return evenly(n, left, right);
  return nPages > 1 ? [left, embed, ...evenly(n - 3, start, end), right] : fronts[0];
}

/**
 * @param {number} n
 * @param {number} from
 * @param {number} to
 */
function evenly(n, from, to) {
  return Array.from({ length: n }, (_, i) => from + ((to - from) * i) / (n - 1));
}

/**
 * How large the maps of a column are, in some files of them.
 *
 * @param {number} n_heads
 * @param {number} files
 * @param {number} pitch
 * @param {number} height
 */
function sizeOf(n_heads, files, pitch, height) {
  const rows = Math.ceil(n_heads / files);
  const beside = pitch * (files > 1 ? 0.68 : 0.52) - (files - 1) * BESIDE;
  return Math.floor(Math.min((height - (rows - 1) * leastGap(rows)) / rows, beside / files));
}

/** @param {number} rows of maps */
function leastGap(rows) {
  return rows > 16 ? 1 : rows > 8 ? 3 : 6;
}

/**
 * @param {{n_heads: number, mlp: number | null}[]} columns
 * @param {Page} page those that are in sight
 * @param {{start: number, end: number, unit: number, top: number, height: number}} room
 */
function columnsOf(columns, { from, to, files }, { start, end, unit, top, height }) {
  const pitch = (end - start) / (Math.min(to, columns.length) - from); // of several bands all are
  const thick = Math.max(3, Math.round(Math.min(6 * unit, 0.07 * pitch)));
  return columns.map(({ n_heads, mlp }, i) => {
    if (i < from || i >= to) return { x: i < from ? start : end, width: 0, heads: [], mlp: null };
    const size = clamp(sizeOf(n_heads, files, pitch, height), 2, MOST_MAP);
    const rows = Math.ceil(n_heads / files);
    const free = rows > 1 ? (height - rows * size) / (rows - 1) : 0;
    const gap = Math.max(0, Math.min(free, 4 + size * 0.13));
    const tall = rows * size + (rows - 1) * gap;
    const wide = files * (size + BESIDE) - BESIDE;
    const y = top + (height - tall) / 2;
    const out = 0.36 * (pitch - wide - thick); // of the room beside the maps, what is right of them
    const x = start + (i - from) * pitch;
    const left = Math.round(x + pitch - thick - out - wide);
    const heads = Array.from({ length: n_heads }, (_, head) => {
      const [file, row] = [Math.floor(head / rows), head % rows];
      return { x: left + file * (size + BESIDE), y: Math.round(y + row * (size + gap)), size };
    });
    const box = { x: Math.round(x + pitch - thick), y, width: thick, height: tall };
    return { x, width: pitch, heads, mlp: mlp === null ? null : box };
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
  const pitch = Math.floor(clamp((height - TITLE - CONTROLS) / (N_NEXT + 1), 22, 46));
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

/**
 * Where rows are: `y` in their middle, `pitch` from one to the next, each of a row's number.
 *
 * @typedef {{pitch: (row: number) => number, y: (row: number) => number}} Rows
 */

/**
 * The rows of each band in the middle of its height; of the last one `size` of all rows, between two
 * numbers while one joins.
 *
 * @param {Flow} flow
 * @param {{from: number, to: number}[]} bands
 * @param {number} size
 * @returns {Rows}
 */
export function rowsOf({ bands: places, unit }, bands, size) {
  const found = bands.map(({ from, to }, i) => {
    const n = (i === bands.length - 1 ? size : to) - from;
    const { top, height } = places[i];
    const pitch = Math.min(height / n, ROW * unit);
    return { from, to, pitch, top: top + (height - n * pitch) / 2 };
  });
  const last = found[found.length - 1];
  /** @param {number} row */
  const of = (row) => found.find(({ to }) => row < to) ?? last;
  return {
    pitch: (row) => of(row).pitch,
    y: (row) => of(row).top + (row - of(row).from + 0.5) * of(row).pitch,
  };
}

/**
 * Where a wave is.
 *
 * @param {number[]} stops
 * @param {number} at stages
 */
export function frontAt(stops, at) {
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
