// Step by step: each stage of a head as a heat map, and the numbers behind the cell under the mouse.

import { check, digits, html, radios } from "../dom.js";
import { columnSums, rowEntropies, rowOf } from "../maths.js";
import { HeatMap } from "../plots.js";
import { Operands, formulaOf } from "../operands.js";
import { focusable, pairsInWords, shownPattern, signedScale, weightScale } from "./shared.js";

const LONG = 28; // tokens from which a map needs more width than half the page
const STAGES = [
  { name: "product", text: "q·kᵀ", says: "Each query times each key." },
  { name: "scaled", text: "÷√d", says: "Divided by √d_head, so that softmax does not saturate." },
  { name: "biased", text: "+ bias", says: "Plus what the position scheme adds to scores." },
  { name: "masked", text: "mask", says: "Cells that may not be read become −∞ (hatched)." },
  { name: "weights", text: "softmax", says: "Each row becomes weights that sum to one." },
  { name: "output", text: "· v", says: "The weights mix the value vectors: z, one row a token." },
];
/** The steps of one head, and the numbers behind the cell under the mouse. */
export class MapView {
  constructor(scope, host) {
    this.scope = scope;
    this.host = host;
    this.stages = radios(
      "hl-stage",
      "Stage",
      STAGES.map(({ name, text, says }) => ({ value: name, text, title: says })),
      "",
      (stage) => scope.set({ stage }),
    );
    this.playButton = html(
      "button",
      { type: "button", class: "hl-button", onclick: () => this.play() },
      "▶ Play",
    );
    this.says = html("p", { class: "hl-caption" });
    this.map = html("div", { class: "hl-map" });
    this.legend = html(
      "p",
      { class: "hl-caption" },
      "Bars: right, how widely a row spreads (its entropy); below, how much a key is read in all.",
    );
    this.formula = html("div", { class: "hl-formula" });
    this.panel = html("div", { class: "hl-operands" });
    host.append(
      html(
        "div",
        { class: "hl-main" },
        html("div", { class: "hl-row" }, this.stages, this.playButton),
        this.says,
        this.map,
        this.legend,
        this.formula,
      ),
    );
    this.heatMap = new HeatMap(this.map, {
      point: (row, column) => this.point(row, column),
      pick: (row, column) => this.pick(row, column),
      leave: () => this.rest(),
    });
    this.operands = new Operands(this.panel, (words, aloud) => scope.say(words, aloud));
    this.map.addEventListener("keydown", (event) => this.key(event));
  }

  async draw() {
    const { settings, loaded, palette } = this.scope;
    this.makeRoom();
    check(this.stages, settings.stage);
    const stage = STAGES.find(({ name }) => name === settings.stage);
    const noBias = stage.name === "biased" && !loaded.head.bias ? " This model adds none." : "";
    this.says.textContent = stage.says + noBias;
    this.dimension = Math.min(this.dimension ?? 0, loaded.head.q.columns - 1);
    if (this.openFor !== loaded || this.openPalette !== palette)
      this.operands.open({ ...loaded, ...this.scope.data }, palette);
    this.openFor = loaded;
    this.openPalette = palette;
    const picture = this.picture();
    this.legend.hidden = !picture.sides;
    focusable(
      this.map,
      `${stage.text} of ${this.scope.headName}. ${pairsInWords(this.weights())} Arrow keys move the cell, Enter pins and unpins it.`,
    );
    await this.heatMap.draw(picture, palette);
    this.rest();
  }

  weights() {
    return shownPattern(
      this.tokenScope(),
      this.scope.loaded.steps.weights,
      this.scope.loaded.head.mask.values,
    );
  }

  /** Stages are between tokens, so words stay apart here. */
  tokenScope() {
    const { data, settings } = this.scope;
    return { data, settings: { ...settings, words: false } };
  }

  picture() {
    const {
      data,
      settings,
      loaded: { head, steps: all },
    } = this.scope;
    const values = all[settings.stage];
    const labels = {
      rowLabels: data.rowAxis,
      columnLabels: data.columnAxis,
      rowTitle: "query",
      columnTitle: "key",
    };
    if (settings.stage === "weights") {
      const shown = this.weights();
      return { ...shown, scale: weightScale(shown), sides: this.sides(shown) };
    }
    if (settings.stage === "output") {
      const columnLabels = Array.from({ length: values.columns }, (_, i) => String(i));
      return {
        values,
        ...labels,
        columnLabels,
        columnTitle: "dimension of z",
        scale: signedScale("z", values.values),
        hidden: null,
      };
    }
    const hidden =
      settings.stage === "masked" ? head.mask.values.map((allowed) => (allowed ? 0 : 1)) : null;
    return {
      values,
      ...labels,
      scale: signedScale(settings.stage === "product" ? "q·k" : "score", values.values),
      hidden,
    };
  }

  /** Bars beside the weights: what each query's row spreads over, what each key receives. */
  sides({ values, rows, columns }) {
    const entropies = rowEntropies(values);
    const most = Math.log2(values.columns) || 1;
    const received = columnSums(values); // zero where the first token is left out
    const top = Math.max(...received);
    const best = (row) => rowOf(values, row).reduce((at, p, j, all) => (p > all[at] ? j : at), 0);
    const reader = (key) =>
      rows.reduce(
        (at, _, i) =>
          values.values[i * values.columns + key] > values.values[at * values.columns + key]
            ? i
            : at,
        0,
      );
    return {
      rows: Array.from(entropies, (bits, i) => ({
        share: bits / most,
        tip: `${rows[i]}: entropy ${digits(bits, 2)} bits; click for its largest weight`,
      })),
      columns: Array.from(received, (sum, j) => ({
        share: sum / top,
        tip: `${columns[j]}: read with ${digits(sum, 2)} in all; click for its strongest reader`,
      })),
      pickRow: (i) => this.pick(i, best(i)),
      pickColumn: (j) => this.pick(reader(j), j),
    };
  }

  /** The mouse is over a cell: show it unless one is pinned. */
  point(row, column) {
    if (this.scope.settings.stage === "output") this.dimension = column;
    if (!this.scope.settings.cell) this.show(row, this.keyOf(row, column));
    else if (this.scope.settings.stage === "output") this.rest();
  }

  /** The key a place stands for; in z, whose columns are dimensions, the one already in view. */
  keyOf(row, column) {
    if (this.scope.settings.stage !== "output") return column;
    const { head, steps } = this.scope.loaded;
    const [, key] = this.scope.cell();
    const weights = rowOf(steps.weights, row);
    const isOpen = head.mask.values[row * head.mask.columns + key];
    return isOpen ? key : weights.reduce((best, p, j) => (p > weights[best] ? j : best), 0);
  }

  pick(row, column) {
    const { settings } = this.scope;
    const cell = [row, this.keyOf(row, column)];
    const again = settings.cell && settings.cell[0] === cell[0] && settings.cell[1] === cell[1];
    if (again) this.scope.looked = cell; // unpinned, it stays in view
    this.scope.setQuietly({ cell: again ? null : cell });
    this.rest();
    this.map.focus({ preventScroll: true });
  }

  rest() {
    this.show(...this.scope.cell());
  }

  show(query, key) {
    const { settings, loaded } = this.scope;
    const pinned = Boolean(settings.cell);
    this.at = [query, key];
    this.heatMap.mark(query, settings.stage === "output" ? this.dimension : key, pinned);
    this.operands.show(query, key, { pinned, stage: settings.stage, dimension: this.dimension });
    this.formula.replaceChildren(formulaOf(settings.stage, loaded, query, key, this.dimension));
  }

  key(event) {
    const [query, key] = this.at;
    const { rows, columns } = this.heatMap.picture.values;
    const onOutput = this.scope.settings.stage === "output";
    const column = onOutput ? this.dimension : key;
    const page = 10;
    const to = {
      ArrowLeft: [query, column - 1],
      ArrowRight: [query, column + 1],
      ArrowUp: [query - 1, column],
      ArrowDown: [query + 1, column],
      Home: [query, 0],
      End: [query, columns - 1],
      PageUp: [query - page, column],
      PageDown: [query + page, column],
    }[event.key];
    if (event.key === "Enter" || event.key === " ") this.pick(query, column);
    else if (event.key === "Escape") this.scope.setQuietly({ cell: null });
    else if (to)
      this.moveTo(
        Math.min(Math.max(to[0], 0), rows - 1),
        Math.min(Math.max(to[1], 0), columns - 1),
        onOutput,
      );
    else return;
    event.preventDefault();
    if (!to) this.rest();
  }

  /** Arrow keys carry a pinned cell along; else they only look. */
  moveTo(row, column, onOutput) {
    if (onOutput) this.dimension = column;
    const cell = [row, onOutput ? this.at[1] : column];
    if (this.scope.settings.cell) this.scope.setQuietly({ cell });
    else this.scope.looked = cell;
    this.show(...cell);
    this.scope.say(this.scope.said, true);
  }

  play() {
    if (this.timer) return this.stop();
    this.playButton.textContent = "■ Stop";
    let at = 0;
    this.scope.set({ stage: STAGES[0].name });
    this.timer = setInterval(() => {
      at += 1;
      if (at >= STAGES.length) this.stop();
      else this.scope.set({ stage: STAGES[at].name });
    }, 2000);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.textContent = "▶ Play";
  }

  leave() {
    this.stop();
    this.panel.remove();
  }

  /** A long sentence gets the width for its map; the numbers then stand below the overview. */
  makeRoom() {
    const { data, isWide, slot } = this.scope;
    const isLong = isWide && data.keyLabels.length > LONG;
    this.host.classList.toggle("hl-long", isLong);
    this.heatMap.sizes.most = isLong ? 660 : 560;
    const place = isLong ? slot : this.host;
    if (this.panel.parentElement !== place) place.append(this.panel);
  }

  table() {
    const { values, rowTitle, columnTitle } = this.heatMap.picture;
    const { data, settings } = this.scope;
    const columns = settings.stage === "output" ? null : data.keyLabels;
    return {
      name: settings.stage,
      values,
      rows: data.queryLabels,
      columns,
      corner: `${rowTitle} \\ ${columnTitle}`,
    };
  }

  async drawings() {
    const caption = `${this.says.textContent} ${this.scope.said}.`;
    return [{ caption, drawing: await this.heatMap.svgText() }, ...this.operands.drawings()];
  }
}
