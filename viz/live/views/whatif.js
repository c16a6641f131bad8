// One thing changed: no scale, no mask, another temperature; both sides shown.

import { check, digits, html, radios, slider, svg } from "../dom.js";
import { leakedShare, mean, rowEntropies, steps } from "../maths.js";
import { HeatMap } from "../plots.js";
import {
  drawnMaps,
  focusable,
  pairsInWords,
  patternTable,
  sharedWeightScale,
  shownPattern,
} from "./shared.js";

const CHANGES = {
  scale: { text: "without √d_head", options: { scale: false } },
  mask: { text: "without the mask", options: { mask: false } },
  temperature: { text: "attention temperature", options: {} },
};

/** As it ran, and with one thing changed, side by side; the entropy of each row below. */
export class WhatIfView {
  constructor(scope, host) {
    this.scope = scope;
    this.change = radios(
      "hl-change",
      "Change",
      Object.entries(CHANGES).map(([value, { text }]) => ({ value, text })),
      scope.settings.change,
      (change) => scope.set({ change }),
    );
    this.heat = slider(
      "Temperature",
      { min: 0.1, max: 4, step: 0.1, value: scope.settings.tau, show: (x) => x.toFixed(1) },
      (tau) => {
        scope.setQuietly({ tau });
        this.draw();
      },
    );
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.maps = ["as it ran", "changed"].map((title) => ({
      title: html("h3", {}, title),
      host: html("div", { class: "hl-map" }),
    }));
    this.entropies = svg("svg", {
      class: "hl-entropies",
      role: "img",
      viewBox: "0 0 900 120",
      preserveAspectRatio: "none",
    });
    host.append(
      html(
        "div",
        { class: "hl-wide" },
        html("div", { class: "hl-row" }, this.change, this.heat),
        this.says,
        html(
          "div",
          { class: "hl-side" },
          ...this.maps.map(({ title, host: map }) => html("section", {}, title, map)),
        ),
        html(
          "p",
          { class: "hl-caption" },
          "Entropy of each row in bits: left bar as it ran, right bar changed. 0 is one key alone; the line is a row spread evenly.",
        ),
        this.entropies,
      ),
    );
    for (const map of this.maps)
      map.heatMap = new HeatMap(map.host, {
        point: (row, column) => this.point(row, column),
        most: 480,
      });
  }

  async draw() {
    const {
      settings,
      loaded: { head, steps: asRun },
      palette,
    } = this.scope;
    check(this.change, settings.change);
    this.heat.hidden = settings.change !== "temperature";
    const { text, options } = CHANGES[settings.change];
    const changed = steps(
      head,
      settings.change === "temperature" ? { temperature: settings.tau } : options,
    );
    const open =
      settings.change === "mask"
        ? new Uint8Array(head.mask.values.length).fill(1)
        : head.mask.values;
    const plain = { data: this.scope.data, settings: { ...settings, words: false } };
    this.sides = [
      shownPattern(plain, asRun.weights, head.mask.values),
      shownPattern(plain, changed.weights, open),
    ];
    this.maps[1].title.textContent =
      settings.change === "temperature" ? `temperature ${settings.tau.toFixed(1)}` : text;
    for (const [i, map] of this.maps.entries()) {
      focusable(map.host, `${map.title.textContent}: ${pairsInWords(this.sides[i])}`);
      map.host.setAttribute("role", "img");
      map.host.removeAttribute("tabindex");
      await map.heatMap.draw({ ...this.sides[i], scale: sharedWeightScale(this.sides) }, palette);
    }
    this.summarise(asRun.weights, changed.weights, head.mask.values);
  }

  summarise(before, after, mask) {
    const entropies = [before, after].map(rowEntropies);
    const leaked = leakedShare(after, mask);
    const [a, b] = entropies.map((rows) => digits(mean(rows), 3));
    const leak =
      this.scope.settings.change === "mask"
        ? ` ${digits(100 * leaked, 1)} % of the attention goes to cells the mask forbids.`
        : "";
    this.says.textContent = `Mean entropy of a row: ${a} bits as it ran, ${b} changed.${leak}`;
    this.drawEntropies(entropies, after.columns);
  }

  drawEntropies([before, after], columns) {
    const { palette, data } = this.scope;
    const most = Math.log2(columns) || 1;
    const width = 900 / before.length;
    const bars = (values, shift) =>
      values.reduce(
        (path, bits, i) =>
          `${path}M${(i + shift) * width} 118v${(-112 * bits) / most}h${width * 0.36}V118z`,
        "",
      );
    const even = Array.from(
      before,
      (_, i) =>
        `${i ? "L" : "M"}${(i + 0.5) * width} ${118 - (112 * Math.log2(this.allowed(i))) / most}`,
    ).join("");
    this.entropies.replaceChildren(
      svg("path", { d: bars(Array.from(before), 0.12), fill: palette.muted }),
      svg("path", { d: bars(Array.from(after), 0.52), fill: palette.accent }),
      svg("path", {
        d: even,
        fill: "none",
        stroke: palette.frame,
        "stroke-width": 1.5,
        "vector-effect": "non-scaling-stroke",
      }),
    );
    const widest = before.reduce(
      (best, bits, i) =>
        Math.abs(after[i] - bits) > Math.abs(after[best] - before[best]) ? i : best,
      0,
    );
    this.entropies.setAttribute(
      "aria-label",
      `Entropy by row. Largest change at ${data.queryLabels[widest]}: ${digits(before[widest], 2)} to ${digits(after[widest], 2)} bits.`,
    );
  }

  /** How many keys a row of the changed side may read. */
  allowed(row) {
    const { allowed, values } = this.sides[1];
    const mine = allowed.subarray(row * values.columns, (row + 1) * values.columns);
    return Math.max(
      1,
      mine.reduce((n, x) => n + (x ? 1 : 0), 0),
    );
  }

  point(row, column) {
    for (const map of this.maps) map.heatMap.mark(row, column);
    const [a, b] = this.sides.map(({ values }) =>
      digits(values.values[row * values.columns + column]),
    );
    this.scope.say(
      `${this.sides[0].rows[row]} reads ${this.sides[0].columns[column]}: ${a} as it ran, ${b} changed`,
      false,
    );
  }

  leave() {}

  table() {
    return patternTable(this.sides[1], `without-${this.scope.settings.change}`);
  }

  async drawings() {
    const maps = await drawnMaps(this.maps);
    return [...maps, { caption: this.says.textContent, drawing: this.entropies }];
  }
}
