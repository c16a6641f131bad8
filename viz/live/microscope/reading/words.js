// What the line above the views says a head does, read back. Nothing here is used to draw.

import { independent } from "../../core/independent.js";
import { errorOfNumber, saysText } from "../../core/printed.js";
import { hasClearRole, isLargest, measuresOf } from "./overview.js";
import { placeIn, truthOfHead } from "./truth.js";

/** @import { Tally } from "../../core/tally.js" */
/** @import { Microscope } from "../microscope.js" */
/** @import { Group } from "../wire.js" */

const ROUNDING = 1e-5; // how far two runs may be apart

/**
 * @param {Microscope} scope
 * @param {HTMLElement} does
 * @param {Tally} tally
 */
export async function readDoes(scope, does, tally) {
  const title = scope.title.textContent ?? "";
  const place = placeIn(scope, title);
  if (!place) return tally.hold(false, scope.group.name);
  const { data, group } = scope;
  readFrame(scope, place, tally);
  const all = await measuresOf(data.key, group, data.streams[group.queries].kind === "text");
  const at = place.layer * group.n_heads + place.head;
  if (does.querySelector("[data-pair]")) {
    tally.hold(!hasClearRole(all, at), group.name);
    return readPair(scope, does, tally, title);
  }
  const role = data.roles.find(({ says }) => does.textContent?.includes(`: ${says}, `))?.name;
  if (!role) return;
  const address = `${group.name}.${role}`;
  const { values } = await independent(data.key, `${address}_queries`);
  tally.hold(isLargest(all, role, at), address);
  tally.add(errorOfNumber(printed(does, "role"), all[role]?.[at] ?? NaN), address);
  tally.add(errorOfNumber(printed(does, "queries"), values[at]), `${address}_queries`);
}

/**
 * Among all heads the one that the title names has the frame, and no other.
 *
 * @param {Microscope} scope
 * @param {{layer: number, head: number}} place
 * @param {Tally} tally
 */
function readFrame({ overview, data, group }, { layer, head }, tally) {
  const pictures = Array.from(overview.host.querySelectorAll(".hl-overview"));
  const framed = pictures.flatMap((picture, i) => {
    const frame = picture.querySelector(".hl-frame:not(.hl-frame-hover):not([visibility=hidden])");
    const image = picture.querySelector("image");
    if (!frame || !image) return [];
    const [row, column] = placeOn(image, frame, data.groups[i]);
    return [`${i} ${row} ${column}`];
  });
  const isRight = framed.join() === `${data.groups.indexOf(group)} ${layer} ${head}`;
  if (pictures.length) tally.hold(isRight, `${group.name}.pattern[${head}]`);
}

/**
 * The row and the column of the tile below the middle of a frame.
 *
 * @param {Element} image
 * @param {Element} frame
 * @param {Group} group
 */
function placeOn(image, frame, { n_layers, n_heads }) {
  /** @type {(node: Element, side: string) => number} */
  const of = (node, side) => Number(node.getAttribute(side));
  const middle = (/** @type {string} */ side, /** @type {string} */ length) =>
    (of(frame, side) + of(frame, length) / 2 - of(image, side)) / of(image, length);
  return [Math.floor(n_layers * middle("y", "height")), Math.floor(n_heads * middle("x", "width"))];
}

/**
 * @param {Element} host
 * @param {string} name
 */
function printed(host, name) {
  return host.querySelector(`[data-number=${name}]`)?.textContent ?? "";
}

/**
 * The strongest pair: its tokens, its weight, and that no other is stronger.
 *
 * @param {Microscope} scope
 * @param {HTMLElement} does
 * @param {Tally} tally
 * @param {string} title
 */
async function readPair(scope, does, tally, title) {
  const truth = await truthOfHead(scope, { title });
  const node = does.querySelector("[data-pair]");
  if (!truth || !node) return;
  const { address, weights, rows, columns } = truth;
  const [query, key] = (node.getAttribute("data-pair") ?? "").split("-").map(Number);
  const [from = "", to = ""] = Array.from(node.querySelectorAll("bdi"), (x) => x.textContent ?? "");
  const weight = weights[query]?.[key] ?? NaN;
  tally.hold(saysText(from, rows[query] ?? null) && saysText(to, columns[key] ?? null), address);
  tally.add(errorOfNumber(printed(node, "pair"), weight), address);
  const isSelf = scope.between.kind === "self";
  /** @type {(isAny: boolean) => number} */
  const most = (isAny) =>
    Math.max(
      0,
      ...weights.map((row, i) =>
        row.reduce((top, p, j) => (isAny || (j && j !== i) ? Math.max(top, p) : top), 0),
      ),
    );
  tally.hold(weight >= (most(!isSelf) || most(true)) - ROUNDING, address);
}
