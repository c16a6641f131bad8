// One token against the whole sentence, as the sentence itself in shades.

import { colorAt, inkOn, ramp } from "../colors.js";
import { digits, fillOnce, html, select, svg } from "../dom.js";
import { WEIGHT_PAIRS, clipped, patternTable, shownPattern } from "./shared.js";

/** What one token reads, and who reads it, as the sentence itself in shades. */
export class SentenceView {
  constructor(scope, host) {
    this.scope = scope;
    this.says = html("p", { class: "hl-caption" });
    this.pictures = ["reads", "is read by"].map(() =>
      svg("svg", { class: "hl-sentence", role: "img" }),
    );
    this.titles = this.pictures.map(() => html("h3", { class: "hl-cell-title" }));
    this.tokens = html("div", { class: "hl-row" });
    host.append(
      html(
        "div",
        { class: "hl-wide" },
        this.tokens,
        this.says,
        ...this.pictures.flatMap((picture, i) => [this.titles[i], picture]),
      ),
    );
  }

  draw() {
    const {
      loaded: { head, steps: all },
      data,
    } = this.scope;
    this.shown = shownPattern(this.scope, all.weights, head.mask.values);
    const last = this.shown.rows.length - 1;
    const token = this.scope.settings.token ?? this.scope.cell()[0];
    this.token = Math.min(
      this.scope.settings.words && this.scope.settings.token == null ? data.words[token] : token,
      last,
    );
    const options = this.shown.rows.map((label, i) => [i, `${i}: ${label}`]);
    fillOnce(this.tokens, options.join(), () => [
      select("Token", options, this.token, (at) => this.scope.set({ token: Number(at) })),
    ]);
    this.tokens.querySelector("select").value = this.token;
    this.says.textContent =
      "Click a word to choose it. The shade is the weight, one scale for both lines; dashed words are masked. Numbers at the three largest and wherever it is at least 0.05.";
    this.paint();
  }

  paint() {
    const { values, rows, columns, hidden } = this.shown;
    const at = (i, j) =>
      hidden[i * values.columns + j] ? 0 : values.values[i * values.columns + j];
    const from = columns.map((_, j) => at(this.token, j));
    const to = rows.map((_, i) => at(i, Math.min(this.token, columns.length - 1)));
    const name = rows[this.token];
    const ends = [from, to].map((weights) => `largest ${digits(Math.max(...weights), 3)}`);
    this.titles[0].replaceChildren(
      "What ",
      html("bdi", {}, name),
      " reads: its row",
      html("small", {}, ends[0]),
    );
    this.titles[1].replaceChildren(
      "Who reads ",
      html("bdi", {}, name),
      ": its column",
      html("small", {}, ends[1]),
    );
    const high = Math.max(...from, ...to) || 1;
    const closed = (i, j) => Boolean(hidden[i * values.columns + j]);
    const self = this.token;
    this.sentence(this.pictures[0], columns, from, high, (j) => closed(self, j), "reads");
    this.sentence(this.pictures[1], rows, to, high, (i) => closed(i, self), "is read by");
  }

  /** Words in lines as wide as the page, each in the shade of its weight. */
  sentence(picture, labels, weights, high, isClosed, verb) {
    const { palette } = this.scope;
    const table = ramp(palette.sequential);
    const width = Math.max(300, picture.parentElement.clientWidth - 4);
    const top = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, WEIGHT_PAIRS);
    let [x, y] = [2, 4];
    const nodes = labels.map((label, i) => {
      const text = clipped(label);
      const wide = Math.max(24, 10 + textWidth(text));
      if (x + wide > width) [x, y] = [2, y + 46];
      const color = colorAt(table, weights[i], 0, high);
      const strong = weights[i] >= 0.05 || (top.includes(i) && weights[i] > 0);
      const group = svg(
        "g",
        { class: "hl-word", onclick: () => this.scope.set({ token: i }) },
        svg("rect", {
          x,
          y,
          width: wide,
          height: 26,
          rx: 4,
          fill: color,
          stroke: i === this.token ? palette.frame : palette.line,
          "stroke-width": i === this.token ? 2.5 : 1,
          "stroke-dasharray": isClosed(i) ? "3 3" : null,
        }),
        svg(
          "text",
          { x: x + wide / 2, y: y + 18, "text-anchor": "middle", fill: inkOn(color) },
          text,
        ),
        strong
          ? svg(
              "text",
              {
                x: x + wide / 2,
                y: y + 38,
                "text-anchor": "middle",
                class: "hl-small",
                fill: palette.muted,
              },
              digits(weights[i], weights[i] < 0.01 ? 3 : 2),
            )
          : null,
      );
      x += wide + 4;
      return group;
    });
    const height = y + 46;
    for (const [name, value] of Object.entries({
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
    }))
      picture.setAttribute(name, value);
    picture.replaceChildren(...nodes);
    picture.setAttribute(
      "aria-label",
      `${this.shown.rows[this.token]} ${verb}: ${top.map((i) => `${labels[i]} ${digits(weights[i], 3)}`).join("; ")}.`,
    );
  }

  leave() {}

  table() {
    return patternTable(this.shown, "pattern");
  }

  drawings() {
    return this.pictures.map((drawing, i) => ({ caption: this.titles[i].textContent, drawing }));
  }
}

let ruler;
function textWidth(text) {
  ruler ??= html("canvas").getContext("2d");
  ruler.font = "15px system-ui, sans-serif";
  return ruler.measureText(text).width;
}
