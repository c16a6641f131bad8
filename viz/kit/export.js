// One way to save a picture: what stands on screen is drawn once more, as SVG, which PNG is made of.

import { button, download, html, setAll, svg } from "./dom.js";
import { sheetOf, sizeOf } from "./sheet.js";

/** @import { Palette } from "./wire.js" */

/**
 * A drawing that has its size, with what it shows.
 *
 * @typedef {{caption: string, drawing: Element}} Drawing
 */

/**
 * What stands above drawings: a title and lines, of which those of others' text are muted.
 *
 * @typedef {{title: string, texts?: string[], lines?: (string | null)[]}} Head
 */

const SCALE = 2; // PNG pixels for each pixel on screen
const HATCH = 8; // pixels from a stroke to the next
const NONE = "rgba(0, 0, 0, 0)";
const MOST_OF_FONTS = 2 ** 20; // bytes of the page's own fonts in a picture
// What a style sheet says of a drawing; outside of the page there is none.
const PAINTED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"];
const WRITTEN = [
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "text-anchor",
  "paint-order",
];

/**
 * Buttons that save what is on screen, each by the end of its file's name.
 *
 * @param {Record<string, () => Promise<Blob>>} kinds
 * @param {() => string} name of the file, without its end
 * @param {(words: string) => void} complain
 */
export function saveMenu(kinds, name, complain) {
  const buttons = Object.entries(kinds).map(([kind, made]) =>
    button(kind, () => {
      made().then(
        (blob) => download(blob, `${name()}.${kind.toLowerCase()}`),
        (error) => complain(`${kind} was not saved: ${error.message}`),
      );
    }),
  );
  const label = { role: "group", "aria-label": "Save what is on screen" };
  const words = html("span", null, "Save this view");
  return html("div", { class: "hl-row hl-exports", ...label }, words, buttons);
}

/**
 * What a part shows: elements, and marks that draw themselves, each under its caption.
 *
 * @typedef {object} Saved
 * @property {string} name of the file, after headlight-
 * @property {string} title
 * @property {[string | null, Element | {drawing: () => Promise<Element>}][]} shows
 * @property {Palette} palette
 */

/**
 * Buttons that save the picture of a part.
 *
 * @param {() => Saved} shown
 * @param {Element} says where it is said that one was not saved
 */
export function pictureMenu(shown, says) {
  const made = async () => {
    const { title, shows, palette } = shown();
    const drawings = shows.map(async ([caption, one]) => {
      const drawing = one instanceof Element ? drawingOf(one) : await one.drawing();
      return { caption: caption ?? "", drawing };
    });
    return sheetOf({ title }, await Promise.all(drawings), palette);
  };
  const complain = (/** @type {string} */ words) => (says.textContent = words);
  return saveMenu(asPicture(made), () => `headlight-${shown().name}`, complain);
}

/**
 * A picture in both forms.
 *
 * @param {() => Promise<SVGSVGElement>} made
 */
export function asPicture(made) {
  return { PNG: async () => asPng(await made()), SVG: async () => asSvg(await made()) };
}

/** @param {SVGSVGElement} picture */
function asSvg(picture) {
  return new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
}

/**
 * @param {SVGSVGElement} picture
 * @returns {Promise<Blob>}
 */
async function asPng(picture) {
  picture.prepend(svg("style", null, await fontsOf(picture)));
  const image = new Image();
  const text = new XMLSerializer().serializeToString(picture);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const [width, height] = sizeOf(picture).map((size) => Math.round(SCALE * size));
  const canvas = html("canvas", { width, height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
  /** @type {Blob | null} */
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the picture is too large for this browser; save SVG");
  return blob;
}

/**
 * Rules for the page's own fonts that a picture is written in, with their files, since as an image it
 * loads none. What has no room, or is not to be had, is written in another font, as wide as on screen.
 *
 * @param {SVGSVGElement} picture
 */
async function fontsOf(picture) {
  const families = [picture, ...picture.querySelectorAll("[font-family]")].map(familyOf);
  const faces = [...document.styleSheets].flatMap(facesOf);
  let [rules, room] = ["", MOST_OF_FONTS];
  for (const { family, style, address } of faces) {
    if (!families.includes(family) || style.getPropertyValue("font-style") === "italic") continue;
    const answer = await fetch(address).catch(() => null);
    const file = answer?.ok ? await answer.blob() : null;
    if (!file || file.size > room) continue;
    room -= file.size;
    const weight = style.getPropertyValue("font-weight") || "normal";
    const range = style.getPropertyValue("unicode-range") || "U+0-10FFFF";
    rules += `@font-face{font-family:"${family}";font-weight:${weight};unicode-range:${range};src:url("${await within(file)}")}`;
  }
  return rules;
}

/**
 * The fonts that a style sheet of ours brings along; of others' nothing can be read.
 *
 * @param {CSSStyleSheet} sheet
 */
function facesOf(sheet) {
  const isOthers = sheet.href && new URL(sheet.href).origin !== location.origin;
  const rules = isOthers ? [] : [...sheet.cssRules].filter((one) => one instanceof CSSFontFaceRule);
  return rules.flatMap(({ style }) => {
    const [, file] = style.getPropertyValue("src").match(/url\("?(.*?)"?\)/) ?? [];
    const address = file && new URL(file, sheet.href ?? document.baseURI).href;
    const family = unquoted(style.getPropertyValue("font-family"));
    return address ? [{ family, style, address }] : [];
  });
}

/**
 * The first font that words are to be written in.
 *
 * @param {Element} node
 */
function familyOf(node) {
  return unquoted((node.getAttribute("font-family") ?? "").split(",")[0]);
}

/** @param {string} name */
function unquoted(name) {
  return name.trim().replace(/^["']|["']$/g, "");
}

/**
 * A file as an address that holds all of it.
 *
 * @param {Blob} file
 * @returns {Promise<string>}
 */
function within(file) {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(/** @type {string} */ (reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/**
 * What stands in an element, boxes, words and drawings, as one drawing of its size.
 *
 * @param {Element} host
 * @param {string} [leftOut] what is not drawn, nor what stands in it
 */
export function drawingOf(host, leftOut) {
  const { left, top, width, height } = host.getBoundingClientRect();
  const picture = svg("svg", { width, height, viewBox: `${left} ${top} ${width} ${height}` });
  for (const node of [host, ...host.querySelectorAll("*")]) {
    const isSeen = node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!isSeen || node.parentElement?.closest("svg")) continue;
    if (leftOut && node.closest(leftOut)) continue;
    if (node instanceof SVGSVGElement) picture.append(copied(node));
    else if (node instanceof HTMLCanvasElement) picture.append(imageOf(node));
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
 * What is painted on a canvas, where it stands.
 *
 * @param {HTMLCanvasElement} node
 */
function imageOf(node) {
  const { left: x, top: y, width, height } = node.getBoundingClientRect();
  const style = `image-rendering: ${getComputedStyle(node).imageRendering}`;
  const box = { x, y, width, height, preserveAspectRatio: "none" };
  return svg("image", { ...box, href: node.toDataURL(), style });
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
  const before = getComputedStyle(node, "::before"); // says who wrote a token
  const band = {
    ...{ x: x + node.clientLeft + parseFloat(before.left), width: before.width },
    ...{ y: y + node.clientTop + parseFloat(before.top), height: before.height },
    fill: before.backgroundColor,
  };
  const hatch = { d: hatchOf(x, y, width, height), stroke: style.getPropertyValue("--hl-hatch") };
  return [
    backgroundColor === NONE ? "" : svg("rect", { ...box, fill: plain(backgroundColor) }),
    band.fill === NONE ? "" : svg("rect", band),
    backgroundImage.includes("135deg") ? svg("path", hatch) : "",
    hasLine ? svg("rect", { ...box, fill: "none", ...line, ...dashes }) : "",
    style.outlineStyle === "none" ? "" : svg("rect", { ...box, fill: "none", ...frame }),
  ];
}

/**
 * A colour as every reader of SVG knows it: one that was mixed is told in shares.
 *
 * @param {string} color
 */
function plain(color) {
  if (!color.startsWith("color(srgb ")) return color;
  const [r, g, b, alpha = 1] = (color.match(/\d[\d.e-]*/g) ?? []).map(Number);
  return `rgba(${[r, g, b].map((share) => Math.round(255 * share))},${alpha})`;
}

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
  return pieces.flatMap(linesOf).map(({ text, x, y, right }) => {
    const at = { x, y: y + 0.35 * size, style: "white-space: pre" };
    // As wide as on the page, where another font takes the place of its own.
    const wide = { textLength: right - x, lengthAdjust: "spacingAndGlyphs" };
    return svg("text", { ...look, ...at, ...wide }, text);
  });
}

/**
 * The lines of a text as they are broken on screen.
 *
 * @param {Text} piece
 */
function linesOf(piece) {
  /** @type {{text: string, x: number, y: number, right: number}[]} */
  const lines = [];
  const range = document.createRange();
  let at = 0;
  for (const sign of piece.data) {
    range.setStart(piece, at);
    range.setEnd(piece, (at += sign.length));
    const { left, right, top, height } = range.getBoundingClientRect();
    const [line, y] = [lines.at(-1), top + height / 2];
    if (left === right && !sign.trim()) continue; // where a line ends
    if (!line || Math.abs(line.y - y) > height / 2) lines.push({ text: sign, x: left, y, right });
    else {
      line.text += sign;
      [line.x, line.right] = [Math.min(line.x, left), Math.max(line.right, right)];
    }
  }
  return lines;
}
