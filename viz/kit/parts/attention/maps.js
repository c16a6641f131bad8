// Maps side by side: what the views share that draw some, mark a cell in all of them under the hand,
// name and save them.

import { html, wordsIn } from "../../dom.js";
import { HeatMap } from "../../marks/heatmap.js";
import { WEIGHTS, pairsInWords, patternTable, pictured, weightAt } from "../../patterns.js";
import { View } from "./view.js";

/** @import { Scale } from "../../figure.js" */
/** @import { OnCell, Options } from "../../marks/heatmap.js" */
/** @import { Drawing } from "../../export.js" */
/** @import { Shown } from "../../patterns.js" */
/** @import { Attention } from "../attention.js" */

const HEIGHT = 480;

/**
 * What one of them shows; `says` is what there is to see, where that is not the strongest pairs.
 *
 * @typedef {{name: string, shown: Shown, scale?: Scale, says?: string}} Side
 */

/** Maps side by side below controls and a line of what they come to; the last is saved as numbers. */
export class MapsView extends View {
  /** What is drawn; nothing yet, or nothing to draw. @type {Side[]} */
  sides = [];

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   * @param {number} n
   * @param {Options} [options]
   */
  constructor(scope, host, n, options) {
    super(scope, host);
    this.controls = html("div", { class: "hl-row" });
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.maps = Array.from({ length: n }, () => {
      const map = html("div", { class: "hl-map" });
      const shared = { most: HEIGHT, point: this.#point };
      const heatMap = new HeatMap(map, this.lifetime, { ...shared, ...options });
      return { title: html("h3"), host: map, heatMap };
    });
    const sections = this.maps.map((map) => html("section", null, map.title, map.host));
    const side = html("div", { class: "hl-side" }, sections);
    this.wide = html("div", { class: "hl-wide" }, this.controls, this.says, side);
    host.append(this.wide);
  }

  /** @param {Side[]} sides one for each map, or none at all */
  async drawMaps(sides) {
    this.sides = sides;
    for (const [i, { title, host, heatMap }] of this.maps.entries()) {
      host.hidden = !sides.length;
      title.hidden = host.hidden || this.maps.length === 1; // the line above names it
      if (host.hidden) continue;
      const { name, shown, scale = WEIGHTS, says = pairsInWords(shown) } = sides[i];
      title.textContent = name;
      pictured(host, `${name}: ${says}`);
      await heatMap.draw({ ...shown, scale }, this.scope.palette);
    }
  }

  /** @type {OnCell} */
  #point = (row, column) => {
    if (!this.sides.length) return;
    for (const { heatMap } of this.maps) heatMap.mark(row, column);
    const [{ shown: first }] = this.sides;
    const weights = this.sides.map(({ shown }) => {
      const { rows, columns } = shown.values;
      return row < rows && column < columns ? weightAt(shown, row, column) : "–";
    });
    const pair = `${first.rows[row] ?? row} attends to ${first.columns[column] ?? column}`;
    this.scope.say(`${pair}: ${this.weightsInWords(weights)}`, false);
  };

  /**
   * What the maps have in a cell, in words.
   *
   * @param {string[]} weights
   */
  weightsInWords([weight]) {
    return weight;
  }

  /** @override */
  read() {
    const shown = this.maps.filter(({ host }) => !host.hidden);
    const maps = shown.map(({ title, host, heatMap }) => ({
      ...wordsIn({ title, says: host }),
      ...heatMap.read(),
    }));
    return { ...wordsIn({ says: this.says }), maps };
  }

  /** @override */
  table() {
    const last = this.sides.at(-1);
    return last ? patternTable(last.shown) : null;
  }

  /**
   * @override
   * @returns {Promise<Drawing[]>}
   */
  async drawings() {
    const maps = this.sides.length ? this.maps : [];
    return Promise.all(
      maps.map(async ({ title, heatMap }) => ({
        caption: (title.hidden ? this.says : title).textContent ?? "",
        drawing: await heatMap.drawing(),
      })),
    );
  }
}
