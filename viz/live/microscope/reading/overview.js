// All heads at a glance, read back: the picture's pixels, the words on its tiles, the bars beside them
// and the names of layers and heads. Nothing here is used to draw.

import { independent } from "../../core/independent.js";
import { pixelsOf, readTiles } from "../../core/pixels.js";
import { errorOfNumber } from "../../core/printed.js";

/** @import { Tally } from "../../core/tally.js" */
/** @import { Palette } from "../../core/wire.js" */
/** @import { MicroscopeData, Group } from "../wire.js" */

const ROUNDING = 1e-5; // how far two runs may be apart
const PIXEL = 1; // slack of a word in the picture
const RISE = 4; // pixels from a name's foot to its middle
// From which mean a head has a role: a third of all weight, or rows nearly even.
const THIRD = 1 / 3;
const BY_PLACE = { previous: THIRD, next: THIRD, first: THIRD, self: THIRD };
const AT_LEAST = { ...BY_PLACE, same: THIRD, induction: THIRD, broad: 0.8 };

/** Where the tiles are on the page. @typedef {{x: number, y: number, width: number, height: number}} Box */

/**
 * Compare one grid.
 *
 * @param {Pick<MicroscopeData, "key" | "streams" | "roles">} data
 * @param {Group} group
 * @param {SVGSVGElement} picture
 * @param {Palette} palette
 * @param {Tally} tally
 */
export async function readOverview(data, group, picture, palette, tally) {
  const { name, n_heads, n_layers, tiles } = group;
  const image = picture.querySelector("image");
  if (!image) return tally.hold(false, `${name}.tiles`);
  const expected = await independent(data.key, `${name}.tiles`);
  const pixels = await pixelsOf(image.getAttribute("href") ?? "");
  const [, rows, columns] = tiles.shape;
  const isWhole = expected.columns === rows * columns && expected.rows === n_layers * n_heads;
  tally.hold(isWhole, `${name}.tiles`);
  if (!isWhole) return;
  readTiles(tally, pixels, { values: expected.values, name, rows, columns, n_heads, palette });
  const [x, y, width, height] = ["x", "y", "width", "height"].map((side) =>
    Number(image.getAttribute(side)),
  );
  const box = { x, y, width: width / n_heads, height: height / n_layers };
  readNames(tally, picture, box, name);
  await readBars(tally, picture, data.key, group, box);
  await readChips(tally, picture, data, group, box);
}

/**
 * L2 and H5 stand at their row and column.
 *
 * @param {Tally} tally
 * @param {SVGSVGElement} picture
 * @param {Box} box of the first tile
 * @param {string} name
 */
function readNames(tally, picture, box, name) {
  for (const node of picture.querySelectorAll(":scope > text")) {
    const [, axis, number] = /^([LH])(\d+)$/.exec(node.textContent ?? "") ?? [];
    const [x, y] = ["x", "y"].map((side) => Number(node.getAttribute(side)));
    const at = axis === "L" ? (y - RISE - box.y) / box.height : (x - box.x) / box.width;
    tally.hold(Math.floor(at) === Number(number), name);
  }
}

/**
 * The bars are as long to each other as the means of sharpness are.
 *
 * @param {Tally} tally
 * @param {SVGSVGElement} picture
 * @param {string} run
 * @param {Group} group
 * @param {Box} box of the first tile
 */
async function readBars(tally, picture, run, { name, n_layers, n_heads }, box) {
  const names = [`${name}.layer_sharpness`, `${name}.head_sharpness`];
  const [ofLayers, ofHeads] = await Promise.all(names.map((one) => independent(run, one)));
  const expected = [...ofLayers.values, ...ofHeads.values];
  const lengths = new Array(expected.length).fill(NaN);
  for (const bar of picture.querySelectorAll(":scope > .hl-bar")) {
    /** @param {string} side */
    const of = (side) => Number(bar.getAttribute(side));
    const isRight = of("x") >= box.x + n_heads * box.width;
    const middle = isRight
      ? (of("y") + of("height") / 2 - box.y) / box.height
      : (of("x") + of("width") / 2 - box.x) / box.width;
    lengths[Math.floor(middle) + (isRight ? 0 : n_layers)] = of(isRight ? "width" : "height");
  }
  const unit = Math.max(...lengths) / Math.max(...expected);
  lengths.forEach((length, i) => {
    tally.add(Math.abs(length / unit - expected[i]), names[i < n_layers ? 0 : 1]);
  });
}

/**
 * The word on a tile is what the head does most, and the number beside it its mean.
 *
 * @param {Tally} tally
 * @param {SVGSVGElement} picture
 * @param {Pick<MicroscopeData, "key" | "streams" | "roles">} data
 * @param {Group} group
 * @param {Box} box of the first tile
 */
async function readChips(tally, picture, { key, streams, roles }, group, box) {
  const chips = Array.from(picture.querySelectorAll(".hl-chip"));
  if (!chips.length) return;
  const hasIds = streams[group.queries].kind === "text";
  const all = await measuresOf(key, group, hasIds);
  const found = new Set(
    chips.map((chip) => {
      const at = headOf(chip, group, box);
      const words = chip.textContent ?? "";
      const role = roles.find(({ chip: word }) => words.startsWith(word))?.name ?? "";
      const address = `${group.name}.${role}[${Math.floor(at / group.n_heads)},${at % group.n_heads}]`;
      const number = chip.querySelector("[data-number]")?.textContent;
      tally.hold(isLargest(all, role, at), address);
      if (number) tally.add(errorOfNumber(number, all[role]?.[at] ?? NaN), address);
      return at;
    }),
  );
  for (let at = 0; at < group.n_layers * group.n_heads; at++)
    if (!found.has(at) && hasClearRole(all, at)) tally.hold(false, group.name);
}

/**
 * The head whose tile has a chip in its upper right corner.
 *
 * @param {Element} chip
 * @param {Group} group
 * @param {Box} box of the first tile
 */
function headOf(chip, { n_heads }, box) {
  const [x, y] = placeOf(chip);
  const head = Math.floor((x - PIXEL - box.x) / box.width);
  return Math.floor((y + PIXEL - box.y) / box.height) * n_heads + head;
}

/**
 * The upper right of a chip.
 *
 * @param {Element} chip
 */
function placeOf(chip) {
  const box = chip.querySelector("rect");
  /** @param {string} side */
  const of = (side) => Number(box?.getAttribute(side));
  return [of("x") + of("width"), of("y")];
}

/** Each measure of all heads, by its name. @typedef {Record<string, ArrayLike<number>>} Measures */

/**
 * @param {string} run
 * @param {Group} group
 * @param {boolean} hasIds
 * @returns {Promise<Measures>}
 */
export async function measuresOf(run, { name, kind, queries, keys }, hasIds) {
  const isOfOne = kind === "self" && queries === keys;
  const names = Object.keys(AT_LEAST).filter(
    (one) => one === "broad" || (isOfOne && (one in BY_PLACE || hasIds)),
  );
  const arrays = await Promise.all(names.map((one) => independent(run, `${name}.${one}`)));
  return Object.fromEntries(names.map((one, i) => [one, arrays[i].values]));
}

/**
 * Whether a measure reaches what a role takes, and none that does is larger.
 *
 * @param {Measures} all
 * @param {string} role
 * @param {number} at
 */
export function isLargest(all, role, at) {
  const value = all[role]?.[at] ?? NaN;
  const isReached = value >= leastOf(role) - ROUNDING;
  return isReached && reached(all, at, ROUNDING).every((name) => all[name][at] <= value + ROUNDING);
}

/**
 * Whether a head has a role beyond what rounding could take from it.
 *
 * @param {Measures} all
 * @param {number} at
 */
export function hasClearRole(all, at) {
  return reached(all, at, ROUNDING).length > 0;
}

/**
 * The measures that reach what a role takes, by more than `more`.
 *
 * @param {Measures} all
 * @param {number} at
 * @param {number} more
 */
function reached(all, at, more) {
  return Object.keys(all).filter((name) => all[name][at] >= leastOf(name) + more);
}

/** @param {string} role */
function leastOf(role) {
  return /** @type {Record<string, number>} */ (AT_LEAST)[role] ?? Infinity;
}
