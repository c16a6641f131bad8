// One thing changed: no scale, no mask, another temperature, cells masked; both sides shown.

import { check, digits, html, numbered, wordsIn, setAll, slider, svg } from "../../../dom.js";
import { drawingOf } from "../../../export.js";
import { editedWith, flipped, readEdits, writtenEdits } from "../../../edits.js";
import { mapped, steps } from "../../../maths.js";
import { argmax, leakedShare, mean, rowEntropies } from "../../../measures.js";
import { hiddenInWords } from "../../../patterns.js";
import { choice } from "../controls.js";
import { MapsView } from "../maps.js";

/** @import { Matrix, Numbers } from "../../../maths.js" */
/** @import { Attention } from "../../attention.js" */

const CHART = { width: 900, height: 120, base: 118, most: 112 };
const LEGEND =
  "Entropy of each row in bits: left bar original, right bar modified. 0 is one key alone; the line is a row spread evenly. A sink counts as a key.";

/** The original and the same with one thing changed, side by side; the entropy of each row below. */
export class WhatIfView extends MapsView {
  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host, 2, { pick: (row, column) => this.#flip(row, column) });
    const { changes, bounds } = scope.data;
    this.change = choice("hl-change", "Change", changes, (change) => scope.set({ change }));
    const show = (/** @type {number} */ x) => x.toFixed(1);
    this.heat = slider(
      "Temperature",
      { bounds: bounds.tau, value: scope.settings.tau, show },
      (tau) => {
        scope.setQuietly({ tau });
        this.draw();
      },
    );
    const look = { role: "img", preserveAspectRatio: "none" };
    this.entropies = svg("svg", { class: "hl-entropies", ...look });
    setAll(this.entropies, { viewBox: `0 0 ${CHART.width} ${CHART.height}` });
    this.controls.append(this.change.radios, this.heat);
    this.controls.after(this.change.reasons);
    this.wide.append(html("p", { class: "hl-caption" }, LEGEND), this.entropies);
  }

  /** @override */
  async draw() {
    const { settings, loaded, data } = this.scope;
    const { head, steps: original } = loaded;
    const { change, tau } = settings;
    check(this.change.radios, change);
    this.heat.hidden = change !== "temperature";
    const mask = head.mask.values;
    const open = this.#openCells();
    const changed = { ...head, mask: { ...head.mask, values: open } };
    const modified = !original.product ? original : steps(changed, changesOf(change, tau));
    for (const { host } of this.maps) host.classList.toggle("hl-turnable", change === "cells");
    const text = data.changes.find(({ name }) => name === change)?.text ?? "modified";
    const name = change === "temperature" ? `temperature ${tau.toFixed(1)}` : text;
    await this.drawMaps([
      { name: "original", shown: this.shownInTokens(original.weights, mask) },
      { name, shown: this.shownInTokens(modified.weights, open) },
    ]);
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
    const left = hiddenInWords(this.sides[0].shown);
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
    const { allowed, values } = this.sides[1].shown;
    const mine = allowed.subarray(row * values.columns, (row + 1) * values.columns);
    return Math.max(
      1,
      mine.reduce((n, x) => n + (x ? 1 : 0), this.#nSinks),
    );
  }

  /**
   * @override
   * @param {string[]} weights
   */
  weightsInWords([original, modified]) {
    return `${original} original, ${modified} modified`;
  }

  /** @override */
  read() {
    const { change, heat, entropies } = this;
    return { ...super.read(), ...wordsIn({ change: change.radios, heat, entropies }) };
  }

  /** @override */
  async drawings() {
    const maps = await super.drawings();
    return [...maps, { caption: this.says.textContent ?? "", drawing: drawingOf(this.entropies) }];
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
