// Lines between the tokens that read and those that are read.

import { digits, fillOnce, html, select, slider, svg } from "../dom.js";
import { leading, rowOf } from "../maths.js";
import { clipped, pairsInWords, patternTable, shownPattern } from "./shared.js";

/** Queries left, keys right, a line for each weight that belongs to the leading mass of its row. */
export class LinesView {
  constructor(scope, host) {
    this.scope = scope;
    this.tokens = html("div");
    this.controls = html("div", { class: "hl-row" }, this.tokens);
    this.says = html("p", { class: "hl-caption" });
    this.picture = svg("svg", { class: "hl-lines", role: "img" });
    host.append(
      html(
        "div",
        { class: "hl-wide" },
        this.controls,
        this.says,
        html(
          "div",
          { class: "hl-scroll", tabindex: 0, role: "group", "aria-label": "Lines" },
          this.picture,
        ),
      ),
    );
    this.controls.append(
      slider(
        "Mass shown per row",
        {
          min: 0.1,
          max: 1,
          step: 0.05,
          value: scope.settings.mass,
          show: (x) => `${Math.round(100 * x)} %`,
        },
        (mass) => {
          scope.setQuietly({ mass });
          this.redraw();
        },
      ),
    );
  }

  draw() {
    const {
      loaded: { head, steps: all },
    } = this.scope;
    this.shown = shownPattern(this.scope, all.weights, head.mask.values);
    const options = [["", "all"], ...this.shown.rows.map((label, i) => [i, `${i}: ${label}`])];
    fillOnce(this.tokens, options.join(), () => [
      select("Lines of", options, "", (at) =>
        this.scope.set({ token: at === "" ? null : Number(at) }),
      ),
    ]);
    this.tokens.querySelector("select").value = this.chosen()?.at ?? "";
    this.redraw();
  }

  redraw() {
    const { settings, palette } = this.scope;
    const { values, rows, columns, hidden } = this.shown;
    const step = rows.length > 120 ? 15 : 22;
    const [left, right, width] = [170, 470, 640];
    const y = (i) => 22 + i * step;
    const token = this.focus ?? this.chosen();
    const kept = Array.from({ length: values.rows }, (_, i) =>
      leading(
        rowOf(values, i).map((p, j) => (hidden[i * values.columns + j] ? 0 : p)),
        settings.mass,
      ),
    );
    const paths = linePaths(kept, values, token, (i) => y(i) - 4, left + 8, right - 8);
    const words = (labels, x, anchor, side) =>
      labels.map((label, i) =>
        svg(
          "text",
          {
            x,
            y: y(i),
            "text-anchor": anchor,
            class: token && token.side === side && token.at === i ? "hl-strong" : null,
            onpointerenter: () => this.look({ side, at: i }),
            onpointerleave: () => this.look(null),
          },
          clipped(label) + this.weightOf(token, side, i),
        ),
      );
    const height = y(Math.max(rows.length, columns.length)) + 4;
    for (const [name, value] of Object.entries({
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
    }))
      this.picture.setAttribute(name, value);
    this.picture.replaceChildren(
      ...paths.map(({ d, opacity }) =>
        svg("path", {
          d,
          fill: "none",
          stroke: palette.accent,
          "stroke-width": 1.6,
          "stroke-opacity": opacity,
        }),
      ),
      ...words(rows, left, "end", "query"),
      ...words(columns, right, "start", "key"),
    );
    const lines = kept.reduce((sum, keys) => sum + keys.length, 0);
    this.says.textContent = `Queries left, keys right. For each query the fewest keys that hold ${Math.round(100 * settings.mass)} % of its weight: ${lines} lines. Point at a token to see only its own.`;
    this.picture.setAttribute(
      "aria-label",
      `Lines of ${this.scope.headName}. ${pairsInWords(this.shown)}`,
    );
  }

  /** The token chosen in the list, on the side of the queries. */
  chosen() {
    const { token } = this.scope.settings;
    return token == null
      ? null
      : { side: "query", at: Math.min(token, this.shown.rows.length - 1) };
  }

  /** The weight between the token in focus and one of the other side, where there is one. */
  weightOf(token, side, i) {
    if (!token || token.side === side) return "";
    const { values, hidden } = this.shown;
    const [row, column] = side === "key" ? [token.at, i] : [i, token.at];
    const at = row * values.columns + column;
    return hidden[at] || values.values[at] < 0.005 ? "" : `  ${digits(values.values[at], 2)}`;
  }

  look(focus) {
    this.focus = focus;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.redraw());
  }

  leave() {}

  table() {
    return patternTable(this.shown, "pattern");
  }

  drawings() {
    return [{ caption: this.says.textContent, drawing: this.picture }];
  }
}

/** Lines gathered into ten strengths, so that many lines are few elements. */
function linePaths(kept, values, token, y, x1, x2) {
  const buckets = Array.from({ length: 10 }, () => "");
  kept.forEach((keys, i) =>
    keys.forEach((j) => {
      if (token && (token.side === "query" ? token.at !== i : token.at !== j)) return;
      const weight = values.values[i * values.columns + j];
      buckets[Math.min(9, Math.floor(weight * 10))] += `M${x1} ${y(i)}L${x2} ${y(j)}`;
    }),
  );
  return buckets
    .map((d, i) => ({ d, opacity: Math.max(0.06, Math.sqrt((i + 0.5) / 10)) }))
    .filter(({ d }) => d);
}
