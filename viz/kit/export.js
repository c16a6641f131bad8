// What stands on screen as a drawing that can be saved.

import { setAll, svg } from "./dom.js";

const HATCH = 8; // pixels from a stroke to the next
// What a style sheet says of a drawing; outside of the page there is none.
const PAINTED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"];
const WRITTEN = ["font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

/**
 * What stands in an element, boxes, words and pictures, as one drawing of its size.
 *
 * @param {Element} host
 */
export function drawingOf(host) {
  const { left, top, width, height } = host.getBoundingClientRect();
  const picture = svg("svg", { width, height, viewBox: `${left} ${top} ${width} ${height}` });
  for (const node of [host, ...host.querySelectorAll("*")]) {
    if (node.parentElement?.closest("svg") || !node.checkVisibility()) continue;
    if (node instanceof SVGSVGElement) picture.append(copied(node));
    else picture.append(...boxesOf(node), ...wordsOf(node));
  }
  return picture;
}

/**
 * A drawing where it stands, with what style sheets say of it.
 *
 * @param {SVGSVGElement} node
 */
function copied(node) {
  const copy = /** @type {SVGSVGElement} */ (node.cloneNode(true));
  const [own, others] = [copy, node].map((one) => [...one.querySelectorAll("*")]);
  others.forEach((other, i) => {
    const style = getComputedStyle(other);
    const names = other.matches("text, tspan") ? [...PAINTED, ...WRITTEN] : PAINTED;
    for (const name of names) own[i].setAttribute(name, style.getPropertyValue(name));
  });
  const { left: x, top: y, width, height } = node.getBoundingClientRect();
  setAll(copy, { x, y, width, height });
  return copy;
}

/**
 * The ground of an element, its line and its frame.
 *
 * @param {Element} node
 */
function boxesOf(node) {
  const { left: x, top: y, width, height } = node.getBoundingClientRect();
  const style = getComputedStyle(node);
  const { backgroundColor, backgroundImage, borderTopWidth, borderTopStyle, borderTopColor } =
    style;
  const box = { x, y, width, height, rx: parseFloat(style.borderTopLeftRadius) };
  const line = { stroke: borderTopColor, "stroke-width": borderTopWidth };
  const dashes = { "stroke-dasharray": borderTopStyle === "dashed" ? "3 3" : null };
  const hasLine = parseFloat(borderTopWidth) > 0 && borderTopColor !== NONE;
  const frame = { stroke: style.outlineColor, "stroke-width": style.outlineWidth };
  const hatch = { d: hatchOf(x, y, width, height), stroke: style.getPropertyValue("--hl-hatch") };
  return [
    backgroundColor === NONE ? "" : svg("rect", { ...box, fill: backgroundColor }),
    backgroundImage === "none" ? "" : svg("path", hatch),
    hasLine ? svg("rect", { ...box, fill: "none", ...line, ...dashes }) : "",
    style.outlineStyle === "none" ? "" : svg("rect", { ...box, fill: "none", ...frame }),
  ];
}

const NONE = "rgba(0, 0, 0, 0)";

/**
 * Strokes across a box.
 *
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function hatchOf(x, y, width, height) {
  let path = "";
  for (let at = HATCH - height; at < width; at += HATCH) {
    const [left, right] = [Math.max(at, 0), Math.min(at + height, width)];
    path += `M${x + left} ${y + height - left + at}L${x + right} ${y + height - right + at}`;
  }
  return path;
}

/**
 * The words that stand in an element itself, line by line.
 *
 * @param {Element} node
 */
function wordsOf(node) {
  const { color: fill, fontFamily, fontSize, fontWeight } = getComputedStyle(node);
  const size = parseFloat(fontSize);
  const look = { fill, "font-family": fontFamily, "font-size": size, "font-weight": fontWeight };
  const pieces = /** @type {Text[]} */ ([...node.childNodes].filter((one) => one.nodeType === 3));
  return pieces.flatMap(linesOf).map(({ text, x, y }) => {
    const at = { x, y: y + 0.35 * size, style: "white-space: pre" };
    return svg("text", { ...look, ...at }, text);
  });
}

/**
 * The lines of a text as they are broken on screen.
 *
 * @param {Text} piece
 */
function linesOf(piece) {
  /** @type {{text: string, x: number, y: number}[]} */
  const lines = [];
  const range = document.createRange();
  let at = 0;
  for (const sign of piece.data) {
    range.setStart(piece, at);
    range.setEnd(piece, (at += sign.length));
    const { left, top, height } = range.getBoundingClientRect();
    const [line, y] = [lines.at(-1), top + height / 2];
    if (!line || Math.abs(line.y - y) > height / 2) lines.push({ text: sign, x: left, y });
    else Object.assign(line, { text: line.text + sign, x: Math.min(line.x, left) });
  }
  return lines;
}
