// Many heads in one map: their mean or their maximum.

import { digits, fillOnce, html, select } from "../dom.js";
import { HeatMap } from "../plots.js";
import { pairsInWords, patternTable, shownPattern, weightScale } from "./shared.js";

const HOWS = [
  ["mean", "mean"],
  ["maximum", "maximum"],
];

/** Mean or maximum over the heads of a layer, over the layers of a head number, or over all. */
export class SummaryView {
  constructor(scope, host) {
    this.scope = scope;
    this.controls = html("div", { class: "hl-row" });
    this.says = html("p", { class: "hl-caption" });
    this.map = html("div", { class: "hl-map" });
    host.append(html("div", { class: "hl-wide" }, this.controls, this.says, this.map));
    this.heatMap = new HeatMap(this.map, { point: (row, column) => this.point(row, column) });
  }

  async draw(isCurrent = () => true) {
    const { settings, palette, loaded } = this.scope;
    const { how, over } = settings;
    const spans = [
      ["layer", `all heads of L${settings.layer}`],
      ["head", `H${settings.head} in all layers`],
      ["all", "all heads of all layers"],
    ];
    fillOnce(this.controls, spans.join(), () => [
      select("Summary", HOWS, how, (value) => this.scope.set({ how: value })),
      select("Over", spans, over, (value) => this.scope.set({ over: value })),
    ]);
    [how, over].forEach((value, i) => {
      this.controls.querySelectorAll("select")[i].value = value;
    });
    const pattern = await this.scope.loadSummary();
    if (!isCurrent()) return;
    this.name = `${how === "mean" ? "Mean" : "Maximum"} over ${spans.find(([value]) => value === over)[1]}`;
    this.shown = shownPattern(this.scope, pattern, loaded.head.mask.values);
    const rows =
      how === "mean" ? "Rows sum to one." : "A maximum over heads: rows sum to more than one.";
    this.says.textContent = `${this.name}. ${rows} ${pairsInWords(this.shown)}`;
    this.map.setAttribute("role", "img");
    this.map.setAttribute("aria-label", `${this.name}. ${pairsInWords(this.shown)}`);
    await this.heatMap.draw({ ...this.shown, scale: weightScale(this.shown) }, palette);
  }

  point(row, column) {
    this.heatMap.mark(row, column);
    const { values, rows, columns } = this.shown;
    this.scope.say(
      `${rows[row]} reads ${columns[column]}: ${digits(values.values[row * values.columns + column])}`,
      false,
    );
  }

  leave() {}

  table() {
    return this.shown ? patternTable(this.shown, "summary") : null;
  }

  async drawings() {
    if (!this.shown) return [];
    return [{ caption: this.says.textContent, drawing: await this.heatMap.svgText() }];
  }
}
