// Lines between the tokens that attend and those attended to.

import { digits, fillOnce, html, select, setAll, slider, svg, numbered } from "../../../dom.js";
import { rowOf } from "../../../maths.js";
import { leading } from "../../../measures.js";
import { clipped, pairsInWords, patternTable } from "../../../patterns.js";
import { View } from "../view.js";

/** @import { Drawing, Shown } from "../../../patterns.js" */
/** @import { Matrix } from "../../../maths.js" */
/** @import { Attention } from "../../attention.js" */

const MOST_WIDTH = 640;
const LABEL_ROOM = { least: 110, share: 0.27 }; // for labels on either side: pixels, of the width
const GAP = 8; // pixels between a label and its lines
const STEPS = { usual: 22, small: 15 }; // pixels from a token to the next
const MANY = 120; // tokens from which the small step is taken
const LEAST_TOLD = 0.005; // weight beside a token
const STRENGTHS = 10;

/** A token on one side. @typedef {{side: "query" | "key", at: number}} Focus */

/** Queries left, keys right, a line for each weight that belongs to the leading mass of its row. */
export class LinesView extends View {
  /** @type {Shown} */
  #shown;
  /** The token under the mouse. @type {Focus | null} */
  #focus = null;
  #cancelFrame = () => {};
  /** The pixels of the host when it was last drawn. */
  #room = 0;

  /**
   * @param {Attention} scope
   * @param {HTMLElement} host
   */
  constructor(scope, host) {
    super(scope, host);
    this.tokens = html("div");
    this.says = html("p", { class: "hl-caption" });
    this.picture = svg("svg", { class: "hl-lines", role: "img" });
    this.lifetime.watchSize(host, () => {
      if (this.#shown && host.clientWidth && host.clientWidth !== this.#room) this.#redraw();
    });
    const mass = slider(
      "Cumulative attention shown",
      {
        bounds: scope.data.bounds.mass,
        value: scope.settings.mass,
        show: (x) => `${Math.round(100 * x)} %`,
      },
      (share) => {
        scope.setQuietly({ mass: share });
        this.#redraw();
      },
    );
    const frame = { class: "hl-scroll", tabindex: 0, role: "group", "aria-label": "Lines" };
    const wide = html("div", { class: "hl-wide" });
    const controls = html("div", { class: "hl-row" }, this.tokens, mass);
    wide.append(controls, this.says, html("div", frame, this.picture));
    host.append(wide);
  }

  /** @override */
  draw() {
    const { head, steps } = this.scope.loaded;
    this.#shown = this.shown(steps.weights, head.mask.values);
    /** @type {[string | number, string][]} */
    const options = this.#shown.rows.map((label, i) => [i, `${i}: ${label}`]);
    options.unshift(["", "all"]);
    fillOnce(this.tokens, options.join(), () => [
      select("Lines of", options, "", (at) =>
        this.scope.set({ token: at === "" ? null : Number(at) }),
      ),
    ]);
    const list = this.tokens.querySelector("select");
    if (list) list.value = String(this.#chosen()?.at ?? "");
    this.#redraw();
  }

  #redraw() {
    const { settings, palette } = this.scope;
    const { rows, columns } = this.#shown;
    const step = rows.length > MANY ? STEPS.small : STEPS.usual;
    /** @param {number} i */
    const y = (i) => 22 + i * step;
    const token = this.#focus ?? this.#chosen();
    const kept = this.#keptKeys(settings.mass);
    this.#room = this.host.clientWidth;
    const width = Math.min(MOST_WIDTH, this.#room);
    const sides = sidesOf(width);
    const ends = {
      from: sides.query + GAP,
      to: sides.key - GAP,
      y: (/** @type {number} */ i) => y(i) - 4,
    };
    const paths = linePaths(kept, this.#shown.values, token, ends);
    const line = { fill: "none", stroke: palette.accent, "stroke-width": 1.6 };
    const height = y(Math.max(rows.length, columns.length)) + 4;
    setAll(this.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.picture.replaceChildren(
      ...paths.map(({ d, opacity }) => svg("path", { d, ...line, "stroke-opacity": opacity })),
      ...this.#words(rows, "query", token, { x: sides.query, y }),
      ...this.#words(columns, "key", token, { x: sides.key, y }),
    );
    const lines = kept.reduce((sum, keys) => sum + keys.length, 0);
    const isFirstHidden = this.#shown.blank.some(Boolean);
    const left = isFirstHidden ? " on all but the first token, which is hidden by choice" : "";
    this.says.replaceChildren(
      "Queries left, keys right. For each query the fewest keys that hold ",
      numbered(Math.round(100 * settings.mass), "mass", 0),
      ` % of its weight${left}: `,
      numbered(lines, "lines", 0),
      " lines. Point at a token to see only its own.",
    );
    const words = `Lines of ${this.scope.headName}. ${pairsInWords(this.#shown)}`;
    this.picture.setAttribute("aria-label", words);
  }

  /**
   * The keys of each query that hold a share of its weight, of what is left where the first token is
   * hidden.
   *
   * @param {number} mass
   */
  #keptKeys(mass) {
    const { values, hidden, blank } = this.#shown;
    return Array.from({ length: values.rows }, (_, i) => {
      const row = rowOf(values, i);
      /** @param {number} j */
      const isOut = (j) => hidden[i * values.columns + j] || blank[i * values.columns + j];
      const open = row.map((p, j) => (isOut(j) ? 0 : p));
      return leading(open, mass);
    });
  }

  /**
   * The labels of one side.
   *
   * @param {string[]} labels
   * @param {"query" | "key"} side
   * @param {Focus | null} token
   * @param {{x: number, y: (i: number) => number}} at where they end or begin, and of each the height
   */
  #words(labels, side, token, { x, y }) {
    const place = { x, "text-anchor": side === "query" ? "end" : "start" };
    return labels.map((label, at) => {
      const isFocus = token && token.side === side && token.at === at;
      const look = {
        onpointerenter: () => this.#look({ side, at }),
        onpointerleave: () => this.#look(null),
      };
      const attributes = { ...place, y: y(at), class: isFocus ? "hl-strong" : null, ...look };
      return svg("text", attributes, clipped(label), this.#weightOf(token, side, at));
    });
  }

  /**
   * The token chosen in the list, on the side of the queries.
   *
   * @returns {Focus | null}
   */
  #chosen() {
    const { token } = this.scope.settings;
    if (token == null) return null;
    return { side: "query", at: Math.min(token, this.#shown.rows.length - 1) };
  }

  /**
   * The weight between the token in focus and one of the other side, where there is one.
   *
   * @param {Focus | null} token
   * @param {"query" | "key"} side
   * @param {number} i
   * @returns {(Node | string)[]}
   */
  #weightOf(token, side, i) {
    if (!token || token.side === side) return [];
    const { values, hidden, blank } = this.#shown;
    const [row, column] = side === "key" ? [token.at, i] : [i, token.at];
    const at = row * values.columns + column;
    if (hidden[at] || blank[at] || values.values[at] < LEAST_TOLD) return [];
    return ["  ", svg("tspan", { "data-number": "weight" }, digits(values.values[at], 2))];
  }

  /** @param {Focus | null} focus */
  #look(focus) {
    this.#focus = focus;
    this.#cancelFrame();
    this.#cancelFrame = this.lifetime.frame(() => this.#redraw());
  }

  /** @override */
  table() {
    return patternTable(this.#shown);
  }

  /**
   * @override
   * @returns {Drawing[]}
   */
  drawings() {
    return [{ caption: this.says.textContent ?? "", drawing: this.picture }];
  }
}

/**
 * Lines gathered into ten strengths, so that many lines are few elements.
 *
 * @param {number[][]} kept keys of each query
 * @param {Matrix} values
 * @param {Focus | null} token whose lines alone are drawn
 * @param {{from: number, to: number, y: (i: number) => number}} ends of the lines, in pixels
 */
function linePaths(kept, values, token, { from, to, y }) {
  const strengths = Array.from({ length: STRENGTHS }, () => "");
  kept.forEach((keys, i) =>
    keys.forEach((j) => {
      if (token && token.at !== (token.side === "query" ? i : j)) return;
      const weight = values.values[i * values.columns + j];
      const strength = Math.min(STRENGTHS - 1, Math.floor(weight * STRENGTHS));
      strengths[strength] += `M${from} ${y(i)}L${to} ${y(j)}`;
    }),
  );
  return strengths
    .map((d, i) => ({ d, opacity: Math.max(0.06, Math.sqrt((i + 0.5) / STRENGTHS)) }))
    .filter(({ d }) => d);
}

/**
 * Where labels end on the side of the queries and begin on that of the keys.
 *
 * @param {number} width
 */
function sidesOf(width) {
  const room = Math.max(LABEL_ROOM.least, LABEL_ROOM.share * width);
  return { query: room, key: width - room };
}
