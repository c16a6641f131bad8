// What is chosen beside the cells: an example, sizes, heads, and which keys may be attended to.

import { same } from "../../conversation.js";
import {
  check,
  fillLists,
  fillOnce,
  inputOf,
  moveSlider,
  radios,
  select,
  slider,
  toggle,
} from "../../dom.js";
import { read, resized } from "./cells.js";

/** @import { ByHand } from "../by_hand.js" */

/**
 * The number of the example that is shown; below 0 where the numbers are a person's own.
 *
 * @param {ByHand} part
 */
export function exampleOf({ data, settings }) {
  return data.examples.findIndex((example) => same(example.settings, settings));
}

/**
 * Draw the examples to choose from, and what of them can be changed besides their numbers; what stays
 * the same keeps the focus, and a slider the hand that drags it.
 *
 * @param {HTMLElement} examples
 * @param {HTMLElement} container
 * @param {ByHand} part
 */
export function showChoices(examples, container, part) {
  const { cells, heads, masking, scaled, valid } = part.settings;
  const { q, v } = read(cells);
  const what = JSON.stringify([heads, masking]);
  fillLists(examples, "examples", () => [exampleList(part)], [exampleOf(part)]);
  fillOnce(container, what, () => made(part));
  const group = container.querySelector("fieldset");
  if (group) check(group, masking);
  const boxes = container.querySelectorAll(".hl-toggle");
  [scaled, heads > 1].forEach((isOn, i) => (inputOf(boxes[i]).checked = isOn));
  const now = [q.length, q[0].length, v[0].length, Math.min(valid, q.length)];
  container
    .querySelectorAll(".hl-field:has([type=range])")
    .forEach((label, i) => moveSlider(label, now[i], i === 3 ? { high: q.length } : {}));
}

/** @param {ByHand} part */
function exampleList(part) {
  const { examples } = part.data;
  /** @type {[number, string][]} */
  const options = examples.map(({ name }, i) => [i, name]);
  return select("Example", [...options, [-1, "your own"]], (to) =>
    part.set(examples[Number(to)]?.settings ?? {}),
  );
}

/** @param {ByHand} part */
function made(part) {
  const { data, settings } = part;
  const { maskings, most } = data;
  const { heads, masking } = settings;
  /** @type {(label: string, low: number, high: number, step: number, set: (n: number) => void) => Element} */
  const size = (label, low, high, step, set) =>
    slider(label, { bounds: { low, high, step }, value: low }, set);
  /** @param {Parameters<typeof resized>[1]} to */
  const resize = (to) => part.set(resized(part.settings, to));
  const masks = Object.entries(maskings).map(([name, text]) => ({ name, text }));
  return [
    size("Tokens", 1, most.rows, 1, (rows) => resize({ rows })),
    size("Columns of Q, K", heads, most.columns, heads, (d) => resize({ d })),
    size("Columns of V", heads, most.columns, heads, (dv) => resize({ dv })),
    radios("hl-hand-mask", "Masking", masks, masking, (to) => part.set({ masking: to })),
    ...(masking === "valid"
      ? [size("Valid keys", 0, most.rows, 1, (valid) => part.set({ valid }))]
      : []),
    toggle("÷ √d", (to) => part.set({ scaled: to })),
    toggle("two heads", (on) => resize({ heads: on ? 2 : 1 })),
  ];
}
