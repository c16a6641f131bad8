// How a token looks: who wrote it, in a chat, and whether it is one that stands for no text. A look is
// such as "user", "template special", or ""; wire.py writes it.

import { html } from "./dom.js";

/** @import { Looks, Palette } from "./wire.js" */

const SPECIAL = "special";
/** In the order of the legend. @type {Record<string, string>} */
const WORDS = {
  system: "system",
  user: "user",
  assistant: "assistant",
  template: "chat template",
};

/** @param {string} look */
const marksOf = (look) => look.split(" ").filter(Boolean);

/**
 * Who wrote a token, or "".
 *
 * @param {string} look
 */
function roleOf(look) {
  return marksOf(look).find((mark) => mark in WORDS) ?? "";
}

/** @param {string | undefined} look */
export function isSpecial(look = "") {
  return marksOf(look).includes(SPECIAL);
}

/**
 * What a look adds to the class of a label.
 *
 * @param {string | undefined} look
 */
export function slant(look) {
  return isSpecial(look) ? " hl-special" : "";
}

/**
 * A look as the style sheet names it, without its prefix.
 *
 * @param {string | undefined} look
 */
export function lookClasses(look = "") {
  return marksOf(look).map((mark) => (mark in WORDS ? `by-${mark}` : mark));
}

/**
 * A look in words, for who does not see it.
 *
 * @param {string | undefined} look
 */
export function lookInWords(look = "") {
  return marksOf(look)
    .map((mark) => (mark === SPECIAL ? "special token" : mark))
    .join(", ");
}

/**
 * Tokens in a row that one has written, from the first of them to the last.
 *
 * @typedef {{role: string, from: number, to: number}} Stretch
 */

/**
 * Who wrote what of a row of tokens; nothing where it is no chat.
 *
 * @param {Looks | undefined} looks
 */
export function stretchesOf(looks) {
  /** @type {Stretch[]} */
  const found = [];
  looks?.map(roleOf).forEach((role, at) => {
    const last = found.at(-1);
    if (last?.role === role && last.to === at - 1) last.to = at;
    else if (role) found.push({ role, from: at, to: at });
  });
  return found;
}

/**
 * The colour of who wrote it.
 *
 * @param {Palette} palette
 * @param {string} role
 */
export function roleColor(palette, role) {
  return palette[/** @type {"by_user"} */ (`by_${role}`)];
}

/**
 * Who wrote what beside an axis of a map, between its labels and the cells, as Plotly takes it.
 *
 * @param {"x" | "y"} axis
 * @param {Looks | undefined} looks
 * @param {Palette} palette
 */
export function bands(axis, looks, palette) {
  const [beside, edge, near, far] = { x: ["y", 1, 1, 4], y: ["x", 0, -1, -4] }[axis];
  const place = {
    ...{ [`${axis}ref`]: axis, [`${beside}ref`]: "paper" },
    ...{ [`${beside}sizemode`]: "pixel", [`${beside}anchor`]: edge },
    ...{ [`${beside}0`]: near, [`${beside}1`]: far }, // pixels from the cells
  };
  return stretchesOf(looks).map(({ role, from, to }) => ({
    ...{ type: "rect", name: role, [`${axis}0`]: from - 0.5, [`${axis}1`]: to + 0.5 },
    ...{ ...place, fillcolor: roleColor(palette, role), line: { width: 0 }, layer: "above" },
  }));
}

/**
 * Of what Plotly has drawn: beside each axis who wrote what, from which place to which, and its colour.
 *
 * @param {Record<string, any>[]} shapes
 */
export function readBands(shapes) {
  /** @param {"x" | "y"} axis */
  const of = (axis) =>
    shapes
      .filter((one) => one.name && one[`${axis}ref`] === axis)
      .map((one) => [one.name, one[`${axis}0`] + 0.5, one[`${axis}1`] - 0.5, one.fillcolor]);
  return { rows: of("y"), columns: of("x") };
}

/**
 * Labels as Plotly takes them, those of special tokens slanted.
 *
 * @param {string[]} labels
 * @param {Looks | undefined} looks
 */
export function slanted(labels, looks) {
  return labels.map((label, i) => (isSpecial(looks?.[i]) ? `<i>${label}</i>` : label));
}

/**
 * How a token looks of a text that goes on: in a chat what is new is the assistant's.
 *
 * @param {Looks} looks of those that are not new
 * @param {number} i
 */
export function lookWhileWriting(looks, i) {
  return looks?.[i] ?? (looks?.some(roleOf) ? "assistant" : "");
}

/** What the colours over tokens mean; of a text that is no chat it is hidden. */
export class RolesLegend {
  constructor() {
    this.node = html("span", { class: "hl-roles", hidden: true });
  }

  /** @param {...(Looks | undefined)} rows of tokens that are shown */
  show(...rows) {
    const there = new Set(rows.flatMap((looks) => (looks ?? []).map(roleOf)));
    const roles = Object.keys(WORDS).filter((role) => there.has(role));
    this.node.hidden = !roles.length;
    const words = roles.map((role) => html("span", { class: `hl-by-${role}` }, WORDS[role]));
    this.node.replaceChildren(...words);
  }

  /** Its words, or null. */
  read() {
    const { hidden, children } = this.node;
    return hidden ? null : Array.from(children, ({ textContent }) => textContent);
  }
}
