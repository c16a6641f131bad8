// What Attention saves: its picture, its numbers, or the whole part as one file that opens offline.

import { asPicture, drawingOf, saveMenu } from "../../export.js";
import { rowOf } from "../../maths.js";
import { sheetOf } from "../../sheet.js";

/** @import { Table } from "../../patterns.js" */
/** @import { Attention } from "../attention.js" */

/**
 * The row of export buttons of the part. Only what is on screen is saved, not a view that is still on
 * its way.
 *
 * @param {Attention} scope
 */
export function exportMenu(scope) {
  /** @type {<T>(make: (scope: Attention) => Promise<T>) => () => Promise<T>} */
  const once = (make) => async () => {
    if (!scope.view || !scope.isDrawn) throw new Error("it is not drawn yet");
    return make(scope);
  };
  const [HTML, CSV] = [once(asHtml), once(asCsv)];
  const kinds = { ...asPicture(once(sheet)), ...(scope.model.canSave && { HTML }), CSV };
  return saveMenu(
    kinds,
    () => fileName(scope),
    (words) => scope.complain(words),
  );
}

/**
 * headlight-l3-h1-scaled; with several kinds of attention the group's name comes first.
 *
 * @param {Attention} scope
 */
function fileName(scope) {
  const { layer, head, view, stage } = scope.settings;
  const several = scope.data.groups.length > 1;
  const group = several ? `${scope.group.name.replace(/[^a-z0-9]+/gi, "-")}-` : "";
  return `headlight-${group}l${layer}-h${head}-${view === "map" ? stage : view}`;
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

/**
 * The drawings of the view, below what they are of.
 *
 * @param {Attention} scope
 */
async function sheet({ view, between, data, title, does, controls, palette }) {
  const streams = between.kind === "self" ? [between.queries] : [between.queries, between.keys];
  const texts = streams.map(({ labels }) => labels.join(" "));
  const head = { title: `${data.model} · ${title.textContent}`, texts, lines: [does.textContent] };
  const { node } = controls.roles;
  const legend = node.hidden ? [] : [{ caption: "", drawing: drawingOf(node) }];
  return sheetOf(head, [...legend, ...((await view?.drawings()) ?? [])], palette);
}

/** @param {Attention} scope */
async function asHtml(scope) {
  await scope.redraw(); // so that what is on screen is among the arrays kept
  return new Blob([await scope.model.saved()], { type: "text/html" });
}
