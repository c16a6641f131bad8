// Many heads in one map: their mean or their maximum.

import { fillLists, select, numbered } from "../../../dom.js";
import { rowOf } from "../../../maths.js";
import { hiddenInWords, pairsPlaced } from "../../../patterns.js";
import { MapsView } from "../maps.js";

/** @import { Matrix } from "../../../maths.js" */
/** @import { Attention } from "../../attention.js" */

const HEIGHT = 560;
const SLACK = 1e-4; // of a sum of float32 weights

/** Mean or maximum over the heads of a layer, over the layers of a head number, or over all. */
export class SummaryView extends MapsView {
  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host, 1, { most: HEIGHT });
  }

  /**
   * @override
   * @param {() => boolean} isCurrent
   */
  async draw(isCurrent) {
    this.#drawControls();
    const name = this.#name();
    const { how, over, layer, head } = this.scope.settings;
    const index = { layer, head, all: 0 }[over];
    const { pattern, mask } = await this.scope.run.summary(this.scope.group, how, over, index);
    if (!isCurrent()) return;
    const shown = this.shown(pattern, mask.values);
    const said = [`${name}. `, ...rowSumsInWords(shown.values), " ", ...pairsPlaced(shown)];
    this.says.replaceChildren(...said, hiddenInWords(shown));
    await this.drawMaps([{ name, shown }]);
  }

  #drawControls() {
    const { how, over } = this.scope.settings;
    /** @type {[string, string][]} */
    const hows = this.scope.data.how.map(({ name, text }) => [name, text]);
    const spans = this.#spans();
    const make = () => [
      select("Summary", hows, (value) => this.scope.set({ how: value })),
      select("Over", spans, (value) =>
        this.scope.set({ over: /** @type {"layer" | "head" | "all"} */ (value) }),
      ),
    ];
    fillLists(this.controls, [this.scope.group.name, ...spans].join(), make, [how, over]);
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
