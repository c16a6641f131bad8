// Drawings on a sheet in the shape of a slide, each under its caption, below a title.

import { setAll, svg } from "./dom.js";

/** @import { Drawing, Head } from "./export.js" */
/** @import { Palette } from "./wire.js" */

const SPACE = 16;
const LEAST_WIDTH = 640;
const LEAST_COLUMN = 300; // pixels: room for captions
const SLIDE = 16 / 9;
const LETTER = 0.53; // average width of a letter by its height
const [TITLE, TEXT, LINE] = [17, 14, 1.35]; // pixels of letters, and of a line by them

/**
 * A drawing with the lines of its caption, and the room that both take.
 *
 * @typedef {{drawing: Element, caption: string[], wide: number, high: number}} Piece
 * @typedef {{places: {x: number, y: number}[], width: number, height: number}} Packed
 */

/** @param {Element} drawing */
export function sizeOf(drawing) {
  return ["width", "height"].map((name) => parseFloat(drawing.getAttribute(name) ?? "0"));
}

/**
 * Drawings in columns, as a slide has room for them; in the middle of it.
 *
 * @param {Head} head
 * @param {Drawing[]} drawings
 * @param {Palette} palette
 */
export function sheetOf({ title, texts = [], lines = [] }, drawings, palette) {
  if (!drawings.length) throw new Error("there is nothing to draw here yet");
  const pieces = drawings.map(pieceOf);
  const { places, width, height } = packed(pieces);
  const room = Math.max(LEAST_WIDTH, width);
  const picture = svg("svg");
  /** @type {(words: string[], at: {x: number, y: number}, fill: string, size?: number) => number} */
  const write = (words, { x, y }, fill, size = TEXT) => {
    const rows = words.map((line, i) =>
      svg("text", { x, y: y + (i + 1) * LINE * size, fill, "font-size": size }, line),
    );
    picture.append(...rows);
    return y + rows.length * LINE * size;
  };
  /** @type {[string | null, string, number?][]} */
  const above = [
    [`Headlight · ${title}`, palette.text, TITLE],
    ...texts.map((text) => /** @type {[string, string]} */ ([text, palette.muted])),
    ...lines.map((line) => /** @type {[string | null, string]} */ ([line, palette.text])),
  ];
  let y = 0;
  for (const [words, fill, size = TEXT] of above)
    if (words) y = write(wrapped(words, room / (LETTER * size)), { x: 0, y }, fill, size);
  y += SPACE / 2;
  pieces.forEach(({ drawing, caption }, i) => {
    const { x } = places[i];
    const top = write(caption, { x, y: y + places[i].y }, palette.text) + 6;
    const [wide, high] = sizeOf(drawing).map(Math.round);
    setAll(drawing, { x, y: top, width: wide, height: high });
    picture.append(drawing);
  });
  return onSlide(picture, { width: room, height: y + height }, palette);
}

/**
 * A picture with its ground, as wide and high as a slide that has room for it.
 *
 * @param {SVGSVGElement} picture
 * @param {{width: number, height: number}} size of what is drawn
 * @param {Palette} palette
 */
function onSlide(picture, size, palette) {
  const width = Math.ceil(frameOf(size));
  const height = Math.ceil(width / SLIDE);
  const [x, y] = [(size.width - width) / 2, (size.height - height) / 2];
  picture.prepend(svg("rect", { x, y, width, height, fill: palette.background }));
  const style = { "font-family": palette.font, "font-size": TEXT, fill: palette.text };
  setAll(picture, { width, height, viewBox: `${x} ${y} ${width} ${height}`, ...style });
  return picture;
}

/**
 * How wide a slide is that has room for something, with a space around it.
 *
 * @param {{width: number, height: number}} size
 */
function frameOf({ width, height }) {
  return Math.max(width + 2 * SPACE, (height + 2 * SPACE) * SLIDE);
}

/** @param {Drawing} of @returns {Piece} */
function pieceOf({ caption, drawing }) {
  const [wide, tall] = sizeOf(drawing).map(Math.round);
  const room = Math.max(LEAST_COLUMN, wide);
  const lines = caption ? wrapped(caption, room / (LETTER * TEXT)) : [];
  const high = lines.length * LINE * TEXT + 6 + tall + SPACE / 2;
  return { drawing, caption: lines, wide: room, high };
}

/**
 * Pieces in as many columns as make the smallest slide, in their order.
 *
 * @param {Piece[]} pieces
 * @returns {Packed}
 */
function packed(pieces) {
  let total = 0;
  const limits = pieces.map(({ high }) => (total += high));
  const all = limits.map((limit) => inColumns(pieces, limit));
  return all.reduce((best, one) => (frameOf(one) < frameOf(best) ? one : best));
}

/**
 * @param {Piece[]} pieces
 * @param {number} limit of a column's height
 * @returns {Packed}
 */
function inColumns(pieces, limit) {
  let [x, y, column, height] = [0, 0, 0, 0];
  const places = pieces.map(({ wide, high }) => {
    if (y && y + high > limit) [x, y, column] = [x + column + SPACE, 0, 0];
    const place = { x, y };
    y += high;
    [column, height] = [Math.max(column, wide), Math.max(height, y)];
    return place;
  });
  return { places, width: x + column, height };
}

/**
 * Words in lines of at most so many letters.
 *
 * @param {string} words
 * @param {number} letters
 */
function wrapped(words, letters) {
  const lines = [""];
  for (const word of words.split(" ")) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length + 1 > letters) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`.trim();
  }
  return lines;
}
