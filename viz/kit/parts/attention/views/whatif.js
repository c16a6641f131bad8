// One thing changed: no scale, no mask, another temperature, cells masked; both sides shown.

import { check, digits, html, radios, setAll, slider, svg, numbered } from "../../../dom.js";
import { editedWith, flipped, readEdits, writtenEdits } from "../../../edits.js";
import { HeatMap } from "../../../marks/heatmap.js";
import { mapped, steps } from "../../../maths.js";
import { argmax, leakedShare, mean, rowEntropies } from "../../../measures.js";
import {
  FIRST_HIDDEN,
  drawnMaps,
  pairsInWords,
  patternTable,
  pictured,
  WEIGHTS,
  weightAt,
} from "../../../patterns.js";
import { asRadios, reasonsOf } from "../controls.js";
import { View } from "../view.js";

/** @import { Matrix, Numbers } from "../../../maths.js" */
/** @import { Shown } from "../../../patterns.js" */
/** @import { Attention } from "../../attention.js" */

const HEIGHT = 480;
const CHART = { width: 900, height: 120, base: 118, most: 112 };
const TITLES = ["original", "modified"];

/** The original and the same with one thing changed, side by side; the entropy of each row below. */
export class WhatIfView extends View {
  /** The original and the modified pattern. @type {Shown[]} */
  #sides = [];

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    const { changes, bounds } = scope.data;
    this.change = radios(
      "hl-change",
      "Change",
      asRadios(changes),
      scope.settings.change,
      (change) => scope.set({ change }),
    );
    const show = (/** @type {number} */ x) => x.toFixed(1);
    this.heat = slider(
      "Temperature",
      { bounds: bounds.tau, value: scope.settings.tau, show },
      (tau) => {
        scope.setQuietly({ tau });
        this.draw();
      },
    );
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.maps = TITLES.map((title) => this.#makeMap(title));
    const look = { role: "img", preserveAspectRatio: "none" };
    this.entropies = svg("svg", { class: "hl-entropies", ...look });
    setAll(this.entropies, { viewBox: `0 0 ${CHART.width} ${CHART.height}` });
    host.append(this.#layout(reasonsOf(changes)));
  }

  /** @param {string} title */
  #makeMap(title) {
    const host = html("div", { class: "hl-map" });
    const heatMap = new HeatMap(host, this.lifetime, {
      point: (row, column) => this.#point(row, column),
      pick: (row, column) => this.#flip(row, column),
      most: HEIGHT,
    });
    return { title: html("h3", null, title), host, heatMap };
  }

  /** @param {string} reasons why some changes cannot be made */
  #layout(reasons) {
    const sections = this.maps.map(({ title, host }) => html("section", null, title, host));
    const legend =
      "Entropy of each row in bits: left bar original, right bar modified. 0 is one key alone; the line is a row spread evenly. A sink counts as a key.";
    const wide = html("div", { class: "hl-wide" });
    wide.append(html("div", { class: "hl-row" }, this.change, this.heat));
    if (reasons) wide.append(html("p", { class: "hl-caption", "data-why": "" }, reasons));
    wide.append(
      this.says,
      html("div", { class: "hl-side" }, sections),
      html("p", { class: "hl-caption" }, legend),
      this.entropies,
    );
    return wide;
  }

  /** @override */
  async draw() {
    const { settings, loaded, palette, data } = this.scope;
    const { head, steps: original } = loaded;
    const { change, tau } = settings;
    check(this.change, change);
    this.heat.hidden = change !== "temperature";
    const mask = head.mask.values;
    const open = this.#openCells();
    const changed = { ...head, mask: { ...head.mask, values: open } };
    const modified = !original.product ? original : steps(changed, changesOf(change, tau));
    for (const { host } of this.maps) host.classList.toggle("hl-turnable", change === "cells");
    this.#sides = [
      this.shownInTokens(original.weights, mask),
      this.shownInTokens(modified.weights, open),
    ];
    const text = data.changes.find(({ name }) => name === change)?.text ?? TITLES[1];
    this.maps[1].title.textContent =
      change === "temperature" ? `temperature ${tau.toFixed(1)}` : text;
    for (const [i, map] of this.maps.entries()) {
      pictured(map.host, `${map.title.textContent}: ${pairsInWords(this.#sides[i])}`);
      await map.heatMap.draw({ ...this.#sides[i], scale: WEIGHTS }, palette);
    }
    this.#summarise(original.weights, modified.weights, mask);
  }

  /** The cells that the modified side may attend to. */
  #openCells() {
    const { settings, loaded } = this.scope;
    const { mask } = loaded.head;
    if (settings.change === "mask") return mapped(mask, () => 1).values;
    if (settings.change !== "cells") return mask.values;
    const { rows, columns, values } = mask;
    return flipped(values, readEdits(settings.flipped, rows, columns));
  }

  /**
   * Mask a cell, or let it be attended to.
   *
   * @param {number} row
   * @param {number} column
   */
  #flip(row, column) {
    const { settings, loaded } = this.scope;
    if (settings.change !== "cells") return;
    const { rows, columns, values } = loaded.head.mask;
    const edits = readEdits(settings.flipped, rows, columns);
    const at = row * columns + column;
    const isOpen = !flipped(values, edits)[at];
    this.scope.set({ flipped: writtenEdits(editedWith(edits, values, [at], isOpen), columns) });
  }

  /** A head's softmax has its sink as one key more. */
  get #nSinks() {
    return this.scope.loaded.head.sink === undefined ? 0 : 1;
  }

  /**
   * @param {Matrix} before
   * @param {Matrix} after
   * @param {Numbers} mask
   */
  #summarise(before, after, mask) {
    const entropies = [before, after].map((rows) => rowEntropies(rows, this.#nSinks > 0));
    const { change } = this.scope.settings;
    const was = numbered(mean(entropies[0]), "before", 3);
    const is = numbered(mean(entropies[1]), "after", 3);
    const share = numbered(100 * leakedShare(after, mask), "leaked", 1);
    const leak =
      change === "mask" ? [" ", share, " % of the attention goes to cells the mask forbids."] : [];
    const left = this.#sides[0].blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "";
    const isUntouched = change === "cells" && !this.scope.settings.flipped;
    const said = isUntouched
      ? ["Click a cell of either map: it is masked, or no longer. Click it again to undo."]
      : before === after
        ? ["What a change would do cannot be computed for this head: both sides are the run’s."]
        : ["Mean row entropy: ", was, " bits original, ", is, " modified.", ...leak, left];
    this.says.replaceChildren(...said);
    this.#drawEntropies(entropies[0], entropies[1], after.columns);
  }

  /**
   * @param {Float64Array} before
   * @param {Float64Array} after
   * @param {number} columns
   */
  #drawEntropies(before, after, columns) {
    const { palette, between } = this.scope;
    const { base, most } = CHART;
    const high = Math.log2(columns + this.#nSinks) || 1;
    const width = CHART.width / before.length;
    /** @type {(values: Float64Array, shift: number) => string} */
    const bars = (values, shift) =>
      Array.from(
        values,
        (bits, i) =>
          `M${(i + shift) * width} ${base}v${(-most * bits) / high}h${width * 0.36}V${base}z`,
      ).join("");
    const even = Array.from(before, (_, i) => {
      const y = base - (most * Math.log2(this.#openKeys(i))) / high;
      return `${i ? "L" : "M"}${(i + 0.5) * width} ${y}`;
    });
    const line = { fill: "none", stroke: palette.frame, "stroke-width": 1.5 };
    this.entropies.replaceChildren(
      svg("path", { d: bars(before, 0.12), fill: palette.muted }),
      svg("path", { d: bars(after, 0.52), fill: palette.accent }),
      svg("path", { d: even.join(""), ...line, "vector-effect": "non-scaling-stroke" }),
    );
    const widest = argmax(Array.from(before, (bits, i) => Math.abs(after[i] - bits)));
    const [was, is] = [before, after].map((rows) => digits(rows[widest], 2));
    this.entropies.setAttribute(
      "aria-label",
      `Entropy by row. Largest change at ${between.queries.labels[widest]}: ${was} to ${is} bits.`,
    );
  }

  /**
   * How many keys a query of the modified side may attend to, a sink among them; at least one.
   *
   * @param {number} row
   */
  #openKeys(row) {
    const { allowed, values } = this.#sides[1];
    const mine = allowed.subarray(row * values.columns, (row + 1) * values.columns);
    return Math.max(
      1,
      mine.reduce((n, x) => n + (x ? 1 : 0), this.#nSinks),
    );
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  #point(row, column) {
    for (const map of this.maps) map.heatMap.mark(row, column);
    const [original] = this.#sides;
    if (!original) return;
    const [a, b] = this.#sides.map((side) => weightAt(side, row, column));
    const pair = `${original.rows[row]} attends to ${original.columns[column]}`;
    this.scope.say(`${pair}: ${a} original, ${b} modified`, false);
  }

  /** @override */
  table() {
    return patternTable(this.#sides[1]);
  }

  /** @override */
  async drawings() {
    const maps = await drawnMaps(this.maps);
    return [...maps, { caption: this.says.textContent ?? "", drawing: this.entropies }];
  }
}

/**
 * What a change does to the steps.
 *
 * @param {string} change
 * @param {number} tau
 */
function changesOf(change, tau) {
  if (change === "temperature") return { temperature: tau };
  if (change === "cells") return {};
  return change === "mask" ? { mask: false } : { scale: false };
}
