// The rotor: pairs of dimensions as hands that turn with the position, and the score of two of them.

import { bytesOf } from "./arrays.js";
import { currentPalette, paletteVariables } from "./colors.js";
import { Conversation } from "./conversation.js";
import { digits, html, slider, svg } from "./dom.js";
import * as rotation from "./rotation.js";

const SHOWN = 16; // pairs drawn; the score takes all
const RADIUS = 40;
const ARC = 0.36; // of the radius
const BOX = 100; // side of a circle's drawing, its middle at 0
const SHARE = 36; // longest share's bar, to either side
const CHART = { height: 230, left: 56, right: 12, top: 14, bottom: 40 };
const LEAST_SPAN = 64; // distances in sight to either side; they double while the dot goes further
const TICKS = [10, 20, 25, 50]; // steps of an axis, times a power of ten
const KINDS = {
  rope: {
    score: "score q·k / √d",
    distance: "distance: query − key",
    dims: (i, n) => `dims ${i}, ${i + n}`,
    says: "Each pair of dimensions of the query and of the key turns with its own token’s position. The angle between the hands, and so the pair’s share of the score, changes only with the distance.",
  },
  wave: {
    score: "dot product",
    distance: "distance: first − second",
    dims: (i) => `dims ${2 * i}, ${2 * i + 1}`,
    says: "Cosine and sine of one frequency are where the tip of a hand stands, across and up; it turns with the position. The dot product of two positions adds up the cosines of the angles between the hands.",
  },
};

export class Rotor {
  constructor(root, { tell = () => {} } = {}) {
    this.root = root;
    this.conversation = new Conversation(tell);
    this.build();
    new ResizeObserver(() => this.data && this.drawChart()).observe(this.chart.parentElement);
  }

  build() {
    this.sliders = html("div", { class: "hl-turns" });
    this.says = html("p", { class: "hl-caption" });
    this.hands = html("div", { class: "hl-hands", role: "group", "aria-label": "Pairs" });
    this.spread = html("p", { class: "hl-caption" });
    this.facts = html("dl", { class: "hl-numbers" });
    this.actual = html("p", { class: "hl-caption", "data-actual": "" });
    this.chart = svg("svg", { class: "hl-distances", role: "img" });
    this.legend = html("p", { class: "hl-caption" });
    const pairs = html("section", { class: "hl-main", "aria-label": "Pairs of dimensions" });
    pairs.append(this.says, this.hands, this.spread);
    const score = html("section", { class: "hl-main", "aria-label": "Score" });
    score.append(this.facts, html("div", {}, this.chart), this.legend, this.actual);
    const figures = html("div", { class: "hl-rotor" }, pairs, score);
    this.root.replaceChildren(this.sliders, figures);
  }

  /** Take hands and settings from Python; what a person is changing stays. */
  receive(data, host = this.root) {
    const isNew = data.key !== this.data?.key;
    this.data = data;
    const palette = currentPalette(data.themes, host);
    const [first, second] = palette.series;
    const own = [
      ["--hl-first", first],
      ["--hl-second", second],
    ];
    for (const [name, value] of [...paletteVariables(palette), ...own])
      this.root.style.setProperty(name, value);
    this.settings = this.conversation.merged(data);
    if (isNew) this.open();
    this.redraw();
    this.root.dataset.drawn = `${data.key} rotor`;
  }

  /** New hands: everything that stays while they turn. */
  open() {
    const { data } = this;
    const [first, second] = [data.first, data.second].map(
      ({ bdata }) => new Float32Array(bytesOf(bdata).buffer),
    );
    this.sides = { first, second, frequencies: data.frequencies, divisor: data.divisor };
    this.kind = KINDS[data.kind];
    this.pairs = rotation.spread(data.frequencies.length, SHOWN);
    if (!this.pairs.includes(this.picked)) this.picked = this.widest();
    this.curve = rotation.scoresByDistance(this.sides, data.most);
    this.before = null;
    this.longest = Math.max(...lengths(first), ...lengths(second)) || 1;
    this.topShare = this.reach(this.widest()) || 1;
    this.says.textContent = `${this.kind.says} λ: positions for a full turn; bar and number: the pair’s share.`;
    const n = data.frequencies.length;
    this.spread.textContent =
      n > this.pairs.length
        ? `${this.pairs.length} of ${n} pairs, evenly spread; the score takes all ${n}. `
        : "";
    this.buildSliders();
    this.buildHands();
    this.buildFacts();
    this.showActual();
    this.drawChart();
  }

  /** The largest share a pair can have: its hands on each other. */
  reach(i) {
    const { first, second, divisor } = this.sides;
    return (lengths(first)[i] * lengths(second)[i]) / divisor;
  }

  /** The pair, of those drawn, whose share can be the largest. */
  widest() {
    return this.pairs.reduce((best, i) => (this.reach(i) > this.reach(best) ? i : best));
  }

  // --- sliders ------------------------------------------------------------------------------------

  /** Both positions, as far as this model has them. */
  positions() {
    const within = (x) => Math.min(Math.max(Math.round(Number(x)) || 0, 0), this.data.most);
    return [within(this.settings.first), within(this.settings.second)];
  }

  buildSliders() {
    const { names, most } = this.data;
    const [m, n] = this.positions();
    const field = (value) => ({ min: 0, max: most, step: 1, value });
    const labels = [
      slider(`Position of ${names.first}`, field(m), (first) => this.move({ first })),
      slider(`Position of ${names.second}`, field(n), (second) => this.move({ second })),
      slider("Move both", field(Math.min(m, n)), (low) => this.moveBoth(low)),
    ];
    ["first", "second", "both"].forEach((name, i) => {
      labels[i].dataset.side = name;
      labels[i].querySelector("input").dataset.setting = name;
    });
    this.inputs = labels.map((label) => label.querySelector("input"));
    this.outputs = labels.map((label) => label.querySelector(".hl-value"));
    this.sliders.replaceChildren(...labels);
  }

  /** One hand alone: another distance, so nothing to compare with. */
  move(changes) {
    this.before = null;
    this.set(changes);
  }

  /** Both by the same way; what the score was before is kept until the distance changes. */
  moveBoth(low) {
    const [m, n] = this.positions();
    this.before ??= { m, n, score: this.scoreAt(m, n) };
    const by = low - Math.min(m, n);
    this.set({ first: m + by, second: n + by });
  }

  set(changes) {
    this.settings = { ...this.settings, ...changes };
    this.conversation.change(changes);
    this.redraw();
  }

  showSliders([m, n]) {
    const values = [m, n, Math.min(m, n)];
    this.inputs[2].max = this.data.most - Math.abs(m - n);
    this.inputs[2].disabled = this.data.most === Math.abs(m - n);
    const words = [String(m), String(n), `${m} and ${n}`];
    this.inputs.forEach((input, i) => {
      if (Number(input.value) !== values[i]) input.value = values[i];
      input.setAttribute("aria-valuetext", words[i]);
      this.outputs[i].textContent = words[i];
    });
  }

  // --- what turns ---------------------------------------------------------------------------------

  scoreAt(m, n) {
    const { first, second, frequencies, divisor } = this.sides;
    return rotation.scoreAt(first, second, frequencies, divisor, m, n);
  }

  /** Everything that follows the sliders: called for every movement of one. */
  redraw() {
    const { first, second, frequencies, divisor } = this.sides;
    const [m, n] = this.positions();
    if (this.before && this.before.m - this.before.n !== m - n) this.before = null;
    const shares = rotation.sharesAt(first, second, frequencies, divisor, m, n);
    const turned = [
      rotation.turnedAll(first, frequencies, m),
      rotation.turnedAll(second, frequencies, n),
    ];
    this.showSliders([m, n]);
    this.tiles.forEach((tile) => this.turn(tile, turned, shares[tile.pair]));
    this.showFacts(m, n, turned, shares);
    if (spanOf(m - n, this.data.most) === this.span) this.placeDot(m - n);
    else this.drawChart();
  }

  buildHands() {
    const n = this.data.frequencies.length;
    this.tiles = this.pairs.map((pair) => {
      const line = (name) => svg("line", { class: `hl-hand-${name}`, x1: 0, y1: 0 });
      const parts = {
        arc: svg("path", { class: "hl-arc" }),
        first: line("first"),
        second: line("second"),
        share: svg("rect", { class: "hl-share", y: RADIUS + 4, height: 5 }),
        number: html("b", { "data-share": pair }),
      };
      const half = BOX / 2;
      const drawing = svg(
        "svg",
        { viewBox: `${-half} ${-half + 4} ${BOX} ${BOX}`, "aria-hidden": "true" },
        svg("circle", { r: RADIUS }),
        svg("line", { class: "hl-zero", x1: 0, x2: 0, y1: RADIUS + 2, y2: RADIUS + 11 }),
        ...[parts.arc, parts.second, parts.first, parts.share],
      );
      const dims = this.kind.dims(pair, n);
      const node = html(
        "button",
        { type: "button", class: "hl-hand", "data-pair": pair, onclick: () => this.pick(pair) },
        drawing,
        html("span", {}, dims),
        html("span", {}, `λ ${inPositions(this.data.frequencies[pair])}`),
        parts.number,
      );
      return { pair, dims, node, ...parts };
    });
    this.hands.replaceChildren(...this.tiles.map(({ node }) => node));
    this.showPicked();
  }

  pick(pair) {
    this.picked = pair;
    this.showPicked();
    this.drawChart();
    this.redraw();
  }

  showPicked() {
    for (const { pair, node } of this.tiles)
      node.setAttribute("aria-pressed", String(pair === this.picked));
  }

  /** One circle: both hands, the arc from the second to the first, and the share of the score. */
  turn(tile, turned, share) {
    const ends = turned.map((hands) => [hands[2 * tile.pair], hands[2 * tile.pair + 1]]);
    const scale = RADIUS / this.longest;
    ["first", "second"].forEach((name, side) => {
      tile[name].setAttribute("x2", (ends[side][0] * scale).toFixed(2));
      tile[name].setAttribute("y2", (-ends[side][1] * scale).toFixed(2));
    });
    tile.arc.setAttribute("d", wedge(ends[1], ends[0]));
    const length = (SHARE * share) / this.topShare;
    tile.share.setAttribute("x", Math.min(0, length));
    tile.share.setAttribute("width", Math.abs(length));
    tile.number.textContent = signed(share);
    const angle = degrees(rotation.angleBetween(ends[1], ends[0]));
    tile.node.setAttribute(
      "aria-label",
      `${tile.dims}, a full turn in ${inPositions(this.data.frequencies[tile.pair])} positions: angle between the hands ${angle}, share ${signed(share)}`,
    );
  }

  // --- numbers ------------------------------------------------------------------------------------

  buildFacts() {
    const dims = html("span", { "data-picked": "" });
    const facts = [
      ["score", this.kind.score],
      ["before", "before “Move both”"],
      ["drift", "changed since by"],
      ["distance", "distance"],
      ["angle", [dims, ": turned apart by"]],
      ["share", "share of this pair"],
    ];
    this.numbers = Object.fromEntries(
      facts.map(([name]) => [name, html("dd", { "data-number": name })]),
    );
    this.dims = dims;
    this.facts.replaceChildren(
      ...facts.map(([name, words]) =>
        html("div", {}, html("dt", {}, ...[words].flat()), this.numbers[name]),
      ),
    );
  }

  showFacts(m, n, turned, shares) {
    const i = this.picked;
    const score = shares.reduce((sum, share) => sum + share, 0);
    const angle = withinHalfTurn((m - n) * this.data.frequencies[i]);
    this.dims.textContent = this.kind.dims(i, shares.length);
    const values = { score, distance: m - n, angle, share: shares[i] };
    const texts = {
      score: digits(score),
      distance: String(m - n).replace("-", "−"),
      angle: degrees(angle),
      share: signed(shares[i]),
      before: "–",
      drift: "–",
    };
    if (this.before) {
      values.before = this.before.score;
      values.drift = score - this.before.score;
      texts.before = digits(values.before);
      texts.drift = exponent(values.drift);
    }
    for (const [name, node] of Object.entries(this.numbers)) {
      node.textContent = texts[name];
      node.dataset.value = values[name] ?? "";
    }
  }

  /** What the model itself got, beside what is computed here. */
  showActual() {
    const { actual } = this.data;
    this.actual.hidden = !actual;
    if (!actual) return;
    const here = this.scoreAt(actual.first, actual.second);
    const error = Math.abs(here - actual.score);
    const number = (name, text, value) =>
      html("b", { "data-number": name, "data-value": value }, text);
    this.actual.replaceChildren(
      `The model’s own score at ${actual.first}, ${actual.second}: `,
      number("actual", digits(actual.score), actual.score),
      "; here ",
      number("here", digits(here), here),
      ", difference ",
      number("error", exponent(error), error),
      ".",
    );
  }

  // --- the score over the distance ----------------------------------------------------------------

  /** The line and its axes, which no position changes. */
  drawChart() {
    const { most, kind } = this.data;
    const [m, n] = this.positions();
    const span = (this.span = spanOf(m - n, most));
    const width = Math.max(280, this.chart.parentElement.clientWidth);
    const { height, left, right, top, bottom } = CHART;
    const seen = (scores) => scores.subarray(most - span, most + span + 1);
    const curve = seen(this.curve);
    // Beside the sum of all waves a single one is flat.
    const shares = rotation.scoresByDistance(this.sides, most, this.picked);
    const wave = kind === "wave" ? [] : seen(shares);
    const low = Math.min(0, ...curve, ...wave);
    const high = Math.max(0, ...curve, ...wave);
    const room = high - low || 1;
    const x = (distance) => left + ((distance + span) / (2 * span || 1)) * (width - left - right);
    const y = (score) => top + ((high - score) / room) * (height - top - bottom);
    this.places = { x, y };
    const line = (scores, name) =>
      svg("path", {
        class: name,
        d: `M${Array.from(scores, (score, i) => `${x(i - span).toFixed(1)} ${y(score).toFixed(1)}`).join("L")}`,
      });
    this.now = svg("line", { class: "hl-now-line", y1: top, y2: height - bottom });
    this.dot = svg("circle", { class: "hl-now-dot", r: 5.5 });
    this.chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.chart.setAttribute("width", width);
    this.chart.setAttribute("height", height);
    this.chart.replaceChildren(
      ...axes({ x, y, width, low, high, span, title: this.kind.distance }),
      ...(wave.length ? [line(wave, "hl-wave")] : []),
      line(curve, "hl-score-line"),
      this.now,
      this.dot,
    );
    this.showLegend(wave.length > 0);
    this.placeDot(m - n);
  }

  showLegend(hasShare) {
    const dims = this.kind.dims(this.picked, this.data.frequencies.length);
    const thick = html("i", { class: "hl-key hl-key-score" });
    const thin = html("i", { class: "hl-key hl-key-wave" });
    const share = [thin, ` share of ${dims} (click a circle for another)`];
    this.legend.replaceChildren(thick, ` ${this.kind.score}  `, ...(hasShare ? share : []));
  }

  placeDot(distance) {
    const { x, y } = this.places;
    const score = this.curve[distance + this.data.most];
    this.dot.setAttribute("cx", x(distance));
    this.dot.setAttribute("cy", y(score));
    for (const end of ["x1", "x2"]) this.now.setAttribute(end, x(distance));
    this.chart.setAttribute(
      "aria-label",
      `${this.kind.score} over the distance, from ${-this.span} to ${this.span}. Now at distance ${distance}: ${digits(score)}.`,
    );
  }
}

/** How many distances are in sight to either side of 0. */
function spanOf(distance, most) {
  let span = LEAST_SPAN;
  while (span < 1.25 * Math.abs(distance)) span *= 2;
  return Math.min(span, most);
}

/** The same direction as an angle from −π to π. */
function withinHalfTurn(angle) {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/** Lines and numbers of the chart's axes. */
function axes({ x, y, width, low, high, span, title }) {
  const { height, left, right, top, bottom } = CHART;
  const text = (at, words, anchor = "middle") =>
    svg("text", { ...at, "text-anchor": anchor }, words);
  const across = ticks(-span, span, (width - left - right) / 60);
  const up = ticks(low, high, 4);
  return [
    ...up.map((score) =>
      svg("line", {
        class: "hl-grid-line",
        x1: left,
        x2: width - right,
        y1: y(score),
        y2: y(score),
      }),
    ),
    ...up.map((score) => text({ x: left - 6, y: y(score) + 4 }, plain(score), "end")),
    svg("line", { class: "hl-grid-line", x1: x(0), x2: x(0), y1: top, y2: height - bottom }),
    ...across.map((distance) => text({ x: x(distance), y: height - bottom + 16 }, plain(distance))),
    text({ x: (left + width - right) / 2, y: height - 5 }, title),
  ];
}

/** Round numbers from low to high, about so many. */
function ticks(low, high, n) {
  const rough = (high - low) / Math.max(n, 2) || 1;
  const power = 10 ** (Math.floor(Math.log10(rough)) - 1);
  const step = power * (TICKS.find((factor) => factor * power >= rough) ?? 100);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** The slice between two hands the shorter way round, from the one to the other. */
function wedge(from, to) {
  const start = Math.atan2(from[1], from[0]);
  const angle = rotation.angleBetween(from, to);
  const at = (a) => {
    const [x, y] = rotation.turned([RADIUS * ARC, 0], a);
    return `${x.toFixed(2)} ${(-y).toFixed(2)}`;
  };
  const r = RADIUS * ARC;
  return `M0 0L${at(start)}A${r} ${r} 0 0 ${angle > 0 ? 0 : 1} ${at(start + angle)}Z`;
}

function lengths(hands) {
  return Array.from({ length: hands.length / 2 }, (_, i) =>
    Math.hypot(hands[2 * i], hands[2 * i + 1]),
  );
}

function signed(value) {
  return `${value < 0 ? "" : "+"}${digits(value, 3)}`;
}

function degrees(radians) {
  return `${digits((radians * 180) / Math.PI, 1)}°`;
}

function plain(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

function exponent(value) {
  return (value ? value.toExponential(0) : "0").replaceAll("-", "−");
}

/** A wavelength with as many digits as matter. */
function inPositions(frequency) {
  const length = rotation.wavelength(frequency);
  if (!Number.isFinite(length)) return "∞";
  return length < 100 ? length.toFixed(1) : Math.round(length).toLocaleString("en");
}
