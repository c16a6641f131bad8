// Two heads, or one head on two sentences, and the signed difference.

import { check, digits, fillOnce, html, radios, select } from "../dom.js";
import { difference, matrix, mean } from "../maths.js";
import { HeatMap } from "../plots.js";
import {
  drawnMaps,
  pairsInWords,
  patternTable,
  sharedWeightScale,
  shownPattern,
  signedScale,
} from "./shared.js";

/** This head against another, or this sentence against another, and their signed difference. */
export class CompareView {
  constructor(scope, host) {
    this.scope = scope;
    this.against = radios(
      "hl-against",
      "Compare with",
      [
        { value: "head", text: "another head" },
        { value: "sentence", text: "another sentence" },
      ],
      scope.settings.against,
      (against) => scope.set({ against }),
    );
    this.controls = html("div", { class: "hl-row" });
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.maps = [0, 1, 2].map(() => ({
      title: html("h3"),
      host: html("div", { class: "hl-map" }),
    }));
    host.append(
      html(
        "div",
        { class: "hl-wide" },
        html("div", { class: "hl-row" }, this.against, this.controls),
        this.says,
        html(
          "div",
          { class: "hl-side" },
          ...this.maps.map(({ title, host: map }, i) =>
            html("section", { class: i === 2 ? "hl-span" : null }, title, map),
          ),
        ),
      ),
    );
    for (const map of this.maps)
      map.heatMap = new HeatMap(map.host, {
        point: (row, column) => this.point(row, column),
        most: 480,
      });
  }

  async draw(isCurrent = () => true) {
    const { settings, loaded, palette, headName, data } = this.scope;
    check(this.against, settings.against);
    this.drawControls();
    const other = await this.scope.loadOther();
    if (!isCurrent()) return;
    this.sides = null;
    for (const { host, title } of this.maps) host.hidden = title.hidden = !other;
    this.says.textContent = "Type a second sentence, then press Enter.";
    if (!other) return;
    const first = shownPattern(this.scope, loaded.steps.weights, loaded.head.mask.values);
    const second = shownPattern(
      this.scope,
      other.steps.weights,
      other.head.mask.values,
      other.data,
    );
    const delta = difference(first.values, second.values);
    const hidden = Uint8Array.from(delta.values, (_, i) => {
      const [row, column] = [Math.floor(i / delta.columns), i % delta.columns];
      return first.hidden[row * first.values.columns + column] &&
        second.hidden[row * second.values.columns + column]
        ? 1
        : 0;
    });
    const third = { ...(delta.rows === first.values.rows ? first : second), values: delta, hidden };
    this.sides = [first, second, third];
    const titles = [headName, other.name, `${headName} − ${other.name}`];
    const weights = sharedWeightScale([first, second]);
    const scales = [weights, weights, signedScale("difference of weights", delta.values)];
    for (const [i, map] of this.maps.entries()) {
      map.title.textContent = titles[i];
      map.host.setAttribute("role", "img");
      map.host.setAttribute(
        "aria-label",
        `${titles[i]}: ${pairsInWords({ ...this.sides[i], values: i < 2 ? this.sides[i].values : matrix(delta.rows, delta.columns, delta.values.map(Math.abs)) })}`,
      );
      await map.heatMap.draw({ ...this.sides[i], scale: scales[i] }, palette);
    }
    const cut =
      first.values.rows === second.values.rows
        ? ""
        : ` The sentences have ${first.values.rows} and ${second.values.rows} rows; the difference covers the first ${delta.rows}.`;
    const open = Array.from(delta.values, Math.abs).filter((_, k) => !hidden[k]);
    const labels = other.data === data ? "" : " Tokens are compared by position, not by word.";
    this.says.textContent =
      `Mean difference of a weight, signs aside, over cells not masked: ${digits(mean(open), 4)}. ` +
      `Orange: more on the left; blue: more on the right.${cut}${labels}`;
  }

  drawControls() {
    const { settings, data } = this.scope;
    if (settings.against === "sentence") {
      fillOnce(this.controls, "sentence", () => [this.sentenceBox()]);
      return;
    }
    fillOnce(this.controls, `${data.n_layers} × ${data.n_heads} heads`, () => this.headBoxes());
    this.controls.querySelectorAll("select").forEach((list, i) => {
      list.value = this.scope.other[i];
    });
  }

  sentenceBox() {
    const box = html("input", {
      type: "text",
      value: this.scope.settings.second,
      placeholder: "Type a second sentence",
      onchange: () => this.scope.set({ second: box.value.toWellFormed?.() ?? box.value }),
    });
    return html("label", { class: "hl-field hl-grow" }, html("span", {}, "Second sentence"), box);
  }

  headBoxes() {
    const { data, other } = this.scope;
    const names = (n, letter) => Array.from({ length: n }, (_, i) => [i, `${letter}${i}`]);
    return [
      select("Layer of the other", names(data.n_layers, "L"), other[0], (layer) =>
        this.scope.set({ other: [Number(layer), this.scope.other[1]] }),
      ),
      select("Head of the other", names(data.n_heads, "H"), other[1], (head) =>
        this.scope.set({ other: [this.scope.other[0], Number(head)] }),
      ),
    ];
  }

  point(row, column) {
    const said = this.maps.slice(0, 2).map((map, i) => {
      const { values } = this.sides[i];
      map.heatMap.mark(row, column);
      return row < values.rows && column < values.columns
        ? digits(values.values[row * values.columns + column])
        : "–";
    });
    this.maps[2].heatMap.mark(row, column);
    this.scope.say(
      `${this.sides[0].rows[row] ?? row} reads ${this.sides[0].columns[column] ?? column}: ${said.join(" against ")}`,
      false,
    );
  }

  leave() {}

  table() {
    return this.sides ? patternTable(this.sides[2], "difference") : null;
  }

  async drawings() {
    return this.sides ? drawnMaps(this.maps) : [];
  }
}
