// The steps of a head, read back: the map with the numbers of the cell in view, and the bars beside the
// weights. Nothing here is used to draw.

import { errorOfNumber } from "../../core/printed.js";
import { errorOnScreen } from "../proof.js";
import { bitsOf, textsOf, truthOfHead } from "./truth.js";

/** @import { HeatMap } from "../../core/heatmap.js" */
/** @import { Tally } from "../../core/tally.js" */
/** @import { Microscope } from "../microscope.js" */

const LEAST = 1; // pixels of the shortest bar

/**
 * @param {Microscope} scope
 * @param {{heatMap: HeatMap, panel: HTMLElement}} view
 * @param {Tally} tally
 */
export async function readSteps(scope, { heatMap, panel }, tally) {
  const { settings, between, data, group } = scope;
  const { drawnCells: cells, drawnNames: names } = heatMap;
  const isFirstHidden = settings.hide_first && between.kind === "self";
  const title = scope.title.textContent ?? "";
  const texts = await textsOf(scope, data.key);
  const screen = { title, stage: settings.stage, cells, names, panel, isFirstHidden, texts };
  const { error, n } = await errorOnScreen(data.key, group.sites, screen);
  tally.add(error, group.sites[settings.layer], n);
  if (settings.stage === "weights") await readSides(scope, heatMap, title, tally);
}

/**
 * A bar for the entropy of each row, and one for what each key receives, with their numbers in words.
 *
 * @param {Microscope} scope
 * @param {HeatMap} heatMap
 * @param {string} title
 * @param {Tally} tally
 */
async function readSides(scope, { sides, chart }, title, tally) {
  const truth = await truthOfHead(scope, { title });
  const drawn = chart._fullLayout;
  if (!truth || !drawn) return;
  const { weights, address } = truth;
  const { xaxis, yaxis } = drawn;
  const right = xaxis._offset + xaxis._length;
  const bits = weights.map(bitsOf);
  const received = weights[0].map((_, j) => weights.reduce((sum, row) => sum + row[j], 0));
  const found = Array.from(sides.querySelectorAll("rect"), (bar) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((side) =>
      Number(bar.getAttribute(side)),
    );
    const isRow = x >= right;
    const at = isRow
      ? Math.round(yaxis.p2c(y + height / 2 - yaxis._offset))
      : Math.round(xaxis.p2c(x + width / 2 - xaxis._offset));
    const printed = /.*(?:entropy|received) ([\d.]+|< [\d.]+)/s.exec(bar.textContent ?? "")?.[1];
    const value = (isRow ? bits : received)[at] ?? NaN;
    tally.add(errorOfNumber(printed ?? "", value) / Math.max(1, value), address);
    return { isRow, value, length: isRow ? width : height };
  });
  for (const isRow of [true, false]) {
    const mine = found.filter((bar) => bar.isRow === isRow);
    const top = mine.reduce((a, b) => (b.value > a.value ? b : a), mine[0]);
    for (const { value, length } of mine) {
      const wanted = top.value ? (top.length * value) / top.value : LEAST;
      tally.add(Math.abs(length - Math.max(LEAST, wanted)) / top.length, address);
    }
  }
}
