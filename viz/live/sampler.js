// The sampler: the next token's distribution over the whole vocabulary, redrawn while a slider moves.

import { bytesOf } from "./arrays.js";
import { drawBars } from "./bars.js";
import { currentPalette, paletteVariables } from "./colors.js";
import { Conversation, same } from "./conversation.js";
import { digits, html, math, slider, svg } from "./dom.js";
import { applied, entropy, powers, probabilities, sortedIds, sumOf } from "./sampling.js";

const BARS = 20;
const CURVE = { width: 420, height: 190, left: 40, right: 8, top: 10, bottom: 26 };
const CURVE_POINTS = 240;
const NAMES = { temperature: "Temperature", top_k: "Top-k", top_p: "Top-p", min_p: "Min-p" };
const OTHERS = "all others";

export class Sampler {
  constructor(root, { tell = () => {} } = {}) {
    this.root = root;
    this.conversation = new Conversation(tell);
    this.sliders = {};
    this.controls = html("section", { class: "hl-panel hl-sampling", "aria-label": "Sampling" });
    this.chart = svg("svg", { class: "hl-bars", role: "img" });
    this.curve = svg("svg", { class: "hl-curve", role: "img", width: "100%" });
    this.table = html("table", { class: "hl-table" });
    this.facts = html("dl", { class: "hl-numbers" });
    this.formula = html("div", { class: "hl-formula" });
    const read = html("section", { class: "hl-panel hl-operands", "aria-label": "What is left" });
    read.append(this.table, this.facts, this.curve, this.formula);
    const bars = html("section", { class: "hl-panel", "aria-label": "Leading tokens" }, this.chart);
    root.replaceChildren(html("div", { class: "hl-sampler" }, this.controls, bars, read));
    new ResizeObserver(() => this.sorted && this.redraw()).observe(bars);
  }

  /** Take logits and settings from Python; what a person is changing stays. */
  receive(data, host = this.root) {
    const isNew = data.key !== this.data?.key;
    this.data = data;
    this.palette = currentPalette(data.themes, host);
    for (const [name, value] of paletteVariables(this.palette)) {
      this.root.style.setProperty(name, value);
    }
    if (isNew) this.sort();
    const settings = this.conversation.merged(data);
    const moved = !same(settings, this.settings);
    this.settings = settings;
    if (moved || isNew) this.buildControls();
    this.redraw();
  }

  sort() {
    const logits = new Float32Array(bytesOf(this.data.logits.bdata).buffer);
    this.ids = sortedIds(logits);
    this.sorted = Float32Array.from(this.ids, (id) => logits[id]);
    this.before = probabilities(this.sorted, 1);
    this.entropyBefore = entropy(this.before);
    this.ranks = spacedRanks(this.sorted.length);
  }

  set(changes) {
    this.settings = { ...this.settings, ...changes };
    this.conversation.change(changes);
    this.redraw();
  }

  // --- controls -----------------------------------------------------------------------------------

  buildControls() {
    const held = document.activeElement?.dataset?.setting;
    const { temperature, top_p, min_p } = this.settings;
    const two = (x) => x.toFixed(2);
    const fields = {
      temperature: { min: 0.05, max: 3, step: 0.01, value: temperature, show: two },
      top_k: this.topKField(),
      top_p: { min: 0.01, max: 1, step: 0.01, value: top_p, show: two },
      min_p: { min: 0, max: 0.99, step: 0.01, value: min_p, show: (x) => (x ? two(x) : "off") },
    };
    const rows = this.settings.order.map((name, place) => this.row(name, fields[name], place));
    this.controls.replaceChildren(
      html("ol", { class: "hl-order" }, rows),
      html(
        "p",
        { class: "hl-caption" },
        "Applied from top to bottom. Move a step and see whether it matters.",
      ),
    );
    this.focusOn(held);
  }

  /** Give the keyboard's focus back; a button that can go no further hands it to its opposite. */
  focusOn(setting) {
    const node = setting && this.controls.querySelector(`[data-setting="${setting}"]`);
    if (!node) return;
    const row = node.closest("li");
    (node.disabled ? row.querySelector("button:not(:disabled)") : node).focus();
  }

  /** Top-k over a scale that grows: 1, 2, 3, … 50, … and all. */
  topKField() {
    const { top_k } = this.settings;
    const steps = topKSteps(this.sorted.length, top_k);
    const at = top_k ? steps.indexOf(top_k) : steps.length - 1;
    return {
      min: 0,
      max: steps.length - 1,
      step: 1,
      value: at < 0 ? steps.length - 1 : at,
      show: (i) => (i === steps.length - 1 ? "all" : steps[i].toLocaleString("en")),
      read: (i) => (i === steps.length - 1 ? null : steps[i]),
    };
  }

  row(name, { read = (x) => x, ...field }, place) {
    const label = slider(NAMES[name], field, (x) => this.set({ [name]: read(x) }));
    label.querySelector("input").dataset.setting = name;
    const move = (by, sign, words) =>
      html(
        "button",
        {
          type: "button",
          class: "hl-button hl-move",
          "data-setting": `${name}${by}`,
          "aria-label": `${NAMES[name]} ${words}`,
          disabled: place + by < 0 || place + by >= this.settings.order.length,
          onclick: () => this.move(place, by),
        },
        sign,
      );
    return html("li", {}, label, move(-1, "↑", "earlier"), move(1, "↓", "later"));
  }

  move(place, by) {
    const order = [...this.settings.order];
    [order[place], order[place + by]] = [order[place + by], order[place]];
    this.set({ order });
    this.buildControls();
  }

  // --- figures ------------------------------------------------------------------------------------

  /** Everything below the sliders, from the logits: called for every movement of a slider. */
  redraw() {
    const { settings, sorted } = this;
    const result = applied(sorted, settings, settings.order);
    const tempered = probabilities(sorted, settings.temperature);
    const after = probabilities(sorted, settings.temperature, result.count);
    this.showTable(result);
    this.showFacts(after);
    this.showCurve(tempered, result);
    this.showFormula(after);
    this.showBars(tempered, after);
    this.root.dataset.drawn = `${this.data.key} sampler`;
  }

  showTable({ steps }) {
    const cell = (text, tag = "td") => html(tag, {}, text);
    const rows = steps.map(({ name, count, mass }) =>
      html(
        "tr",
        { "data-step": name },
        html("th", { scope: "row" }, NAMES[name]),
        cell(count.toLocaleString("en")),
        cell(digits(mass)),
      ),
    );
    const head = ["After", "tokens left", "of the mass before"].map((text) =>
      html("th", { scope: "col" }, text),
    );
    this.table.replaceChildren(html("thead", {}, html("tr", {}, head)), html("tbody", {}, rows));
  }

  showFacts(after) {
    const nats = entropy(after);
    const facts = [
      ["entropy before, nats", digits(this.entropyBefore, 3), "entropy-before"],
      ["entropy after, nats", digits(nats, 3), "entropy-after"],
      ["perplexity before", digits(Math.exp(this.entropyBefore), 1), "perplexity-before"],
      ["perplexity after", digits(Math.exp(nats), 1), "perplexity-after"],
    ];
    this.facts.replaceChildren(
      ...facts.map(([name, value, key]) =>
        html("div", {}, html("dt", {}, name), html("dd", { "data-number": key }, value)),
      ),
    );
  }

  showBars(tempered, after) {
    const n = Math.min(BARS, this.sorted.length);
    const rest = (probs) => Math.max(0, 1 - sumOf(probs, Math.min(n, probs.length)));
    const rows = Array.from({ length: n }, (_, i) => ({
      label: i ? this.data.labels[i] : `★ ${this.data.labels[i]}`,
      before: this.before[i],
      after: after[i] ?? 0,
      lost: i < after.length ? 0 : tempered[i],
    }));
    const others = {
      label: OTHERS,
      before: rest(this.before),
      after: after.length > n ? rest(after) : 0,
    };
    this.rows = [...rows, others];
    drawBars(this.chart, this.rows, {
      palette: this.palette,
      width: Math.max(280, this.chart.parentElement.clientWidth),
      legend: "grey: the model says; colour: sampled from; dashed: removed; ★ greedy’s choice",
    });
    const top = rows.slice(0, 3);
    this.chart.setAttribute(
      "aria-label",
      `Leading next tokens. ${top.map(({ before, after: kept }, i) => `${this.data.labels[i]}: ${digits(before, 3)} from the model, ${digits(kept, 3)} sampled from`).join("; ")}.`,
    );
  }

  /** Cumulative mass by rank, on a scale that grows, with the cut. */
  showCurve(tempered, { count }) {
    const { palette } = this;
    const { width, height, left, right, top, bottom } = CURVE;
    const most = Math.log(tempered.length) || 1;
    const x = (rank) => left + (Math.log(rank) / most) * (width - left - right);
    const y = (mass) => top + (1 - mass) * (height - top - bottom);
    const points = [];
    let mass = 0;
    let from = 0;
    for (const rank of this.ranks) {
      for (; from < rank; from++) mass += tempered[from];
      points.push(`${x(rank).toFixed(1)} ${y(mass).toFixed(1)}`);
    }
    const line = (x1, y1, x2, y2, attributes) => svg("line", { x1, y1, x2, y2, ...attributes });
    const text = (at, words, attributes) =>
      svg("text", { ...at, fill: palette.muted, "font-size": 12, ...attributes }, words);
    const ranks = [1, 10, 100, 1000, 10_000, 100_000].filter((rank) => rank <= tempered.length);
    this.curve.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.curve.setAttribute(
      "aria-label",
      `Cumulative mass by rank at this temperature. The cut is behind rank ${count}, where the mass is ${digits(sumOf(tempered, count), 3)}.`,
    );
    this.curve.replaceChildren(
      ...[0, 0.5, 1].map((mass) =>
        text({ x: left - 6, y: y(mass) + 4 }, String(mass), { "text-anchor": "end" }),
      ),
      ...ranks.map((rank) =>
        text({ x: x(rank), y: height - 8 }, rank.toLocaleString("en"), { "text-anchor": "middle" }),
      ),
      line(left, y(0), width - right, y(0), { stroke: palette.line }),
      svg("rect", {
        x: left,
        y: top,
        width: Math.max(1, x(count) - left),
        height: y(0) - top,
        fill: palette.accent,
        opacity: 0.14,
      }),
      svg("path", {
        d: `M${left} ${y(0)}L${points.join("L")}`,
        fill: "none",
        stroke: palette.text,
        "stroke-width": 1.6,
      }),
      line(x(count), top, x(count), y(0), { stroke: palette.accent, "stroke-width": 2 }),
      text(
        { x: width - right - 4, y: y(0) - 8 },
        "mass by rank at this temperature; shaded: kept",
        {
          "text-anchor": "end",
        },
      ),
    );
  }

  /** The likeliest token's probability with its numbers. */
  showFormula(after) {
    const { temperature } = this.settings;
    const logit = this.sorted[0];
    const { total } = powers(this.sorted, temperature, after.length);
    const log = logit / temperature + Math.log(total);
    const mn = (text) => math("mn", {}, text);
    const mo = (text) => math("mo", {}, text);
    const power = math(
      "msup",
      {},
      math("mi", {}, "e"),
      math(
        "mrow",
        {},
        mn(`${digits(logit)} / ${digits(temperature, 2)}`),
        mo("−"),
        mn(digits(log)),
      ),
    );
    this.formula.replaceChildren(
      html(
        "p",
        { class: "hl-caption" },
        "★ greedy’s choice, ",
        html("bdi", {}, this.data.labels[0]),
        ":",
      ),
      math(
        "math",
        { display: "block" },
        math("mrow", {}, math("mi", {}, "p"), mo("="), power, mo("="), mn(digits(after[0]))),
      ),
    );
  }
}

/** Ranks from 1 to n, closer at the start, as a logarithmic axis wants them. */
function spacedRanks(n) {
  const most = Math.log(n);
  const spaced = Array.from({ length: CURVE_POINTS }, (_, i) =>
    Math.round(Math.exp((most * i) / (CURVE_POINTS - 1))),
  );
  return [...new Set(spaced)];
}

/** 1, 2, 3, 5, 7, 10, 15, 20, … below the vocabulary's size, then all of it. */
export function topKSteps(size, chosen) {
  const steps = new Set(chosen ? [chosen] : []); // an address may name one between
  for (let decade = 1; decade < size; decade *= 10) {
    for (const factor of [1, 1.5, 2, 3, 4, 5, 7]) steps.add(Math.floor(factor * decade));
  }
  return [...[...steps].filter((k) => k < size).sort((a, b) => a - b), size];
}
