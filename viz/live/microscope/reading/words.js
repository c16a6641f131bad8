// What the line above the views says a head does, read back. Nothing here is used to draw.

import { independent } from "../../core/independent.js";
import { errorOfNumber, saysText } from "../../core/printed.js";
import { hasClearRole, isLargest, measuresOf } from "./overview.js";
import { placeIn, truthOfHead } from "./truth.js";

/** @import { Tally } from "../../core/tally.js" */
/** @import { Microscope } from "../microscope.js" */

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
