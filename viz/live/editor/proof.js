// The editor's proof: the map, the cell that is spoken of and the bars, read back from the page, against
// an independent run under the edited mask. Nothing here is used to draw.

import { independent, independentTexts } from "../core/independent.js";
import { errorOfNumber, saysText } from "../core/printed.js";

/** @import { HeatMap } from "../core/heatmap.js" */
/** @import { Matrix } from "../core/maths.js" */
/** @import { Tally } from "../core/tally.js" */
/** @import { EditorData } from "./wire.js" */

/**
 * What is on screen, as elements.
 *
 * @typedef {object} OnScreen
 * @property {HeatMap} heatMap
 * @property {HTMLElement} title
 * @property {HTMLElement} said the cell in words
 * @property {HTMLElement} changed the edits in words
 * @property {{title: HTMLElement, bars: SVGSVGElement}} next
 */

/**
 * @param {EditorData} data
 * @param {OnScreen} screen
 * @param {Tally} tally
 */
export async function readEditor(data, screen, tally) {
  const named = /^L(\d+) H(\d+) /.exec(screen.title.textContent ?? "");
  const site = data.site.replace(/blocks\.\d+/, `blocks.${named?.[1]}`);
  const address = `${site}.pattern[${named?.[2]}]`;
  const [pattern, mask, base] = await Promise.all([
    independent(data.run, address),
    independent(data.run, `${site}.mask[${named?.[2]}]`),
    independent(data.base_run, `${site}.mask[${named?.[2]}]`),
  ]);
  const texts = await independentTexts(data.run);
  const outputs = [data.base_run, data.run].map((run) =>
    independent(run, `probs[${data.position}]`),
  );
  const [before, after] = await Promise.all(outputs);
  const names = await independentTexts(data.run, data.ids);
  readEdits(tally, screen.changed, { mask, base, edits: data.settings.edits });
  readMap(tally, screen.heatMap, { pattern, mask, texts, address });
  readCell(tally, screen.said, { pattern, mask, texts, address });
  const title = /^What comes after “(.*)”$/.exec(screen.next.title.textContent ?? "")?.[1] ?? "";
  tally.hold(saysText(title, texts[data.position] ?? null), "output");
  const probs = { ids: data.ids, before: before.values, after: after.values, names };
  readBars(tally, screen.next.bars, probs);
}

/**
 * The run is of the mask as it was with the named cells turned over, and so many are counted.
 *
 * @param {Tally} tally
 * @param {HTMLElement} changed
 * @param {{mask: Matrix, base: Matrix, edits: string}} of
 */
function readEdits(tally, changed, { mask, base, edits }) {
  const cells = edits ? edits.split(".") : [];
  const turned = new Set(cells);
  mask.values.forEach((isOpen, at) => {
    const cell = `${Math.floor(at / mask.columns)}-${at % mask.columns}`;
    const isTurned = Boolean(isOpen) !== Boolean(base.values[at]);
    tally.hold(isTurned === turned.has(cell), `mask[${cell.replace("-", ",")}]`);
  });
  const n = Number(/^(\d+) /.exec(changed.textContent ?? "")?.[1] ?? 0);
  tally.hold(n === cells.length, "mask");
}

/** What the map is of. @typedef {{pattern: Matrix, mask: Matrix, texts: (string | null)[], address: string}} Of */

/**
 * @param {Tally} tally
 * @param {HeatMap} heatMap
 * @param {Of} of
 */
function readMap(tally, { drawnCells, drawnNames }, { pattern, mask, texts, address }) {
  tally.hold(drawnCells.length === pattern.rows, address);
  pattern.values.forEach((value, at) => {
    const shown = drawnCells[Math.floor(at / pattern.columns)]?.[at % pattern.columns] ?? NaN;
    const ofNothing = Number.isNaN(shown) ? 0 : NaN;
    tally.add(mask.values[at] ? Math.abs(shown - value) : ofNothing, address);
  });
  for (const { at, label } of drawnNames) tally.hold(saysText(label, texts[at] ?? null), address);
}

/**
 * The cell that is spoken of: its tokens, and its weight or that it is hidden.
 *
 * @param {Tally} tally
 * @param {HTMLElement} said
 * @param {Of} of
 */
function readCell(tally, said, { pattern, mask, texts, address }) {
  const [query, key] = (said.getAttribute("data-pair") ?? "").split("-").map(Number);
  const at = query * pattern.columns + key;
  const labels = Array.from(said.querySelectorAll("bdi"), ({ textContent }) => textContent ?? "");
  const isOpen = Boolean(mask.values[at]);
  const named = isOpen ? [query, key] : [key, query]; // “a” is hidden from “b”
  tally.hold(
    labels.every((label, i) => saysText(label, texts[named[i]] ?? null)),
    address,
  );
  const printed = said.querySelector("[data-number]")?.textContent;
  if (isOpen) tally.add(errorOfNumber(printed ?? "", pattern.values[at]), address);
  else tally.hold(printed === undefined, address);
}

/**
 * Two bars for each token, its name, and its probability as it was and is.
 *
 * @param {Tally} tally
 * @param {SVGSVGElement} bars
 * @param {{ids: number[], before: ArrayLike<number>, after: ArrayLike<number>,
 *   names: (string | null)[]}} of
 */
function readBars(tally, bars, { ids, before, after, names }) {
  const texts = Array.from(bars.querySelectorAll("text"), ({ textContent }) => textContent ?? "");
  const lengths = Array.from(bars.querySelectorAll("rect"), ({ width }) => width.baseVal.value);
  const expected = ids.flatMap((id) => [before[id], after[id]]);
  tally.hold(lengths.length === expected.length, "probs");
  const unit = Math.max(...lengths) / Math.max(...expected);
  lengths.forEach((length, i) => tally.add(Math.abs(length / unit - expected[i]), "probs"));
  ids.forEach((id, i) => {
    const [name, number = ""] = [texts[2 * i] ?? "", texts[2 * i + 1]];
    tally.hold(saysText(name, names[i]), "probs");
    const [was, is = was] = number.split(" → ");
    tally.add(errorOfNumber(was, before[id]), `probs[${id}]`);
    tally.add(errorOfNumber(is, after[id]), `probs[${id}]`);
  });
  for (const all of [before, after]) {
    const largest = Array.from(all).reduce((top, p) => Math.max(top, p), 0);
    tally.hold(
      ids.some((id) => largest - all[id] <= 1e-5),
      "probs",
    );
  }
}
