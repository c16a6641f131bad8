// What is chosen beside the cells: an example, sizes, heads, and which keys may be attended to.

import { check, fillOnce, inputOf, radios, select, slider, toggle } from "../../dom.js";
import { same } from "../../conversation.js";
import { identity, read, resized, write } from "./cells.js";

/** @import { ByHandData, ByHandSettings } from "./wire.js" */

/** @typedef {(changes: Partial<ByHandSettings>) => void} Set */

/**
 * The example that is shown; below 0 where the numbers are a person's own.
 *
 * @param {ByHandData} data
 * @param {ByHandSettings} now
 */
function numberOf({ examples }, now) {
  return examples.findIndex(({ settings }) => same(settings, now));
}

/**
 * What the numbers show, in a line.
 *
 * @param {ByHandData} data
 * @param {ByHandSettings} now
 */
export function aboutOf(data, now) {
  const example = data.examples[numberOf(data, now)];
  return example?.about ?? "Numbers of your own: change any cell of Q, K and V.";
}

/**
 * Draw the controls; those that stay the same keep the focus, and a slider the hand that drags it.
 *
 * @param {HTMLElement} container
 * @param {ByHandData} data
 * @param {() => ByHandSettings} current what they are when a person changes one
 * @param {Set} set
 */
export function showChoices(container, data, current, set) {
  const { cells, heads, masking, scaled, valid } = current();
  const { q, v } = read(cells);
  fillOnce(container, JSON.stringify([heads, masking]), () => [
    examplePicker(data, set),
    ...sizes(data, current, set),
    radios("hl-hand-mask", "Masking", maskings(data), masking, (to) => set({ masking: to })),
    ...(masking === "valid" ? [validKeys(q.length, valid, set)] : []),
    toggle("÷ √d", (to) => set({ scaled: to })),
    toggle("two heads", (on) => set(split(current(), on ? 2 : 1))),
  ]);
  const list = container.querySelector("select");
  if (list) list.value = String(numberOf(data, current()));
  const group = container.querySelector("fieldset");
  if (group) check(group, masking);
  const boxes = container.querySelectorAll(".hl-toggle");
  [scaled, heads > 1].forEach((isOn, i) => (inputOf(boxes[i]).checked = isOn));
  const now = [q.length, q[0].length, v[0].length, Math.min(valid, q.length)];
  container
    .querySelectorAll(".hl-field:has([type=range])")
    .forEach((label, i) => moveTo(label, now[i], i === 3 ? q.length : null));
}

/**
 * Have a slider say what is, with another end where there is one.
 *
 * @param {Element} label
 * @param {number} value
 * @param {number | null} end
 */
function moveTo(label, value, end) {
  const input = inputOf(label);
  if (end !== null) input.max = String(end);
  if (Number(input.value) !== value) input.value = String(value);
  input.setAttribute("aria-valuetext", String(value));
  const output = label.querySelector(".hl-value");
  if (output) output.textContent = String(value);
}

/**
 * @param {ByHandData} data
 * @param {Set} set
 */
function examplePicker({ examples }, set) {
  /** @type {[number, string][]} */
  const options = examples.map(({ name }, i) => [i, name]);
  return select("Example", [...options, [-1, "your own"]], 0, (to) => {
    const chosen = examples[Number(to)];
    if (chosen) set(chosen.settings);
  });
}

/** @param {ByHandData} data */
function maskings({ maskings: named }) {
  return Object.entries(named).map(([value, text]) => ({ value, text }));
}

/**
 * @param {ByHandData} data
 * @param {() => ByHandSettings} current
 * @param {Set} set
 */
function sizes({ most }, current, set) {
  const step = current().heads;
  /** @type {(label: string, high: number, by: number, to: (n: number) => Size) => Element} */
  const one = (label, high, by, to) =>
    slider(label, { bounds: { low: by, high, step: by }, value: by }, (n) =>
      set(resize(current(), to(n))),
    );
  return [
    one("Tokens", most.rows, 1, (rows) => ({ rows })),
    one("Columns of Q, K", most.columns, step, (d) => ({ d })),
    one("Columns of V", most.columns, step, (dv) => ({ dv })),
  ];
}

/**
 * @param {number} n
 * @param {number} valid
 * @param {Set} set
 */
function validKeys(n, valid, set) {
  const value = Math.min(valid, n);
  const bounds = { low: 0, high: n, step: 1 };
  return slider("Valid keys", { bounds, value }, (to) => set({ valid: to }));
}

/** @typedef {{rows?: number, d?: number, dv?: number}} Size */

/**
 * @param {ByHandSettings} now
 * @param {Size} to
 * @returns {Partial<ByHandSettings>}
 */
function resize(now, to) {
  const { q, k, v, out } = read(now.cells);
  const { rows = q.length, d = q[0].length, dv = v[0].length } = to;
  const fits = dv === out.length ? out : identity(dv);
  const cells = {
    ...{ q: resized(q, rows, d), k: resized(k, rows, d), v: resized(v, rows, dv) },
    out: out.length ? fits : [],
  };
  return { cells: write(cells), valid: Math.min(now.valid, rows) };
}

/**
 * Two heads share the columns evenly, and W_O puts them together.
 *
 * @param {ByHandSettings} now
 * @param {number} heads
 * @returns {Partial<ByHandSettings>}
 */
function split(now, heads) {
  const { q, k, v } = read(now.cells);
  const [d, dv] = [q[0].length, v[0].length].map((n) => n + (n % heads));
  const cells = {
    ...{ q: resized(q, q.length, d), k: resized(k, k.length, d), v: resized(v, v.length, dv) },
    out: heads > 1 ? identity(dv) : [],
  };
  return { cells: write(cells), heads };
}
