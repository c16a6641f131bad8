// The ways to look at one head: its steps as heat maps, lines between tokens, a shaded sentence, one
// thing changed, two heads or sentences against each other, and means over heads.

import { colorAt, inkOn, ramp } from "./colors.js";
import { check, digits, html, radios, select, slider, svg } from "./dom.js";
import {
  difference, leading, leakedShare, matrix, mean, mergedMask, mergedWords, reach, rowEntropies, rowOf, steps, strongestPairs,
} from "./maths.js";
import { HeatMap } from "./plots.js";
import { Operands, formulaOf } from "./operands.js";

export const STAGES = [
  { name: "product", text: "q·kᵀ", says: "Each query times each key." },
  { name: "scaled", text: "÷√d", says: "Divided by √d_head, so that softmax does not saturate." },
  { name: "biased", text: "+ bias", says: "Plus what the position scheme adds to scores." },
  { name: "masked", text: "mask", says: "Cells that may not be read become −∞ (hatched)." },
  { name: "weights", text: "softmax", says: "Each row becomes weights that sum to one." },
  { name: "output", text: "· v", says: "The weights mix the value vectors: z, one row a token." },
];
const WEIGHT_PAIRS = 3;

/** Labels and matrix of a pattern as the options ask: words merged, the first token's column hidden. */
export function shownPattern(scope, pattern, mask, data = scope.data) {
  const { words, hide_first } = scope.settings;
  let shown = { values: pattern, allowed: mask, rowLabels: data.rowAxis, columnLabels: data.columnAxis,
    rows: data.queryLabels, columns: data.keyLabels };
  if (words) {
    shown = {
      values: mergedWords(pattern, data.words, data.words),
      allowed: mergedMask(mask, pattern.columns, data.words, data.words),
      rowLabels: data.wordAxis, columnLabels: data.wordAxis, rows: data.wordLabels, columns: data.wordLabels,
    };
  }
  const { columns } = shown.values;
  const hidden = Uint8Array.from(shown.values.values, (_, i) => !shown.allowed[i] || (hide_first && i % columns === 0) ? 1 : 0);
  return { ...shown, hidden, rowTitle: "query", columnTitle: "key" };
}

/** From 0 to the largest weight shown, or to 1 when one comes near it; row 0 has no choice. */
export function weightScale({ values, hidden }, name = "weight") {
  let high = 0;
  for (let i = values.rows > 1 ? values.columns : 0; i < values.values.length; i++) {
    if (!hidden[i]) high = Math.max(high, values.values[i]);
  }
  return high > 0.5 || !high ? { name, low: 0, high: 1 } : { name: `${name}, colours end at ${digits(high, 2)}`, low: 0, high };
}

export function signedScale(name, values) {
  const most = reach(values);
  return { name, low: -most, high: most, signed: true };
}

export function pairsInWords(shown, n = WEIGHT_PAIRS) {
  const visible = matrix(shown.values.rows, shown.values.columns, shown.values.values.map((x, i) => (shown.hidden[i] ? 0 : x)));
  const pairs = strongestPairs(visible, n);
  if (!pairs.length) return "No pair has any weight.";
  return `Strongest pairs: ${pairs.map(({ query, key, weight }) => `${shown.rows[query]} reads ${shown.columns[key]} ${digits(weight, 3)}`).join("; ")}.`;
}

function focusable(host, label) {
  host.tabIndex = 0;
  host.setAttribute("role", "application");
  host.setAttribute("aria-roledescription", "heat map");
  host.setAttribute("aria-label", label);
}

/** The steps of one head, and the numbers behind the cell under the mouse. */
export class MapView {
  constructor(scope, host) {
    this.scope = scope;
    this.stages = radios("hl-stage", "Stage", STAGES.map(({ name, text, says }) => ({ value: name, text, title: says })), "", (stage) => scope.set({ stage }));
    this.playButton = html("button", { type: "button", class: "hl-button", onclick: () => this.play() }, "▶ Play");
    this.says = html("p", { class: "hl-caption" });
    this.map = html("div", { class: "hl-map" });
    this.formula = html("div", { class: "hl-formula" });
    this.panel = html("div", { class: "hl-operands" });
    host.append(
      html("div", { class: "hl-main" }, html("div", { class: "hl-row" }, this.stages, this.playButton), this.says, this.map, this.formula),
      this.panel,
    );
    this.heatMap = new HeatMap(this.map, {
      point: (row, column) => this.point(row, column), pick: (row, column) => this.pick(row, column), leave: () => this.rest(),
    });
    this.operands = new Operands(this.panel, (words, aloud) => scope.say(words, aloud));
    this.map.addEventListener("keydown", (event) => this.key(event));
  }

  async draw() {
    const { settings, loaded, palette } = this.scope;
    check(this.stages, settings.stage);
    const stage = STAGES.find(({ name }) => name === settings.stage);
    const noBias = stage.name === "biased" && !loaded.head.bias ? " This model adds none, so nothing changes." : "";
    this.says.textContent = stage.says + noBias;
    this.dimension = Math.min(this.dimension ?? 0, loaded.head.q.columns - 1);
    if (this.openFor !== loaded || this.openPalette !== palette) this.operands.open({ ...loaded, ...this.scope.data }, palette);
    this.openFor = loaded;
    this.openPalette = palette;
    const picture = this.picture();
    focusable(this.map, `${stage.text} of ${this.scope.headName}. ${pairsInWords(this.weights())} Arrow keys move the cell, Enter pins it.`);
    await this.heatMap.draw(picture, palette);
    this.rest();
  }

  weights() {
    return shownPattern(this.tokenScope(), this.scope.loaded.steps.weights, this.scope.loaded.head.mask.values);
  }

  /** Stages are between tokens, so words stay apart here. */
  tokenScope() {
    const { data, settings } = this.scope;
    return { data, settings: { ...settings, words: false } };
  }

  picture() {
    const { data, settings, loaded: { head, steps: all } } = this.scope;
    const values = all[settings.stage];
    const labels = { rowLabels: data.rowAxis, columnLabels: data.columnAxis, rowTitle: "query", columnTitle: "key" };
    if (settings.stage === "weights") {
      const shown = this.weights();
      return { ...shown, scale: weightScale(shown) };
    }
    if (settings.stage === "output") {
      const columnLabels = Array.from({ length: values.columns }, (_, i) => String(i));
      return { values, ...labels, columnLabels, columnTitle: "dimension of z", scale: signedScale("z", values.values), hidden: null };
    }
    const hidden = settings.stage === "masked" ? head.mask.values.map((allowed) => (allowed ? 0 : 1)) : null;
    return { values, ...labels, scale: signedScale(settings.stage === "product" ? "q·k" : "score", values.values), hidden };
  }

  /** The mouse is over a cell: show it unless one is pinned. */
  point(row, column) {
    if (this.scope.settings.stage === "output") this.dimension = column;
    if (!this.scope.settings.cell) this.show(row, this.keyOf(column));
    else if (this.scope.settings.stage === "output") this.rest();
  }

  keyOf(column) {
    return this.scope.settings.stage === "output" ? this.scope.cell()[1] : column;
  }

  pick(row, column) {
    const { settings } = this.scope;
    const cell = [row, this.keyOf(column)];
    const again = settings.cell && settings.cell[0] === cell[0] && settings.cell[1] === cell[1];
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
    this.formula.replaceChildren(formulaOf(settings.stage, loaded, query, key));
  }

  key(event) {
    const [query, key] = this.at;
    const { rows, columns } = this.heatMap.picture.values;
    const onOutput = this.scope.settings.stage === "output";
    const column = onOutput ? this.dimension : key;
    const page = 10;
    const to = {
      ArrowLeft: [query, column - 1], ArrowRight: [query, column + 1], ArrowUp: [query - 1, column], ArrowDown: [query + 1, column],
      Home: [query, 0], End: [query, columns - 1], PageUp: [query - page, column], PageDown: [query + page, column],
    }[event.key];
    if (event.key === "Enter" || event.key === " ") this.pick(query, column);
    else if (event.key === "Escape") this.scope.setQuietly({ cell: null });
    else if (to) this.moveTo(Math.min(Math.max(to[0], 0), rows - 1), Math.min(Math.max(to[1], 0), columns - 1), onOutput);
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
    }, 1400);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.textContent = "▶ Play";
  }

  leave() {
    this.stop();
  }

  table() {
    const { values, rowTitle, columnTitle } = this.heatMap.picture;
    const { data, settings } = this.scope;
    const columns = settings.stage === "output" ? null : data.keyLabels;
    return { name: settings.stage, values, rows: data.queryLabels, columns, corner: `${rowTitle} \\ ${columnTitle}` };
  }

  async drawings() {
    return [await this.heatMap.svgText(), ...this.operands.drawings()];
  }
}

/** Queries left, keys right, a line for each weight that belongs to the leading mass of its row. */
export class LinesView {
  constructor(scope, host) {
    this.scope = scope;
    this.controls = html("div", { class: "hl-row" });
    this.says = html("p", { class: "hl-caption" });
    this.picture = svg("svg", { class: "hl-lines", role: "img" });
    host.append(html("div", { class: "hl-wide" }, this.controls, this.says, html("div", { class: "hl-scroll", tabindex: 0, role: "group", "aria-label": "Lines" }, this.picture)));
    this.controls.append(slider("Mass shown per row", {
      min: 0.1, max: 1, step: 0.05, value: scope.settings.mass, show: (x) => `${Math.round(100 * x)} %`,
    }, (mass) => { scope.setQuietly({ mass }); this.redraw(); }));
  }

  draw() {
    const { loaded: { head, steps: all } } = this.scope;
    this.shown = shownPattern(this.scope, all.weights, head.mask.values);
    this.redraw();
  }

  redraw() {
    const { settings, palette } = this.scope;
    const { values, rows, columns, hidden } = this.shown;
    const step = rows.length > 120 ? 15 : 22;
    const [left, right, width] = [170, 470, 640];
    const y = (i) => 22 + i * step;
    const token = this.focus ?? null;
    const kept = Array.from({ length: values.rows }, (_, i) =>
      leading(rowOf(values, i).map((p, j) => (hidden[i * values.columns + j] ? 0 : p)), settings.mass));
    const paths = linePaths(kept, values, token, (i) => y(i) - 4, left + 8, right - 8);
    const words = (labels, x, anchor, side) => labels.map((label, i) => svg("text", {
      x, y: y(i), "text-anchor": anchor, class: token && token.side === side && token.at === i ? "hl-strong" : null,
      onpointerenter: () => this.look({ side, at: i }), onpointerleave: () => this.look(null),
    }, clipped(label)));
    const height = y(Math.max(rows.length, columns.length)) + 4;
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) this.picture.setAttribute(name, value);
    this.picture.replaceChildren(
      ...paths.map(({ d, opacity }) => svg("path", { d, fill: "none", stroke: palette.accent, "stroke-width": 1.6, "stroke-opacity": opacity })),
      ...words(rows, left, "end", "query"), ...words(columns, right, "start", "key"),
    );
    const lines = kept.reduce((sum, keys) => sum + keys.length, 0);
    this.says.textContent = `Queries left, keys right. For each query the fewest keys that hold ${Math.round(100 * settings.mass)} % of its weight: ${lines} lines. Point at a token to see only its own.`;
    this.picture.setAttribute("aria-label", `Lines of ${this.scope.headName}. ${pairsInWords(this.shown)}`);
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
    return [this.picture];
  }
}

/** Lines gathered into ten strengths, so that many lines are few elements. */
function linePaths(kept, values, token, y, x1, x2) {
  const buckets = Array.from({ length: 10 }, () => "");
  kept.forEach((keys, i) => keys.forEach((j) => {
    if (token && (token.side === "query" ? token.at !== i : token.at !== j)) return;
    const weight = values.values[i * values.columns + j];
    buckets[Math.min(9, Math.floor(weight * 10))] += `M${x1} ${y(i)}L${x2} ${y(j)}`;
  }));
  return buckets.map((d, i) => ({ d, opacity: Math.max(0.06, Math.sqrt((i + 0.5) / 10)) })).filter(({ d }) => d);
}

function clipped(label) {
  return Array.from(label).length > 18 ? `${Array.from(label).slice(0, 17).join("")}…` : label;
}

/** What one token reads, and who reads it, as the sentence itself in shades. */
export class SentenceView {
  constructor(scope, host) {
    this.scope = scope;
    this.says = html("p", { class: "hl-caption" });
    this.pictures = ["reads", "is read by"].map(() => svg("svg", { class: "hl-sentence", role: "img" }));
    this.titles = this.pictures.map(() => html("h3"));
    this.tokens = html("div", { class: "hl-row" });
    host.append(html("div", { class: "hl-wide" }, this.tokens, this.says,
      ...this.pictures.flatMap((picture, i) => [this.titles[i], picture])));
  }

  draw() {
    const { loaded: { head, steps: all }, data } = this.scope;
    this.shown = shownPattern(this.scope, all.weights, head.mask.values);
    const last = this.shown.rows.length - 1;
    const token = this.scope.settings.token ?? this.scope.cell()[0];
    this.token = Math.min(this.scope.settings.words && this.scope.settings.token == null ? data.words[token] : token, last);
    const options = this.shown.rows.map((label, i) => [i, `${i}: ${label}`]);
    this.tokens.replaceChildren(select("Token", options, this.token, (at) => this.scope.set({ token: Number(at) })));
    this.says.textContent = "Click a word to choose it. Shade: the weight; numbers where it is at least 0.05.";
    this.paint();
  }

  paint() {
    const { values, rows, columns, hidden } = this.shown;
    const at = (i, j) => (hidden[i * values.columns + j] ? 0 : values.values[i * values.columns + j]);
    const from = columns.map((_, j) => at(this.token, j));
    const to = rows.map((_, i) => at(i, Math.min(this.token, columns.length - 1)));
    const name = rows[this.token];
    this.titles[0].replaceChildren("What ", html("bdi", {}, name), " reads (its row)");
    this.titles[1].replaceChildren("Who reads ", html("bdi", {}, name), " (its column)");
    this.sentence(this.pictures[0], columns, from, "reads");
    this.sentence(this.pictures[1], rows, to, "is read by");
  }

  /** Words in lines as wide as the page, each in the shade of its weight. */
  sentence(picture, labels, weights, verb) {
    const { palette } = this.scope;
    const table = ramp(palette.sequential);
    const width = Math.max(300, picture.parentElement.clientWidth - 4);
    const high = Math.max(...weights) > 0.5 ? 1 : Math.max(...weights) || 1;
    let [x, y] = [2, 4];
    const nodes = labels.map((label, i) => {
      const text = clipped(label);
      const wide = Math.max(24, 10 + textWidth(text));
      if (x + wide > width) [x, y] = [2, y + 46];
      const color = colorAt(table, weights[i], 0, high);
      const strong = weights[i] >= 0.05;
      const group = svg("g", { class: "hl-word", onclick: () => this.scope.set({ token: i }) },
        svg("rect", { x, y, width: wide, height: 26, rx: 4, fill: color, stroke: i === this.token ? palette.frame : palette.line, "stroke-width": i === this.token ? 2.5 : 1 }),
        svg("text", { x: x + wide / 2, y: y + 18, "text-anchor": "middle", fill: inkOn(color) }, text),
        strong ? svg("text", { x: x + wide / 2, y: y + 38, "text-anchor": "middle", class: "hl-small", fill: palette.muted }, digits(weights[i], 2)) : null);
      x += wide + 4;
      return group;
    });
    const height = y + 46;
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) picture.setAttribute(name, value);
    picture.replaceChildren(...nodes);
    const top = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, WEIGHT_PAIRS);
    picture.setAttribute("aria-label", `${this.shown.rows[this.token]} ${verb}: ${top.map((i) => `${labels[i]} ${digits(weights[i], 3)}`).join("; ")}.`);
  }

  leave() {}

  table() {
    return patternTable(this.shown, "pattern");
  }

  drawings() {
    return this.pictures;
  }
}

let ruler;
function textWidth(text) {
  ruler ??= html("canvas").getContext("2d");
  ruler.font = "15px system-ui, sans-serif";
  return ruler.measureText(text).width;
}

const CHANGES = {
  scale: { text: "without √d_head", options: { scale: false } },
  mask: { text: "without the mask", options: { mask: false } },
  temperature: { text: "attention temperature", options: {} },
};

/** As it ran, and with one thing changed, side by side; the entropy of each row below. */
export class WhatIfView {
  constructor(scope, host) {
    this.scope = scope;
    this.change = radios("hl-change", "Change", Object.entries(CHANGES).map(([value, { text }]) => ({ value, text })), scope.settings.change, (change) => scope.set({ change }));
    this.heat = slider("Temperature", { min: 0.1, max: 4, step: 0.1, value: scope.settings.tau, show: (x) => x.toFixed(1) }, (tau) => { scope.setQuietly({ tau }); this.draw(); });
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.maps = ["as it ran", "changed"].map((title) => ({ title: html("h3", {}, title), host: html("div", { class: "hl-map" }) }));
    this.entropies = svg("svg", { class: "hl-entropies", role: "img", viewBox: "0 0 900 120", preserveAspectRatio: "none" });
    host.append(html("div", { class: "hl-wide" }, html("div", { class: "hl-row" }, this.change, this.heat), this.says,
      html("div", { class: "hl-side" }, ...this.maps.map(({ title, host: map }) => html("section", {}, title, map))),
      html("p", { class: "hl-caption" }, "Entropy of each row in bits: left bar as it ran, right bar changed. 0 is one key alone; the line is a row spread evenly."),
      this.entropies));
    for (const map of this.maps) map.heatMap = new HeatMap(map.host, { point: (row, column) => this.point(row, column), most: 480 });
  }

  async draw() {
    const { settings, loaded: { head, steps: asRun }, palette } = this.scope;
    check(this.change, settings.change);
    this.heat.hidden = settings.change !== "temperature";
    const { text, options } = CHANGES[settings.change];
    const changed = steps(head, settings.change === "temperature" ? { temperature: settings.tau } : options);
    const open = settings.change === "mask" ? new Uint8Array(head.mask.values.length).fill(1) : head.mask.values;
    const plain = { data: this.scope.data, settings: { ...settings, words: false } };
    this.sides = [shownPattern(plain, asRun.weights, head.mask.values), shownPattern(plain, changed.weights, open)];
    this.maps[1].title.textContent = settings.change === "temperature" ? `temperature ${settings.tau.toFixed(1)}` : text;
    for (const [i, map] of this.maps.entries()) {
      focusable(map.host, `${map.title.textContent}: ${pairsInWords(this.sides[i])}`);
      map.host.setAttribute("role", "img");
      map.host.removeAttribute("tabindex");
      await map.heatMap.draw({ ...this.sides[i], scale: weightScale(this.sides[i]) }, palette);
    }
    this.summarise(asRun.weights, changed.weights, head.mask.values);
  }

  summarise(before, after, mask) {
    const entropies = [before, after].map(rowEntropies);
    const leaked = leakedShare(after, mask);
    const [a, b] = entropies.map((rows) => digits(mean(rows), 3));
    const leak = this.scope.settings.change === "mask" ? ` ${digits(100 * leaked, 1)} % of the attention goes to cells the mask forbids.` : "";
    this.says.textContent = `Mean entropy of a row: ${a} bits as it ran, ${b} changed.${leak}`;
    this.drawEntropies(entropies, after.columns);
  }

  drawEntropies([before, after], columns) {
    const { palette, data } = this.scope;
    const most = Math.log2(columns) || 1;
    const width = 900 / before.length;
    const bars = (values, shift) => values.reduce((path, bits, i) =>
      `${path}M${(i + shift) * width} 118v${(-112 * bits) / most}h${width * 0.36}V118z`, "");
    const even = Array.from(before, (_, i) => `${i ? "L" : "M"}${(i + 0.5) * width} ${118 - (112 * Math.log2(this.allowed(i))) / most}`).join("");
    this.entropies.replaceChildren(
      svg("path", { d: bars(Array.from(before), 0.12), fill: palette.muted }), svg("path", { d: bars(Array.from(after), 0.52), fill: palette.accent }),
      svg("path", { d: even, fill: "none", stroke: palette.frame, "stroke-width": 1.5, "vector-effect": "non-scaling-stroke" }),
    );
    const widest = before.reduce((best, bits, i) => (Math.abs(after[i] - bits) > Math.abs(after[best] - before[best]) ? i : best), 0);
    this.entropies.setAttribute("aria-label", `Entropy by row. Largest change at ${data.queryLabels[widest]}: ${digits(before[widest], 2)} to ${digits(after[widest], 2)} bits.`);
  }

  /** How many keys a row of the changed side may read. */
  allowed(row) {
    const { hidden, values } = this.sides[1];
    return Math.max(1, hidden.subarray(row * values.columns, (row + 1) * values.columns).reduce((n, x) => n + (x ? 0 : 1), 0));
  }

  point(row, column) {
    for (const map of this.maps) map.heatMap.mark(row, column);
    const [a, b] = this.sides.map(({ values }) => digits(values.values[row * values.columns + column]));
    this.scope.say(`${this.sides[0].rows[row]} reads ${this.sides[0].columns[column]}: ${a} as it ran, ${b} changed`, false);
  }

  leave() {}

  table() {
    return patternTable(this.sides[1], `without-${this.scope.settings.change}`);
  }

  async drawings() {
    return [...await Promise.all(this.maps.map(({ heatMap }) => heatMap.svgText())), this.entropies];
  }
}

/** This head against another, or this sentence against another, and their signed difference. */
export class CompareView {
  constructor(scope, host) {
    this.scope = scope;
    this.against = radios("hl-against", "Compare with", [{ value: "head", text: "another head" }, { value: "sentence", text: "another sentence" }],
      scope.settings.against, (against) => scope.set({ against }));
    this.controls = html("div", { class: "hl-row" });
    this.says = html("p", { class: "hl-caption", role: "status" });
    this.maps = [0, 1, 2].map(() => ({ title: html("h3"), host: html("div", { class: "hl-map" }) }));
    host.append(html("div", { class: "hl-wide" }, html("div", { class: "hl-row" }, this.against, this.controls), this.says,
      html("div", { class: "hl-side hl-three" }, ...this.maps.map(({ title, host: map }) => html("section", {}, title, map)))));
    for (const map of this.maps) map.heatMap = new HeatMap(map.host, { point: (row, column) => this.point(row, column), most: 420 });
  }

  async draw() {
    const { settings, loaded, palette, headName, data } = this.scope;
    check(this.against, settings.against);
    this.drawControls();
    const other = await this.scope.loadOther();
    this.maps.forEach(({ host }) => (host.hidden = !other));
    if (!other) return;
    const first = shownPattern(this.scope, loaded.steps.weights, loaded.head.mask.values);
    const second = shownPattern(this.scope, other.steps.weights, other.head.mask.values, other.data);
    const delta = difference(first.values, second.values);
    const hidden = Uint8Array.from(delta.values, (_, i) => {
      const [row, column] = [Math.floor(i / delta.columns), i % delta.columns];
      return first.hidden[row * first.values.columns + column] && second.hidden[row * second.values.columns + column] ? 1 : 0;
    });
    const third = { ...(delta.rows === first.values.rows ? first : second), values: delta, hidden };
    this.sides = [first, second, third];
    const titles = [headName, other.name, `${headName} − ${other.name}`];
    const scales = [weightScale(first), weightScale(second), signedScale("difference of weights", delta.values)];
    for (const [i, map] of this.maps.entries()) {
      map.title.textContent = titles[i];
      map.host.setAttribute("role", "img");
      map.host.setAttribute("aria-label", `${titles[i]}: ${pairsInWords({ ...this.sides[i], values: i < 2 ? this.sides[i].values : matrix(delta.rows, delta.columns, delta.values.map(Math.abs)) })}`);
      await map.heatMap.draw({ ...this.sides[i], scale: scales[i] }, palette);
    }
    const cut = first.values.rows === second.values.rows ? "" : ` The sentences have ${first.values.rows} and ${second.values.rows} rows; the difference covers the first ${delta.rows}.`;
    this.says.textContent = `Mean difference of a weight: ${digits(mean(Array.from(delta.values, Math.abs)), 4)}. Orange: more on the left; blue: more on the right.${cut}`;
    if (data !== other.data) this.says.textContent += " Positions are compared one by one; the labels are those of the shorter sentence.";
  }

  drawControls() {
    const { settings, data } = this.scope;
    if (settings.against === "head") {
      const names = (n, letter) => Array.from({ length: n }, (_, i) => [i, `${letter}${i}`]);
      this.controls.replaceChildren(
        select("Layer of the other", names(data.n_layers, "L"), settings.other[0], (layer) => this.scope.set({ other: [Number(layer), settings.other[1]] })),
        select("Head of the other", names(data.n_heads, "H"), settings.other[1], (head) => this.scope.set({ other: [settings.other[0], Number(head)] })),
      );
    } else if (!this.controls.querySelector("input")) {
      const box = html("input", { type: "text", value: settings.second, placeholder: "Type a second sentence",
        onchange: () => this.scope.set({ second: box.value }) });
      this.controls.replaceChildren(html("label", { class: "hl-field hl-grow" }, html("span", {}, "Second sentence"), box));
    }
  }

  point(row, column) {
    const said = this.maps.slice(0, 2).map((map, i) => {
      const { values } = this.sides[i];
      map.heatMap.mark(row, column);
      return row < values.rows && column < values.columns ? digits(values.values[row * values.columns + column]) : "–";
    });
    this.maps[2].heatMap.mark(row, column);
    this.scope.say(`${this.sides[0].rows[row] ?? row} reads ${this.sides[0].columns[column] ?? column}: ${said.join(" against ")}`, false);
  }

  leave() {}

  table() {
    return this.sides ? patternTable(this.sides[2], "difference") : null;
  }

  async drawings() {
    return this.sides ? Promise.all(this.maps.map(({ heatMap }) => heatMap.svgText())) : [];
  }
}

/** Mean or maximum over the heads of a layer, over the layers of a head number, or over all. */
export class SummaryView {
  constructor(scope, host) {
    this.scope = scope;
    this.controls = html("div", { class: "hl-row" });
    this.says = html("p", { class: "hl-caption" });
    this.map = html("div", { class: "hl-map" });
    host.append(html("div", { class: "hl-wide" }, this.controls, this.says, this.map));
    this.heatMap = new HeatMap(this.map, { point: (row, column) => this.point(row, column) });
  }

  async draw() {
    const { settings, palette, loaded } = this.scope;
    const { how, over } = settings;
    const spans = [["layer", `all heads of L${settings.layer}`], ["head", `H${settings.head} in all layers`], ["all", "all heads of all layers"]];
    this.controls.replaceChildren(
      select("Summary", [["mean", "mean"], ["maximum", "maximum"]], how, (value) => this.scope.set({ how: value })),
      select("Over", spans, over, (value) => this.scope.set({ over: value })),
    );
    const pattern = await this.scope.loadSummary();
    if (!pattern) return;
    this.name = `${how === "mean" ? "Mean" : "Maximum"} over ${spans.find(([value]) => value === over)[1]}`;
    this.shown = shownPattern(this.scope, pattern, loaded.head.mask.values);
    const rows = how === "mean" ? "Rows sum to one." : "A maximum over heads: rows sum to more than one.";
    this.says.textContent = `${this.name}. ${rows} ${pairsInWords(this.shown)}`;
    this.map.setAttribute("role", "img");
    this.map.setAttribute("aria-label", `${this.name}. ${pairsInWords(this.shown)}`);
    await this.heatMap.draw({ ...this.shown, scale: weightScale(this.shown) }, palette);
  }

  point(row, column) {
    this.heatMap.mark(row, column);
    const { values, rows, columns } = this.shown;
    this.scope.say(`${rows[row]} reads ${columns[column]}: ${digits(values.values[row * values.columns + column])}`, false);
  }

  leave() {}

  table() {
    return this.shown ? patternTable(this.shown, "summary") : null;
  }

  async drawings() {
    return this.shown ? [await this.heatMap.svgText()] : [];
  }
}

function patternTable({ values, rows, columns }, name) {
  return { name, values, rows, columns, corner: "query \\ key" };
}
