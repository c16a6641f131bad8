// Many heads in one map: their mean or their maximum.

import { fillOnce, html, select, numbered } from "../../../dom.js";
import { HeatMap } from "../../../marks/heatmap.js";
import { rowOf } from "../../../maths.js";
import {
  FIRST_HIDDEN,
  pairsInWords,
  pairsPlaced,
  patternTable,
  pictured,
  weightAt,
  WEIGHTS,
} from "../../../patterns.js";
import { View } from "../view.js";

/** @import { Matrix } from "../../../maths.js" */
/** @import { Shown } from "../../../patterns.js" */
/** @import { Attention } from "../../attention.js" */

const SLACK = 1e-4; // of a sum of float32 weights

/** Mean or maximum over the heads of a layer, over the layers of a head number, or over all. */
export class SummaryView extends View {
  /** @type {Shown | null} */
  #shown = null;

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    this.controls = html("div", { class: "hl-row" });
    this.says = html("p", { class: "hl-caption" });
    this.map = html("div", { class: "hl-map" });
    host.append(html("div", { class: "hl-wide" }, this.controls, this.says, this.map));
    this.heatMap = new HeatMap(this.map, this.lifetime, {
      point: (row, column) => this.#point(row, column),
    });
  }

  /**
   * @override
   * @param {() => boolean} isCurrent
   */
  async draw(isCurrent) {
    const { palette } = this.scope;
    this.#drawControls();
    const name = this.#name();
    const { how, over, layer, head } = this.scope.settings;
    const index = { layer, head, all: 0 }[over];
    const { pattern, mask } = await this.scope.run.summary(this.scope.group, how, over, index);
    if (!isCurrent()) return;
    const shown = this.shown(pattern, mask.values);
    this.#shown = shown;
    const hidden = shown.blank.some(Boolean) ? ` ${FIRST_HIDDEN}` : "";
    const pairs = pairsPlaced(shown);
    const said = [`${name}. `, ...rowSumsInWords(shown.values), " ", ...pairs, hidden];
    this.says.replaceChildren(...said);
    pictured(this.map, `${name}. ${pairsInWords(shown)}`);
    await this.heatMap.draw({ ...shown, scale: WEIGHTS }, palette);
  }

  #drawControls() {
    const { how, over } = this.scope.settings;
    /** @type {[string, string][]} */
    const hows = this.scope.data.how.map(({ name, text }) => [name, text]);
    const spans = this.#spans();
    fillOnce(this.controls, [this.scope.group.name, ...spans].join(), () => [
      select("Summary", hows, how, (value) => this.scope.set({ how: value })),
      select("Over", spans, over, (value) =>
        this.scope.set({ over: /** @type {"layer" | "head" | "all"} */ (value) }),
      ),
    ]);
    const lists = this.controls.querySelectorAll("select");
    [how, over].forEach((value, i) => {
      lists[i].value = value;
    });
  }

  /**
   * What can be summarised over.
   *
   * @returns {["layer" | "head" | "all", string][]}
   */
  #spans() {
    const { layer, head } = this.scope.settings;
    return [
      ["layer", `all heads of L${layer}`],
      ["head", `H${head} in all layers`],
      ["all", "all heads of all layers"],
    ];
  }

  /** What the map shows: Mean over all heads of L2. */
  #name() {
    const { how, over } = this.scope.settings;
    const howText = this.scope.data.how.find(({ name }) => name === how)?.text ?? how;
    const span = this.#spans().find(([value]) => value === over);
    return `${howText[0].toUpperCase()}${howText.slice(1)} over ${span?.[1]}`;
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  #point(row, column) {
    if (!this.#shown) return;
    this.heatMap.mark(row, column);
    const { rows, columns } = this.#shown;
    const weight = weightAt(this.#shown, row, column);
    this.scope.say(`${rows[row]} attends to ${columns[column]}: ${weight}`, false);
  }

  /** @override */
  table() {
    return this.#shown ? patternTable(this.#shown) : null;
  }

  /** @override */
  async drawings() {
    if (!this.#shown) return [];
    return [{ caption: this.says.textContent ?? "", drawing: await this.heatMap.svgText() }];
  }
}

/**
 * What the rows of a map sum to: one, zero where nothing may be attended to, or more for a maximum.
 *
 * @param {Matrix} values
 * @returns {(Node | string)[]}
 */
export function rowSumsInWords(values) {
  const sums = Array.from({ length: values.rows }, (_, i) =>
    rowOf(values, i).reduce((sum, p) => sum + p, 0),
  );
  const open = sums.filter((sum) => sum > 0);
  const [low, high] = [Math.min(...open), Math.max(...open)];
  const n = sums.length - open.length;
  const empty = n ? ` ${n} may attend to nothing and ${n === 1 ? "is" : "are"} zero.` : "";
  if (!open.length) return ["All rows are zero."];
  const isOne = Math.abs(low - 1) < SLACK && Math.abs(high - 1) < SLACK;
  if (isOne) return ["Rows sum to one.", empty];
  const [least, most] = [numbered(low, "low", 2), numbered(high, "high", 2)];
  return ["Rows sum to ", least, " to ", most, ".", empty];
}
