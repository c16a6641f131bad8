// A text while it is written, the sliders it is drawn with, the distribution of the next token or of a
// chosen one, and what was attended to.

import { weightColors } from "../colors.js";
import { same } from "../conversation.js";
import { button, check, html, radios, wordsIn } from "../dom.js";
import { pictureMenu } from "../export.js";
import { HeatMap } from "../marks/heatmap.js";
import { Tokens } from "../marks/tokens.js";
import { Instrument, partOf } from "../instrument.js";
import { RolesLegend } from "../looks.js";
import { argmax } from "../measures.js";
import { samplingOf } from "../sampling.js";
import { NO_MAP, pictureOf, shownOf } from "./writing/picture.js";
import { Distribution } from "./writing/distribution.js";
import { Feed } from "./writing/feed.js";
import { AllSliders } from "./writing/sliders.js";
import { beforeAnyStep, lookOf, stepInWords, weighed } from "./writing/step.js";

/** @import { Place } from "../instrument.js" */
/** @import { SamplerSettings } from "../wire.js" */
/** @import { Act, More, Question, ShownDistribution, WritingData, WritingStep } from "./writing/wire.js" */

const QUIET_MS = 60; // what is dragged acts soon
const QUIET_FED_MS = 700; // it acts by the questions then; the page may hear of it later
const PATIENCE_MS = 500; // before a page that did not answer is run again
const MAP_REST_MS = 600; // between two drawings of the map
const MAP_HEIGHT = 130;

/** @extends {Instrument<WritingData>} */
export class Writing extends Instrument {
  /** @override */
  static needs = ["given", "row", "mean"];
  #cancelMap = () => {};
  /** When the map was drawn last. */
  #mapDrawn = -Infinity;
  /** What the map on screen shows. @type {unknown[]} */
  #mapped = [];
  /** Whether a slider was moved since the token was chosen. */
  #isTouched = false;

  /** @param {Place} place */
  constructor(place) {
    super(place, QUIET_MS);
    const { root } = this;
    this.text = new Tokens("hl-text", "Text", {
      pick: (at) => this.go(at),
      leave: () => this.go(Infinity),
    });
    this.roles = new RolesLegend();
    this.sliders = new AllSliders(
      (changes) => this.#steer(changes),
      () => this.#showDistribution(),
    );
    this.distribution = new Distribution(
      (token) => this.#ask({ kind: "put", at: this.distribution.data?.at ?? 0, token }),
      () => this.#showDistribution(),
    );
    this.says = html("p", { class: "hl-caption hl-says", role: "status" });
    this.note = html("p", { class: "hl-caption hl-note-line", role: "status" });
    this.map = html("div", { class: "hl-map", role: "img" });
    this.noMap = html("p", { class: "hl-caption hl-no-rows" }, NO_MAP);
    this.heatMap = new HeatMap(this.map, this.lifetime, {
      pick: (row) => this.go(this.data.n_prompt + row),
      most: MAP_HEIGHT,
    });
    const heads = [
      { name: "no", text: "this head" },
      { name: "yes", text: "mean of all heads" },
    ];
    this.averaged = radios("hl-averaged", "Attention of", heads, "no", (value) =>
      this.set({ averaged: value === "yes" }),
    );
    this.again = button("Again from here", () =>
      this.#ask({ kind: "again", at: /** @type {number} */ (this.settings.at), token: null }),
    );
    this.writeOn = button("Write on", () =>
      this.#ask({ kind: this.data.running ? "stop" : "write" }),
    );
    this.newest = button("To the next token", () => this.go(this.data.labels.length));
    this.feed = this.#makeFeed();
    root.replaceChildren(this.#layOut());
  }

  #makeFeed() {
    return new Feed(this.lifetime, {
      wants: () => this.#isFed,
      ask: (known) => this.model.ask(this.#question(known)),
      fits: ({ key, known, steps }) => {
        const here = this.data.steps.length;
        return key === this.data.key && known <= here && known + steps.length >= here;
      },
      take: (more) => {
        this.#grow(more);
        if (!more.running) this.#rest();
      },
      failed: () => this.lifetime.timeout(() => this.#rest(), PATIENCE_MS),
    });
  }

  #layOut() {
    const { text, sliders, distribution } = this;
    const act = html("div", { class: "hl-row" }, this.writeOn, this.again, this.newest);
    const name = { class: "hl-panel hl-written-text", "aria-label": "Text and how it came about" };
    const written = html("section", name, this.roles.node, text.node, act, this.says, this.note);
    const title = html("h3", null, "Attention of each new token");
    const row = html("div", { class: "hl-row hl-head-row" }, title, this.averaged);
    const attention = {
      class: "hl-panel hl-attention",
      "aria-label": "Attention of each new token",
    };
    const map = html("section", attention, row, this.noMap, this.map);
    const saves = pictureMenu(() => shownOf(this), this.note);
    const panels = [written, sliders.node, distribution.node, map, distribution.left, saves];
    return html("div", { class: "hl-writing" }, panels);
  }

  /**
   * What was answered goes on, where no page is drawn again or one comes that was drawn before.
   *
   * @override
   */
  get spec() {
    const [{ data }, told] = [this, super.spec];
    const isSame = data?.key === told.key && data.head === told.head;
    if (data?.alone || (isSame && data.steps.length > told.steps.length)) return data;
    const steps = weighed(told.steps, this.arrays, told.n_prompt);
    return { ...told, steps, given: this.arrays.given.values };
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    if (isNew) this.#isTouched = false;
    this.redraw();
    this.conversation.quiet = this.#isFed ? QUIET_FED_MS : QUIET_MS;
    this.feed.goOn();
  }

  /** Whether the next tokens come without a run of the page. */
  get #isFed() {
    return this.data.running && this.model.canAsk;
  }

  /**
   * @param {number | null} known
   * @returns {Question}
   */
  #question(known) {
    const settings = samplingOf(this.settings);
    return { known: known ?? this.data.steps.length, settings, at: this.settings.at };
  }

  /**
   * The text has grown.
   *
   * @param {More} more
   */
  #grow({ known, steps, labels, axis, shown, arrays, ...now }) {
    const { data } = this;
    const n = data.n_prompt + known;
    const logits = /** @type {Float32Array} */ (arrays.logits.values);
    this.data = {
      ...{ ...data, ...now, shown: [{ ...shown, logits }] },
      steps: [...data.steps.slice(0, known), ...weighed(steps, arrays, n)],
      labels: [...data.labels.slice(0, n), ...labels],
      axis: [...data.axis.slice(0, n), ...axis],
    };
    this.redraw();
    if (!now.running) this.conversation.quiet = QUIET_MS;
  }

  /**
   * Have the page run again, for what stands outside of here and to write on where nobody answered;
   * what a person changed meanwhile goes along.
   */
  #rest() {
    if (!this.data.alone) this.model.choose({ rests: this.settings.rests + 1 });
  }

  // --- what a person does -------------------------------------------------------------------------

  /**
   * Choose a token of the whole text; after the last the view follows what is written.
   *
   * @param {number} at
   */
  go(at) {
    this.#isTouched = false;
    this.set({ at: at >= this.data.labels.length ? null : Math.max(1, at) });
    const wanted = this.settings.at ?? this.data.labels.length;
    const isHere = this.data.shown.some((one) => one.at === wanted);
    if (this.model.canAsk && !this.#isFed && !isHere) this.#ask(null);
  }

  /**
   * While text is written the next question says it, and the page hears of it later.
   *
   * @param {Partial<SamplerSettings>} changes
   */
  #steer(changes) {
    this.#isTouched = true;
    this.setQuietly(changes);
    this.distribution.changed();
    this.#showSliders();
    this.#showDistribution();
  }

  /**
   * Have Python do what a person does here, or bring what a chosen token was drawn from.
   *
   * @param {Act | null} act
   */
  async #ask(act) {
    const { steps, n_prompt, key } = this.data;
    const known = act?.at === undefined ? steps.length : act.at - n_prompt;
    if (act?.at !== undefined) this.setQuietly({ at: null });
    try {
      const asked = this.model.ask({ ...this.#question(known), act });
      const more = await this.lifetime.busy(asked);
      const isOther = ![key, more.key].includes(this.data.key); // another text came meanwhile
      if (isOther || this.lifetime.isOver) return;
      this.#grow(more);
      if (act) this.#rest(); // the address then has it
      this.feed.goOn();
    } catch (error) {
      this.note.textContent = /** @type {Error} */ (error).message;
    }
  }

  // --- what is shown ------------------------------------------------------------------------------

  /** The number of the new token that is shown: the chosen one, else the newest; −1 for none. */
  #at() {
    const { steps, n_prompt } = this.data;
    const { at } = this.settings;
    return at === null ? steps.length - 1 : Math.min(at - n_prompt, steps.length - 1);
  }

  /** @override */
  async redraw() {
    this.#cancelMap();
    const { steps, key, note, n_prompt, labels } = this.data;
    const { at, averaged } = this.settings;
    check(this.averaged, averaged ? "yes" : "no");
    this.note.textContent = note;
    this.writeOn.hidden = !this.data.alone || !this.model.canAsk;
    this.writeOn.textContent = this.data.running ? "Stop" : "Write on";
    this.again.disabled = !this.model.canAsk || at === null || at < n_prompt || at >= labels.length;
    this.newest.disabled = at === null;
    this.#showText();
    this.#showSliders();
    this.#showDistribution();
    this.#sayStep();
    if (steps.length) this.#showMapSoon();
    this.map.hidden = !steps.length;
    this.noMap.hidden = steps.length > 0;
    const drawn = `${key} writing ${steps.length} ${steps.length ? this.#at() : ""}`;
    await this.lifetime.busy(this.#takeDistribution());
    if (steps === this.data.steps) this.root.dataset.drawn = drawn;
  }

  /** The place whose distribution is shown: the chosen one, else the newest there is. */
  #place() {
    const { shown } = this.data;
    const place = shown.findIndex(({ at }) => at === this.settings.at);
    return place < 0 ? shown.length - 1 : place;
  }

  /** Show the distribution of that place; until its logits are here the one before stays. */
  async #takeDistribution() {
    const place = this.#place();
    const about = this.data.shown[place];
    if (about.key === this.distribution.data?.key) return;
    /** @type {ShownDistribution[]} */
    const all = this.model.get("spec").shown;
    const at = all.findIndex(({ key }) => key === about.key);
    const loaded =
      at < 0 || about.logits ? null : await this.model.load("logits", at).catch(() => null);
    const values = /** @type {Float32Array | undefined} */ (loaded?.values);
    const logits = about.logits ?? values; // gone: the page brings them again
    if (!logits || about.key !== this.data.shown[this.#place()].key) return;
    this.distribution.take(about, logits);
    this.#showDistribution();
  }

  #showSliders() {
    const { bounds, vocab_size, greedy } = this.data;
    const more = { vocabulary: vocab_size, isFixed: greedy };
    this.sliders.show(samplingOf(this.settings), bounds, more);
  }

  #showDistribution() {
    const { n_prompt, labels, greedy, slack, running } = this.data;
    const shown = this.distribution.data;
    if (!shown) return;
    const now = { ...this.settings, top_k: greedy ? 1 : this.settings.top_k };
    const then = this.#isTouched ? null : shown.sampling;
    const [isOver, isPrompt] = [shown.at < labels.length, shown.at < n_prompt];
    const drawnFrom = then ? "Drawn from" : "Drawn from, sliders as now";
    const title = isPrompt ? "Predicted in the prompt" : isOver ? drawnFrom : "Next token";
    const look = { palette: this.palette, slack, title };
    const isWhole = this.sliders.more.open;
    const can = { canPut: !isPrompt && this.model.canAsk, isOver, isRunning: running, isWhole };
    this.distribution.show(then ?? now, { ...look, ...can });
  }

  /**
   * The weights a step is shown with.
   *
   * @param {WritingStep} step
   */
  #weights(step) {
    return this.settings.averaged ? step.mean : step.row;
  }

  // --- the text -----------------------------------------------------------------------------------

  /** The text: each token shaded by the attention it got from the position before the step. */
  #showText() {
    const [at, { labels, n_prompt, steps, marks }] = [this.#at(), this.data];
    const step = steps[at];
    const weights = step ? this.#weights(step) : new Float32Array();
    const colorOf = weightColors(this.palette);
    const marked = new Map(marks.map((mark) => [n_prompt + mark.at, mark.text]));
    const tokens = labels.map((label, i) => {
      const look = lookOf(this.data, i, step && { ...step, weights, at }, colorOf);
      const mark = marked.get(i);
      const is = { new: i >= n_prompt, chosen: i === this.settings.at, noted: mark };
      const title = [mark, look.title].filter(Boolean).join("; ");
      return { ...look, label, title, is: { ...look.is, ...is }, isFixed: i === 0 };
    });
    this.text.show(tokens);
    this.roles.show(tokens.map(({ look = "" }) => look));
  }

  /** The step in words: how its token was drawn, and what was attended to. */
  #sayStep() {
    const at = this.#at();
    const { averaged, at: chosen } = this.settings;
    const step = this.data.steps[at];
    const weights = step ? this.#weights(step) : new Float32Array();
    const words = step
      ? stepInWords(this.data, at, { averaged, weights })
      : [beforeAnyStep(this.data, chosen)];
    this.says.replaceChildren(...words);
  }

  // --- the map ------------------------------------------------------------------------------------

  /** The map takes longer than a token does, so while text streams in it is drawn now and then. */
  #showMapSoon() {
    const at = this.#at();
    const rest = this.#mapDrawn + MAP_REST_MS - performance.now();
    const draw = () => {
      this.#mapDrawn = performance.now();
      this.#showMap(at);
    };
    if (rest <= 0 || !this.data.running) draw();
    else this.#cancelMap = this.lifetime.timeout(draw, rest);
  }

  /**
   * One row per new token, one column per token of the text.
   *
   * @param {number} at
   */
  async #showMap(at) {
    const { data } = this;
    const { key, steps, head } = data;
    this.map.setAttribute("aria-label", this.says.textContent ?? "");
    const { averaged } = this.settings;
    const wanted = [key, steps.length, averaged, head, this.palette.background];
    if (!same(this.#mapped, wanted))
      await this.heatMap.draw(
        pictureOf(this.data, (step) => this.#weights(step)),
        this.palette,
      );
    if (data !== this.data) return; // another text came while this one's map was drawn
    this.#mapped = wanted;
    const step = steps[at];
    if (step) this.heatMap.mark(at, step.n_dropped + argmax(this.#weights(step)));
  }

  /** What is on screen, by names. */
  read() {
    const { says, note, noMap, averaged, roles, text, sliders, distribution, heatMap } = this;
    const acts = [this.writeOn, this.again, this.newest, distribution.append];
    const open = acts.filter((one) => !one.disabled && !one.hidden);
    return {
      ...wordsIn({ says, note, noMap, averaged, sliders: sliders.words }),
      ...{ text: text.read(), order: sliders.read(), distribution: distribution.read() },
      ...{ map: heatMap.read(), acts: open.map((one) => one.textContent), roles: roles.read() },
    };
  }
}

export default partOf("writing", Writing);
