// One token's distribution over the whole vocabulary: bars to choose from, draws, and what is left.

import { button, digits, equals, fillOnce, html, math } from "../../dom.js";
import { operand, share, svg, wordsIn } from "../../dom.js";
import { TokenBars } from "../../marks/bars.js";
import { barsAt, chanceOf, entropy, leftInWords, placeAt } from "../../sampling.js";
import { powers, sortedTokens } from "../../sampling.js";
import { NAMES } from "../../sliders.js";
import { drawCurve, spacedRanks } from "./curve.js";

/** @import { Chance, Sorted } from "../../sampling.js" */
/** @import { Palette, SamplerSettings } from "../../wire.js" */
/** @import { ShownDistribution } from "./wire.js" */

const OTHERS = "all others";
const LEGEND = "grey: predicted; colour: sampled from; dashed: removed; ★ greedy";
const MANY = 100; // draws of a histogram
const MEANS = {
  entropy:
    "How open the choice is: −Σ p ln p, in nats (1 nat = 1.44 bits). 0 where one token is certain.",
  perplexity: "e to the entropy: among so many equally likely tokens the choice would be as open.",
};

export class Distribution {
  /** @type {Sorted} */
  #sorted;
  /** What is drawn from now. @type {Chance} */
  #chance;
  #entropyBefore = 0;
  /** @type {number[]} */
  #ranks = [];
  /** Places among the sorted logits of the tokens shown by name. @type {number[]} */
  #places = [];
  /** How often each place was drawn. @type {Map<number, number>} */
  #counts = new Map();
  #nDrawn = 0;
  /** The place drawn last. @type {number | null} */
  #drawn = null;
  /** What is shown; none before the first. @type {ShownDistribution | null} */
  data = null;

  canPut = false;

  /**
   * @param {(id: number) => void} pick a person chose the token of a bar, or the one drawn
   * @param {() => void} redraw show what was drawn
   */
  constructor(pick, redraw) {
    this.pick = pick;
    this.redraw = redraw;
    this.title = html("h3", null, "Next token");
    this.bars = new TokenBars((i) => this.#choose(/** @type {any} */ (this.data).ids[i]));
    this.others = html("p", { class: "hl-caption hl-one-line" });
    this.remaining = html("p", { class: "hl-remaining" });
    this.drawnSays = html("span", { class: "hl-caption", role: "status" });
    this.append = button("Append", () => this.#append(), { disabled: true });
    this.drawers = [
      button("Draw one", () => this.#draw(1)),
      button(`Draw ${MANY}`, () => this.#draw(MANY)),
    ];
    const row = { class: "hl-row hl-draws" };
    this.node = html(
      "section",
      { class: "hl-panel hl-distribution", "aria-label": "Distribution" },
      html("div", row, this.title, ...this.drawers, this.append, this.drawnSays),
      this.bars.node,
      axis(),
      this.remaining,
      this.others,
      html("p", { class: "hl-caption hl-one-line" }, LEGEND),
    );
    this.curve = svg("svg", { class: "hl-curve", role: "img", width: "100%" });
    this.table = html("table", { class: "hl-draws-table" });
    this.facts = html("dl", { class: "hl-numbers" });
    this.formula = html("div", { class: "hl-formula" });
    const left = { class: "hl-panel hl-operands hl-more-only", "aria-label": "What is left" };
    this.left = html("section", left, this.table, this.facts, this.curve, this.formula);
  }

  /**
   * Take a distribution: what was drawn from another one goes.
   *
   * @param {ShownDistribution} data
   * @param {Float32Array} logits (V,)
   */
  take(data, logits) {
    this.data = data;
    this.#sorted = sortedTokens(logits);
    const { ids, before } = this.#sorted;
    this.#entropyBefore = entropy(before);
    this.#ranks = spacedRanks(ids.length);
    this.#places = data.ids.map((id) => ids.indexOf(id));
    this.#forget();
  }

  /** What was drawn is of settings that hold no more. */
  #forget() {
    this.#counts.clear();
    this.#nDrawn = 0;
    this.#drawn = null;
  }

  /** Settings have changed: what was drawn was drawn with others. */
  changed() {
    if (this.#nDrawn) this.#forget();
  }

  /** What is on screen, by names. */
  read() {
    const { title, remaining, others, drawnSays: drawn, append, curve, formula } = this;
    const { bars, table, facts } = this;
    const rows = Array.from(table.rows, ({ cells }) => Array.from(cells, (one) => one.textContent));
    const numbers = Array.from(facts.children, ({ children: [name, value] }) => [
      ...[name.textContent, value.textContent],
    ]);
    return {
      ...wordsIn({ title, remaining, others, drawn, append, curve, formula }),
      ...{ bars: bars.read(), table: rows, facts: Object.fromEntries(numbers) },
    };
  }

  // --- what is shown ------------------------------------------------------------------------------

  /**
   * Everything from the logits: called for every movement of a slider.
   *
   * @param {SamplerSettings} sampling
   * @param {{palette: Palette, slack: number, title: string, canPut: boolean, isOver: boolean, isRunning: boolean, isWhole: boolean}} look
   *   `isWhole` says whether what is left is in sight, `isOver` says that a token is there already, which a chosen one would replace
   */
  show(sampling, { palette, slack, title, canPut, isOver, isRunning, isWhole }) {
    const { data } = this;
    if (!data) return;
    this.#chance = chanceOf(this.#sorted, sampling, slack);
    const { steps, tempered, count } = this.#chance;
    this.title.textContent = title;
    this.canPut = canPut;
    for (const drawer of this.drawers) drawer.disabled = isRunning; // it draws for itself
    this.append.textContent = isOver ? "Put instead" : "Append";
    this.#showBars(data);
    if (!isWhole) return;
    this.#showTable(steps);
    this.#showFacts();
    drawCurve(this.curve, tempered, this.#ranks, count, palette);
    this.#showFormula(sampling, data);
  }

  /** @param {ShownDistribution} data */
  #showBars({ ids, labels, signs, drawn }) {
    const { before, probs } = this.#chance;
    const isMany = this.#nDrawn > 1;
    const rows = this.#places.map((place, i) => {
      const bars = barsAt(this.#chance, place);
      const isThere = ids[i] === drawn;
      const n = this.#counts.get(place) ?? 0;
      const number = bars.isCut ? "removed" : share(bars.after);
      return {
        ...bars,
        label: labels[i],
        sign: `${isThere ? "▸ " : ""}${place ? "" : "★ "}`,
        share: n / Math.max(this.#nDrawn, 1),
        number: isMany && !bars.isCut ? `${number} · ${n}×` : number,
        said: `${share(bars.before)} predicted, ${share(bars.after)} sampled from`,
        isDrawn: isThere || place === this.#drawn,
        canPick: this.canPut,
      };
    });
    this.bars.show(rows, "Leading tokens");
    this.remaining.textContent = leftInWords(this.#chance);
    const named = new Set(this.#places);
    const [predicted, others] = [before, probs].map((all) =>
      all.reduce((sum, p, place) => (named.has(place) ? sum : sum + p), 0),
    );
    this.others.dataset.after = String(others);
    const rest = [...this.#counts].filter(([place]) => !named.has(place));
    const times = isMany ? `, drawn ${rest.reduce((sum, [, n]) => sum + n, 0)}×` : "";
    this.others.textContent = `${OTHERS}: ${share(predicted)} predicted, ${share(others)} sampled from${times}${signs && `; ${signs}`}`;
    this.append.disabled = !this.canPut || this.#drawn === null;
    this.#sayDrawn(labels);
  }

  /** @param {Chance["steps"]} steps */
  #showTable(steps) {
    const head = ["After", "tokens left", "share of mass kept"].map((text) =>
      html("th", { scope: "col" }, text),
    );
    fillOnce(this.table, steps.map(({ name }) => name).join(), () => [
      html("thead", null, html("tr", null, head)),
      html(
        "tbody",
        null,
        steps.map(({ name }) =>
          html(
            "tr",
            { "data-step": name },
            html("th", { scope: "row" }, NAMES[name]),
            html("td"),
            html("td"),
          ),
        ),
      ),
    ]);
    steps.forEach(({ count, mass }, i) => {
      const [left, kept] = this.table.tBodies[0].rows[i].querySelectorAll("td");
      left.textContent = count.toLocaleString("en");
      kept.textContent = share(mass);
    });
  }

  #showFacts() {
    const [before, nats] = [this.#entropyBefore, entropy(this.#chance.probs)];
    const facts = [
      [MEANS.entropy, "entropy before, nats", digits(before, 3), "entropy-before"],
      [MEANS.entropy, "entropy after, nats", digits(nats, 3), "entropy-after"],
      [MEANS.perplexity, "perplexity before", digits(Math.exp(before), 1), "perplexity-before"],
      [MEANS.perplexity, "perplexity after", digits(Math.exp(nats), 1), "perplexity-after"],
    ];
    this.facts.replaceChildren(
      ...facts.map(([title, name, value, key]) => {
        const number = { "data-number": key };
        return html("div", { title }, html("dt", null, name), html("dd", number, value));
      }),
    );
  }

  /**
   * The most likely token's probability with its numbers.
   *
   * @param {SamplerSettings} sampling
   * @param {ShownDistribution} data
   */
  #showFormula({ temperature }, { labels }) {
    const { logits, probs, count } = this.#chance;
    const [logit] = logits;
    const { total } = powers(logits, temperature, count);
    const log = logit / temperature + Math.log(total);
    /** @param {string} text */
    const mn = (text) => math("mn", null, text);
    /** @param {string} text */
    const mo = (text) => math("mo", null, text);
    /** @param {Element[]} parts */
    const row = (parts) => math("mrow", null, parts);
    const quotient = `${operand(logit)} / ${digits(temperature, 2)}`;
    const exponent = [mn(quotient), mo(log < 0 ? "+" : "−"), mn(operand(Math.abs(log)))];
    const power = math("msup", null, math("mi", null, "e"), row(exponent));
    const [relation, probability] = equals(probs[0]).split(" ");
    const p = [math("mi", null, "p"), mo("="), power, mo(relation), mn(probability)];
    const token = html("bdi", null, labels[0]);
    this.formula.replaceChildren(
      html("p", { class: "hl-caption" }, "★ greedy’s choice, ", token, ":"),
      math("math", { display: "block" }, row(p)),
    );
  }

  // --- what a person does -------------------------------------------------------------------------

  /** @param {number} id */
  #choose(id) {
    if (this.canPut) this.pick(id);
  }

  #append() {
    if (this.#drawn !== null) this.#choose(this.#sorted.ids[this.#drawn]);
  }

  /** @param {number} n */
  #draw(n) {
    this.#forget();
    const places = Array.from({ length: n }, () => placeAt(this.#chance.probs, Math.random()));
    for (const place of places) this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
    this.#nDrawn = n;
    this.#drawn = n === 1 ? places[0] : null;
    this.redraw();
  }

  /** @param {string[]} labels */
  #sayDrawn(labels) {
    const i = this.#drawn === null ? -1 : this.#places.indexOf(this.#drawn);
    if (this.#nDrawn > 1) this.drawnSays.textContent = "▾ share of 100 draws";
    else if (this.#drawn === null) this.drawnSays.textContent = "";
    else if (i < 0)
      this.drawnSays.textContent = `drawn: one of the others, rank ${this.#drawn + 1}`;
    else this.drawnSays.replaceChildren("drawn: ", html("bdi", null, labels[i]));
  }
}

/** The scale of the bars: the same for every distribution, so that they stand still. */
function axis() {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((at) => {
    const tick = html("span", null, share(at, 0));
    tick.style.left = `${100 * at}%`;
    return tick;
  });
  return html("div", { class: "hl-dist-axis", "aria-hidden": "true" }, html("div", null, ticks));
}
