// Lines between the tokens that attend and those attended to.

import { fillLists, html, numbered, wordsIn, select, slider, svg } from "../../../dom.js";
import { drawingOf } from "../../../export.js";
import { drawArcs } from "../../../marks/arcs.js";
import { rowOf } from "../../../maths.js";
import { leading } from "../../../measures.js";
import { pairsInWords, patternTable } from "../../../patterns.js";
import { View } from "../view.js";

/** @import { Drawing } from "../../../export.js" */
/** @import { Shown } from "../../../patterns.js" */
/** @import { Focus } from "../../../marks/arcs.js" */
/** @import { Attention } from "../../attention.js" */

/** Queries left, keys right, a line for each weight that belongs to the leading mass of its row. */
export class LinesView extends View {
  /** @type {Shown} */
  #shown;
  /** The token under the mouse. @type {Focus | null} */
  #focus = null;
  #cancelFrame = () => {};
  /** @type {ReturnType<typeof drawArcs> | undefined} */
  #drawn;
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
    /** @param {string} at */
    const pick = (at) => this.scope.set({ token: at === "" ? null : Number(at) });
    const make = () => [select("Lines of", options, pick)];
    fillLists(this.tokens, options.join(), make, [this.#chosen()?.at ?? ""]);
    this.#redraw();
  }

  #redraw() {
    const { settings, palette } = this.scope;
    const kept = this.#keptKeys(settings.mass);
    this.#room = this.host.clientWidth;
    this.#drawn = drawArcs(this.picture, this.#shown, {
      kept,
      focus: this.#focus ?? this.#chosen(),
      width: this.#room,
      palette,
      look: (focus) => this.#look(focus),
    });
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
   * The token chosen in the list, on the side of the queries.
   *
   * @returns {Focus | null}
   */
  #chosen() {
    const { token } = this.scope.settings;
    if (token == null) return null;
    return { side: "query", at: Math.min(token, this.#shown.rows.length - 1) };
  }

  /** @param {Focus | null} focus */
  #look(focus) {
    this.#focus = focus;
    this.#cancelFrame();
    this.#cancelFrame = this.lifetime.frame(() => this.#redraw());
  }

  /** @override */
  read() {
    const { says, picture: alternative } = this;
    const token = this.tokens.firstElementChild;
    return { ...wordsIn({ says, alternative, token }), ...this.#drawn };
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
    return [{ caption: this.says.textContent ?? "", drawing: drawingOf(this.picture) }];
  }
}
