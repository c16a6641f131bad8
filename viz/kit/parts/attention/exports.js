// Saving what is on screen: picture, numbers, or the whole instrument as one file that opens offline.

import { button, download, html, setAll, svg } from "../../dom.js";
import { rowOf } from "../../maths.js";

/** @import { Drawing, Table } from "../../patterns.js" */
/** @import { Attention } from "../attention.js" */

const SPACE = 16;
const LEAST_WIDTH = 640;
const SCALE = 2; // PNG pixels for each pixel on screen
const LETTER = 0.53; // average width of a letter by its height

/** @type {Record<string, (scope: Attention) => Promise<Blob>>} */
const KINDS = { PNG: asPng, SVG: asSvg, HTML: asHtml, CSV: asCsv };

/**
 * The row of export buttons of the part.
 *
 * @param {Attention} scope
 */
export function exportMenu(scope) {
  const kinds = Object.keys(KINDS).filter((name) => name !== "HTML" || scope.model.canSave);
  const buttons = kinds.map((name) =>
    button(name, () => {
      save(scope, name).catch((error) => scope.complain(`${name} was not saved: ${error.message}`));
    }),
  );
  const label = { role: "group", "aria-label": "Save what is on screen" };
  const words = html("span", null, "Save this view");
  return html("div", { class: "hl-row hl-exports", ...label }, words, buttons);
}

/**
 * Save only what is on screen: not a view that is still on its way.
 *
 * @param {Attention} scope
 * @param {string} kind
 */
async function save(scope, kind) {
  if (!scope.view || !scope.isDrawn) throw new Error("it is not drawn yet");
  download(await KINDS[kind](scope), fileName(scope, kind.toLowerCase()));
}

/**
 * headlight-l3-h1-scaled.csv; with several kinds of attention the group's name comes first.
 *
 * @param {Attention} scope
 * @param {string} suffix
 */
function fileName(scope, suffix) {
  const { layer, head, view, stage } = scope.settings;
  const several = scope.data.groups.length > 1;
  const group = several ? `${scope.group.name.replace(/[^a-z0-9]+/gi, "-")}-` : "";
  return `headlight-${group}l${layer}-h${head}-${view === "map" ? stage : view}.${suffix}`;
}

/** @param {Attention} scope */
async function asCsv(scope) {
  const table = scope.view?.table();
  if (!table) throw new Error("there is no matrix here yet");
  return new Blob(["\ufeff", csvText(table)], { type: "text/csv" });
}

/**
 * A number with as few digits as tell it from all others of float32, which the model computes in.
 *
 * @param {number} value
 */
function float32Text(value) {
  const wanted = Math.fround(value);
  const enough = [6, 7, 8, 9].find((n) => Math.fround(Number(wanted.toPrecision(n))) === wanted);
  return enough ? String(Number(wanted.toPrecision(enough))) : String(wanted);
}

/**
 * A matrix with numbered token labels on both sides; `columns` null numbers them alone.
 *
 * @param {Table} table
 */
export function csvText({ values, rows, columns, corner }) {
  /** @param {string} text */
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  /** @type {(labels: string[] | null, i: number) => string} */
  const numbered = (labels, i) => (labels ? quoted(`${i} ${labels[i]}`) : String(i));
  const header = [
    quoted(corner),
    ...Array.from({ length: values.columns }, (_, j) => numbered(columns, j)),
  ];
  const lines = Array.from({ length: values.rows }, (_, i) => [
    numbered(rows, i),
    ...Array.from(rowOf(values, i), float32Text),
  ]);
  return `${[header, ...lines].map((line) => line.join(",")).join("\r\n")}\r\n`;
}

/** @param {Attention} scope */
async function asSvg(scope) {
  const { text } = await composed(scope);
  return new Blob([text], { type: "image/svg+xml" });
}

/** @param {Attention} scope */
async function asPng(scope) {
  const { text, width, height } = await composed(scope);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", { width: width * SCALE, height: height * SCALE });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  /** @type {Blob | null} */
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the picture is too large for this browser; save SVG");
  return blob;
}

/**
 * The drawings of the view below each other in one SVG, each under its caption.
 *
 * @param {Attention} scope
 */
async function composed(scope) {
  const pieces = (await scope.view?.drawings()) ?? [];
  if (!pieces.length) throw new Error("there is nothing to draw here yet");
  const { palette, data } = scope;
  const drawn = pieces.map(({ caption, drawing }) => ({ caption, ...asElement(drawing) }));
  const width = Math.max(LEAST_WIDTH, ...drawn.map(({ size }) => size[0] + 2 * SPACE));
  const sheet = new Sheet(width);
  sheet.write(`Headlight · ${data.model} · ${scope.title.textContent}`, 17, palette.text);
  for (const labels of sentencesOf(scope)) sheet.write(labels.join(" "), 14, palette.muted);
  if (scope.does.textContent) sheet.write(scope.does.textContent, 14, palette.text);
  for (const { caption, node, size } of drawn) {
    sheet.y += SPACE / 2;
    sheet.write(caption, 14, palette.text);
    sheet.y += 6;
    sheet.put(node, size);
  }
  const height = sheet.y + SPACE;
  sheet.picture.prepend(svg("rect", { width, height, fill: palette.background }));
  const style = { "font-family": palette.font, "font-size": 14, fill: palette.text };
  setAll(sheet.picture, { width, height, viewBox: `0 0 ${width} ${height}`, ...style });
  return { text: new XMLSerializer().serializeToString(sheet.picture), width, height };
}

/**
 * The labels of the streams on screen.
 *
 * @param {Attention} scope
 */
function sentencesOf({ between: { kind, queries, keys } }) {
  return kind === "self" ? [queries.labels] : [queries.labels, keys.labels];
}

/** A picture that is filled from the top. */
class Sheet {
  y = SPACE;

  /** @param {number} width */
  constructor(width) {
    this.width = width;
    this.picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg" });
  }

  /**
   * @param {string} words
   * @param {number} size of the letters
   * @param {string} fill
   */
  write(words, size, fill) {
    for (const line of wrapped(words, (this.width - 2 * SPACE) / (LETTER * size))) {
      this.y += 1.35 * size;
      this.picture.append(svg("text", { x: SPACE, y: this.y, fill, "font-size": size }, line));
    }
  }

  /**
   * @param {Element} node
   * @param {[number, number]} size
   */
  put(node, [width, height]) {
    setAll(node, { x: SPACE, y: this.y, width, height });
    this.picture.append(node);
    this.y += height;
  }
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

/**
 * A drawing, text or element, as an element with its size.
 *
 * @param {Drawing["drawing"]} drawing
 * @returns {{node: Element, size: [number, number]}}
 */
function asElement(drawing) {
  const isText = typeof drawing === "string";
  const node = isText
    ? new DOMParser().parseFromString(drawing, "image/svg+xml").documentElement
    : drawing;
  /** @param {string} name */
  const pixels = (name) => Math.round(parseFloat(node.getAttribute(name) ?? "0"));
  return { node, size: [pixels("width"), pixels("height")] };
}

/** @param {Attention} scope */
async function asHtml(scope) {
  await scope.redraw(); // so that what is on screen is among the arrays kept
  return new Blob([await scope.model.saved()], { type: "text/html" });
}
