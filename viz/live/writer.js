// The writer: a text as it was generated, and for each new token what it was drawn from and read.

import { drawBars } from "./bars.js";
import { colorAt, currentPalette, inkOn, paletteVariables, ramp } from "./colors.js";
import { Conversation, same } from "./conversation.js";
import { digits, html, radios, check, svg } from "./dom.js";
import { matrix } from "./maths.js";
import { HeatMap } from "./plots.js";

const TICK_MS = 15;
const PATIENCE_MS = 2500;
const MAP_REST_MS = 600; // between two drawings of the map

export class Writer {
  constructor(root, { tell = () => {}, tick = () => {} } = {}) {
    this.tick = tick;
    this.root = root;
    this.conversation = new Conversation(tell);
    this.text = html("div", { class: "hl-text", role: "group", "aria-label": "Text" });
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.bars = svg("svg", { class: "hl-bars", role: "img" });
    this.map = html("div", { class: "hl-map", role: "img" });
    this.heatMap = new HeatMap(this.map, { pick: (row) => this.go(row), most: 420 });
    this.scrubber = html("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": "Step",
      oninput: () => this.go(Number(this.scrubber.value)),
    });
    this.averaged = radios(
      "hl-averaged",
      "Attention of",
      [
        { value: "no", text: "this head" },
        { value: "yes", text: "mean of all heads" },
      ],
      "no",
      (value) => this.set({ averaged: value === "yes" }),
    );
    this.build();
    new ResizeObserver(() => this.data && this.redraw()).observe(root);
  }

  build() {
    const move = (by, sign, words) =>
      html(
        "button",
        {
          type: "button",
          class: "hl-button",
          "aria-label": words,
          onclick: () => this.go(this.at() + by),
        },
        sign,
      );
    this.scrub = html(
      "div",
      { class: "hl-row hl-scrub" },
      move(-1, "◀", "Step back"),
      this.scrubber,
      move(1, "▶", "Step forward"),
      this.averaged,
    );
    this.detail = html(
      "div",
      { class: "hl-view-map" },
      html(
        "section",
        { "aria-label": "What each new token leans on" },
        html("h3", {}, "What each new token leans on"),
        this.map,
      ),
      html(
        "section",
        { class: "hl-operands", "aria-label": "Drawn from" },
        html("h3", {}, "Drawn from"),
        this.bars,
      ),
    );
    this.root.replaceChildren(this.text, this.scrub, this.says, this.detail);
  }

  receive(data, host = this.root) {
    this.data = data;
    this.palette = currentPalette(data.themes, host);
    for (const [name, value] of paletteVariables(this.palette))
      this.root.style.setProperty(name, value);
    this.settings = this.conversation.merged(data);
    this.redraw();
    this.goOn();
  }

  /**
   * Ask for the next tokens once these are on screen: the text comes as fast as it can be shown, and
   * no faster. Asked again when no answer comes.
   */
  goOn(rest = TICK_MS) {
    clearTimeout(this.ticker);
    if (!this.data.running) return;
    this.ticker = setTimeout(() => {
      this.ticks = (this.ticks ?? 0) + 1;
      this.tick(this.ticks);
      this.goOn(PATIENCE_MS);
    }, rest);
  }

  set(changes) {
    this.settings = { ...this.settings, ...changes };
    this.conversation.change(changes);
    this.redraw();
  }

  /** The step shown: the chosen one, or the newest when none is chosen. */
  at() {
    const last = this.data.steps.length - 1;
    return Math.min(this.settings.step ?? last, last);
  }

  /** Choose a step; at the newest the view follows what is written. */
  go(step) {
    const last = this.data.steps.length - 1;
    const wanted = Math.max(0, Math.min(step, last));
    this.set({ step: wanted === last ? null : wanted });
  }

  redraw() {
    const { steps } = this.data;
    const isEmpty = !steps.length;
    for (const node of [this.scrub, this.detail]) node.hidden = isEmpty;
    check(this.averaged, this.settings.averaged ? "yes" : "no");
    this.showText();
    if (!isEmpty) this.showStep(this.at());
    this.root.dataset.drawn = `${this.data.key} writer ${steps.length} ${isEmpty ? "" : this.at()}`;
  }

  row(step) {
    return this.settings.averaged ? step.mean : step.row;
  }

  /** The text: each token shaded by how much the chosen step read from it. */
  showText() {
    const { labels, n_prompt, steps } = this.data;
    const step = steps[this.at()];
    const reads = step ? this.row(step) : [];
    const high = Math.max(...reads, 1e-9);
    const table = ramp(this.palette.sequential);
    const produced = n_prompt + this.at();
    const tokens = labels.map((label, i) => {
      const weight = step ? (reads[i - step.n_dropped] ?? 0) : 0;
      const color = colorAt(table, weight, 0, high);
      const isNew = i >= n_prompt;
      const classes = [
        "hl-token-button",
        isNew ? "hl-new" : "",
        step && i === produced ? "hl-chosen" : "",
        step && i < step.n_dropped ? "hl-dropped" : "",
      ];
      const style =
        step && i < produced && i >= step.n_dropped
          ? `background:${color};color:${inkOn(color)}`
          : null;
      const isDropped = step && i < step.n_dropped;
      const title = isDropped
        ? "dropped from the context"
        : step && i < produced
          ? `read with ${digits(weight)}`
          : null;
      return html(
        "button",
        {
          type: "button",
          class: classes.join(" "),
          style,
          title,
          disabled: !isNew,
          onclick: () => this.go(i - n_prompt),
        },
        html("bdi", {}, label),
      );
    });
    this.text.replaceChildren(...tokens);
  }

  showStep(at) {
    const { steps, labels, n_prompt, headName } = this.data;
    const step = steps[at];
    this.scrubber.max = steps.length - 1;
    this.scrubber.value = at;
    this.scrubber.setAttribute(
      "aria-valuetext",
      `token ${at + 1} of ${steps.length}: ${labels[n_prompt + at]}`,
    );
    const reads = this.row(step);
    const best = reads.reduce((top, p, i) => (p > reads[top] ? i : top), 0);
    this.says.replaceChildren(
      `Token ${at + 1} of ${steps.length}: `,
      html("bdi", {}, labels[n_prompt + at]),
      `, drawn with probability ${digits(step.prob)} (the model says ${digits(step.before)}; rank ${step.rank + 1} of ${this.data.vocab_size.toLocaleString("en")}). `,
      `${this.settings.averaged ? "All heads" : headName} read most from `,
      html("bdi", {}, labels[step.n_dropped + best]),
      ` (${digits(reads[best], 3)}). Shade: how much was read by the position before it${step.n_dropped ? "; struck out: dropped from the context" : ""}.`,
    );
    this.showBars(step);
    this.showMapSoon(at);
  }

  /** The leading tokens of the step's distribution, the chosen one marked. */
  showBars({ leading, token_id, kept }) {
    const rows = leading.map(({ id, label, before, after }) => {
      const mark = id === token_id;
      return { label: mark ? `▸ ${label}` : label, before, after, mark };
    });
    drawBars(this.bars, rows, {
      palette: this.palette,
      width: Math.max(280, this.bars.parentElement.clientWidth),
      legend: `grey: the model; colour: sampled from (left: ${kept.toLocaleString("en")})`,
    });
    const top = leading.slice(0, 3).map(({ label, after }) => `${label} ${digits(after, 3)}`);
    this.bars.setAttribute("aria-label", `Leading tokens: ${top.join("; ")}.`);
  }

  /** The map takes longer than a token does, so while text streams in it is drawn now and then. */
  showMapSoon(at) {
    clearTimeout(this.mapTimer);
    const rest = (this.mapDrawn ?? -Infinity) + MAP_REST_MS - performance.now();
    const draw = () => {
      this.mapDrawn = performance.now();
      this.showMap(at);
    };
    if (rest <= 0) draw();
    else this.mapTimer = setTimeout(draw, rest);
  }

  /** One row a new token, one column a token of the text. */
  async showMap(at) {
    const { steps, axis, n_prompt } = this.data;
    const columns = n_prompt + steps.length - 1;
    const values = matrix(steps.length, columns);
    const hidden = new Uint8Array(values.values.length).fill(1);
    steps.forEach((step, i) =>
      this.row(step).forEach((weight, j) => {
        values.values[i * columns + step.n_dropped + j] = weight;
        hidden[i * columns + step.n_dropped + j] = 0;
      }),
    );
    let high = 0;
    values.values.forEach((x) => (high = Math.max(high, x)));
    const picture = {
      values,
      hidden,
      rowLabels: axis.slice(n_prompt),
      columnLabels: axis.slice(0, columns),
      rowTitle: "new token",
      columnTitle: "reads from",
      scale: { name: "weight", low: 0, high: high || 1 },
    };
    this.map.setAttribute("aria-label", this.says.textContent);
    if (
      !same(this.mapped, [
        this.data.key,
        steps.length,
        this.settings.averaged,
        this.data.headName,
        this.palette.background,
      ])
    )
      await this.heatMap.draw(picture, this.palette);
    this.mapped = [
      this.data.key,
      steps.length,
      this.settings.averaged,
      this.data.headName,
      this.palette.background,
    ];
    const reads = this.row(steps[at]);
    const best = reads.reduce((top, p, i) => (p > reads[top] ? i : top), 0);
    this.heatMap.mark(at, steps[at].n_dropped + best);
  }
}
