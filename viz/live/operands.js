// One cell taken apart: the query and the key number by number, their products, the row it is in,
// and what flows from the value. Built once for a head's sizes; a hover only changes attributes.

import { colorAt, ramp } from "./colors.js";
import { digits, html, math, svg } from "./dom.js";
import { logSumExp, reach, rowOf } from "./maths.js";

const WIDTH = 400;
const STRIP = 18;
const BARS = 64;

export class Operands {
  constructor(host, say) {
    this.host = host;
    this.say = say;
  }

  /** Lay out the panel for a head: {head, steps, labels}; `bias` may be null. */
  open({ head, steps, queryLabels, keyLabels }, palette) {
    Object.assign(this, { head, steps, queryLabels, keyLabels, palette });
    const size = head.q.columns;
    this.signed = ramp(palette.diverging);
    this.vectorReach = Math.max(reach(head.q.values), reach(head.k.values));
    this.valueReach = reach(head.v.values);
    this.parts = {
      query: new Strip(size),
      key: new Strip(size),
      products: new Bars(size, true),
      row: new Bars(head.k.rows, false),
      flow: new Strip(size),
      given: new Bars(head.k.rows, true),
    };
    this.title = html("h3", { class: "hl-cell-title" });
    this.numbers = html("dl", { class: "hl-numbers" });
    this.values = {};
    for (const [name, label] of this.terms()) this.addNumber(name, label);
    this.maskTerm = this.numbers.querySelector("[data-term=masked]");
    this.host.replaceChildren(
      this.title,
      this.figure("query", "query q"),
      this.figure("key", "key k"),
      this.figure("products", "q × k, number by number; their sum is q·k"),
      this.numbers,
      this.figure("row", "softmax over the row; this cell marked"),
      this.figure("flow", "weight × value v: what flows from this key"),
      this.figure("given", "weight × value in this dimension, key by key; their sum is its z"),
    );
  }

  terms() {
    const root = `÷ √${this.head.q.columns}`;
    const bias = [["biased", this.head.bias ? "+ bias" : "+ bias (none)"]];
    return [
      ["product", "q·k"],
      ["scaled", root],
      ...bias,
      ["masked", "mask"],
      ["weights", "softmax"],
      ["output", "z"],
    ];
  }

  addNumber(name, label) {
    this.values[name] = html("dd", { "data-number": name });
    this.numbers.append(
      html(
        "div",
        { "data-step": name },
        html("dt", { "data-term": name }, label),
        this.values[name],
      ),
    );
  }

  figure(name, caption) {
    const part = this.parts[name];
    return html("figure", { "data-part": name }, html("figcaption", {}, caption), part.node);
  }

  /** Show the numbers behind one cell; `dimension` is the one of z to spell out. */
  show(query, key, { pinned, stage, dimension = 0 }) {
    const at = query * this.head.k.rows + key;
    this.host.dataset.stage = stage;
    this.paintVectors(query, key, dimension);
    for (const [name, node] of Object.entries(this.values)) {
      node.textContent =
        name === "output" ? this.outputText(query, dimension) : this.text(name, at);
    }
    for (const node of this.numbers.children) {
      node.classList.toggle("hl-now", node.dataset.step === stage);
    }
    this.maskTerm.textContent = this.head.mask.values[at] ? "mask: open" : "mask: hidden";
    this.title.replaceChildren(
      html("bdi", {}, this.queryLabels[query]),
      " → ",
      html("bdi", {}, this.keyLabels[key]),
      html("small", {}, `query ${query}, key ${key}${pinned ? ", pinned" : ""}`),
    );
    this.describe(query, key, at, pinned);
  }

  paintVectors(query, key, dimension) {
    const { head, steps, parts, palette } = this;
    const [q, k, v] = [rowOf(head.q, query), rowOf(head.k, key), rowOf(head.v, key)];
    const weights = rowOf(steps.weights, query);
    const within = (x, most) => colorAt(this.signed, x, -most, most);
    parts.query.paint(q, (x) => within(x, this.vectorReach));
    parts.key.paint(k, (x) => within(x, this.vectorReach));
    parts.products.paint(
      Float64Array.from(q, (x, i) => x * k[i]),
      palette,
    );
    parts.row.paint(weights, palette, key);
    parts.flow.paint(v, (x) => within(weights[key] * x, this.valueReach));
    parts.given.paint(
      Float64Array.from(weights, (p, j) => p * rowOf(head.v, j)[dimension]),
      palette,
      key,
    );
  }

  outputText(query, dimension) {
    return `z[${dimension}] = ${digits(rowOf(this.steps.output, query)[dimension])}`;
  }

  text(name, at) {
    return digits(this.steps[name].values[at]);
  }

  describe(query, key, at, pinned) {
    const { product, scaled, weights } = this.steps;
    const words =
      `${this.queryLabels[query]} reads ${this.keyLabels[key]}: q·k ${digits(product.values[at])}, scaled ` +
      `${digits(scaled.values[at])}, ${this.head.mask.values[at] ? "" : "masked, "}weight ${digits(weights.values[at])}`;
    this.say(words, pinned);
  }

  /** The panel's drawings in sight, each with its caption, for export. */
  drawings() {
    return [...this.host.querySelectorAll("figure")]
      .filter((figure) => figure.getBoundingClientRect().height > 0)
      .map((figure) => ({
        caption: figure.querySelector("figcaption").textContent,
        drawing: figure.querySelector("svg"),
      }));
  }
}

/** A vector as a row of coloured cells. */
class Strip {
  constructor(size) {
    const width = WIDTH / size;
    this.cells = Array.from({ length: size }, (_, i) =>
      svg("rect", { x: i * width, y: 0, width: width + 0.3, height: STRIP }),
    );
    this.node = svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${STRIP}`,
        preserveAspectRatio: "none",
        height: STRIP,
        "aria-hidden": "true",
      },
      this.cells,
    );
  }

  paint(values, color) {
    this.cells.forEach((cell, i) => cell.setAttribute("fill", color(values[i])));
  }
}

/** Numbers as bars, from a line in the middle when they are signed; drawn as one path each colour. */
class Bars {
  constructor(size, signed) {
    this.size = size;
    this.base = signed ? BARS / 2 : BARS;
    this.signed = signed;
    this.up = svg("path");
    this.down = svg("path");
    this.marked = svg("path");
    this.line = svg("line", { x1: 0, x2: WIDTH, y1: this.base, y2: this.base, "stroke-width": 1 });
    this.node = svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${BARS}`,
        preserveAspectRatio: "none",
        height: BARS,
        "aria-hidden": "true",
      },
      this.up,
      this.down,
      this.marked,
      this.line,
    );
  }

  paint(values, palette, marked = -1) {
    const most = this.signed ? reach(values) : 1;
    const paths = { up: "", down: "", marked: "" };
    const width = WIDTH / this.size;
    const room = this.signed ? BARS / 2 - 2 : BARS - 2;
    for (let i = 0; i < this.size; i++) {
      const height = (values[i] / most) * room;
      const kind = i === marked ? "marked" : height < 0 ? "down" : "up";
      const least = i === marked && Math.abs(height) < 1.5 ? 1.5 : height;
      const x = i * width + width * 0.1;
      paths[kind] +=
        `M${x.toFixed(2)} ${this.base}v${(-least).toFixed(2)}h${(width * 0.8).toFixed(2)}V${this.base}z`;
    }
    const [low, , , , , , high] = palette.diverging;
    const fills = this.signed
      ? { up: high, down: low, marked: palette.frame }
      : { up: palette.muted, down: low, marked: palette.accent };
    for (const [kind, path] of Object.entries(paths)) {
      this[kind].setAttribute("d", path);
      this[kind].setAttribute("fill", fills[kind]);
    }
    this.line.setAttribute("stroke", palette.line);
  }
}

// --- the formula of a stage, in general and with the numbers of a cell --------------------------------

const number = (text) => math("mn", {}, text);
const letter = (text) => math("mi", {}, text);
const sign = (text) => math("mo", {}, text);
const sub = (base, index) => math("msub", {}, letter(base), letter(index));
const rooted = (size) => math("msqrt", {}, number(size));
const over = (above, below) => math("mfrac", {}, math("mrow", {}, above), math("mrow", {}, below));
const power = (text) => math("msup", {}, letter("e"), math("mrow", {}, text));

// The formula of each stage, from {head, steps, query, key, at, dimension, size} and `value`, the
// cell's number at a step.
const STAGE_FORMULAS = {
  product: ({ value, size }) => [
    letter("q·k"),
    sign("="),
    math(
      "munderover",
      {},
      sign("∑"),
      math("mrow", {}, letter("d"), sign("="), number("1")),
      number(size),
    ),
    sub("q", "id"),
    sub("k", "jd"),
    sign("="),
    number(value("product")),
  ],
  scaled: ({ value, size }) => [
    over([number(value("product"))], [rooted(size)]),
    sign("="),
    number(value("scaled")),
  ],
  biased: ({ head, at, value }) => [
    number(value("scaled")),
    sign("+"),
    sub("b", "ij"),
    sign("="),
    number(value("scaled")),
    sign("+"),
    number(head.bias ? digits(head.bias.values[at]) : "0"),
    sign("="),
    number(value("biased")),
  ],
  masked: ({ head, at, value }) => [
    number(value("biased")),
    sign("+"),
    number(head.mask.values[at] ? "0" : "(−∞)"),
    sign("="),
    number(value("masked")),
  ],
  weights: ({ head, steps, query, at }) => [
    over([power([sub("s", "ij")])], [sign("∑"), power([sub("s", "ij′")])]),
    sign("="),
    ...softmaxOf(head, steps, query, at),
  ],
  output: ({ head, steps, query, key, dimension, value }) => [
    math("msub", {}, letter("z"), math("mrow", {}, letter("i"), number(String(dimension)))),
    sign("="),
    sign("∑"),
    sub("p", "ij"),
    math("msub", {}, letter("v"), math("mrow", {}, letter("j"), number(String(dimension)))),
    sign("="),
    number(digits(rowOf(steps.output, query)[dimension])),
    math("mtext", {}, "\u00a0, from this key\u00a0"),
    number(value("weights")),
    sign("·"),
    number(digits(rowOf(head.v, key)[dimension])),
  ],
};

/** MathML of one stage with the numbers of cell (query, key), or of (query, dimension) of z. */
export function formulaOf(stage, { head, steps }, query, key, dimension) {
  const at = query * head.k.rows + key;
  const value = (name) => digits(steps[name].values[at]);
  const size = String(head.q.columns);
  const parts = STAGE_FORMULAS[stage]({ head, steps, query, key, at, dimension, size, value });
  return math("math", { display: "block", "data-stage": stage }, math("mrow", {}, parts));
}

function softmaxOf(head, steps, query, at) {
  if (!head.mask.values[at]) return [power([number("−∞")]), sign("="), number("0")];
  const total = logSumExp(rowOf(steps.masked, query));
  const score = steps.masked.values[at];
  return [
    power([number(digits(score)), sign(total < 0 ? "+" : "−"), number(digits(Math.abs(total)))]),
    sign("="),
    number(digits(steps.weights.values[at])),
  ];
}
