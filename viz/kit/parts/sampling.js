// The writer: a text while it is written, the sliders it is drawn with, the distribution of the next
// token or of a chosen one, and what was attended to.

import { inkOn, weightColors } from "../colors.js";
import { same } from "../conversation.js";
import { button, check, digits, html, radios } from "../dom.js";
import { HeatMap } from "../marks/heatmap.js";
import { Instrument, partOf } from "../instrument.js";

/** @import { Place } from "../instrument.js" */
import { argmax } from "../measures.js";
import { pictureOf } from "./sampling/picture.js";
import { Distribution } from "./sampling/distribution.js";
import { Feed } from "./sampling/feed.js";
import { Sliders } from "./sampling/sliders.js";
import { Text } from "./sampling/text.js";
import { beforeAnyStep, stepInWords } from "./sampling/step.js";

/** @import { SamplerSettings } from "../wire.js" */
/** @import { Look } from "./sampling/text.js" */
/** @import { Act, More, Question, WriterData, WriterStep } from "./sampling/wire.js" */

const QUIET_MS = 60; // what is dragged acts soon
const QUIET_FED_MS = 700; // it acts by the questions then; the page may hear of it later
const PATIENCE_MS = 2500;
const OUTDATED_MS = 200; // what a change outdates is drawn only where its answer is late
const MAP_REST_MS = 600; // between two drawings of the map
const NO_MAP = "Nothing is written yet. Each new token gets a row: what it attended to when drawn.";
const MAP_HEIGHT = 130;

/** @extends {Instrument<WriterData>} */
export class Writer extends Instrument {
  /** How often more was asked for. */
  #ticks = 0;
  #acts = 0;
  #cancelTick = () => {};
  #cancelDraw = () => {};
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
    this.text = new Text((at) => this.go(at));
    this.sliders = new Sliders((changes) => this.#steer(changes));
    this.distribution = new Distribution(
      (id) => this.#act("put", this.data.shown.at, id),
      () => this.#showDistribution(),
    );
    this.says = html("p", { class: "hl-caption hl-says", role: "status" });
    this.note = html("p", { class: "hl-caption hl-note-line", role: "status" });
    this.map = html("div", { class: "hl-map", role: "img" });
    this.noMap = html("p", { class: "hl-caption" }, NO_MAP);
    this.heatMap = new HeatMap(this.map, this.lifetime, {
      pick: (row) => this.go(this.data.n_prompt + row),
      most: MAP_HEIGHT,
    });
    const heads = [
      { value: "no", text: "this head" },
      { value: "yes", text: "mean of all heads" },
    ];
    this.averaged = radios("hl-averaged", "Attention of", heads, "no", (value) =>
      this.set({ averaged: value === "yes" }),
    );
    this.again = button("Again from here", () =>
      this.#act("again", /** @type {number} */ (this.settings.at), null),
    );
    this.newest = button("To the next token", () => this.go(this.data.labels.length));
    this.feed = new Feed(this.lifetime, {
      address: () => (this.data.running ? this.data.address : null),
      question: (known) => this.#question(known),
      fits: ({ key, known, steps }) => {
        const here = this.data.steps.length;
        return key === this.data.key && known <= here && known + steps.length >= here;
      },
      take: (more) => this.#grow(more),
      failed: () => this.#askForMore(),
    });
    root.replaceChildren(this.#layOut());
    this.lifetime.watchSize(root, () => {
      if (this.data) this.redraw();
    });
  }

  #layOut() {
    const { text, sliders, distribution } = this;
    const act = html("div", { class: "hl-row" }, this.again, this.newest);
    const name = { class: "hl-panel hl-written-text", "aria-label": "Text and how it came about" };
    const written = html("section", name, text.node, act, this.says, this.note);
    const title = html("h3", null, "Attention of each new token");
    const row = html("div", { class: "hl-row hl-head-row" }, title, this.averaged);
    const attention = {
      class: "hl-panel hl-attention",
      "aria-label": "Attention of each new token",
    };
    const map = html("section", attention, row, this.noMap, this.map);
    const panels = [written, sliders.node, distribution.node, map, distribution.left];
    return html("div", { class: "hl-writer" }, panels);
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    if (isNew) this.#isTouched = false;
    this.#cancelDraw();
    const isOutdated = this.conversation.isAwaiting && this.data.running;
    if (isOutdated) this.#cancelDraw = this.lifetime.timeout(() => this.redraw(), OUTDATED_MS);
    else this.redraw();
    this.conversation.quiet = this.#isFed ? QUIET_FED_MS : QUIET_MS;
    if (this.#isFed) this.feed.goOn();
    else this.#askForMore(isOutdated);
  }

  /** Whether the next tokens come without a run of the page. */
  get #isFed() {
    return Boolean(this.data.running && this.data.address);
  }

  /**
   * @param {number | null} known
   * @returns {Question}
   */
  #question(known) {
    const { temperature, top_k, top_p, min_p, order, at } = this.settings;
    const settings = { temperature, top_k, top_p, min_p, order };
    return { known: known ?? this.data.steps.length, settings, at };
  }

  /**
   * The text has grown; once it rests the page is drawn again, for what stands outside of here.
   *
   * @param {More} more
   */
  #grow({ known, steps, labels, axis, ...now }) {
    const { data } = this;
    const n = data.n_prompt + known;
    this.data = {
      ...{ ...data, ...now },
      steps: [...data.steps.slice(0, known), ...steps],
      labels: [...data.labels.slice(0, n), ...labels],
      axis: [...data.axis.slice(0, n), ...axis],
    };
    this.redraw();
    if (now.running) return;
    this.conversation.quiet = QUIET_MS;
    if (!this.conversation.flush()) this.model.channel.tick?.((this.#ticks += 1));
  }

  /**
   * Ask for the next tokens by a run of the page once these are drawn, where the app cannot be asked
   * otherwise. Asked again when no answer comes. What a person changed meanwhile goes along.
   *
   * @param {boolean} [isAsked] whether an answer is on its way already
   */
  #askForMore(isAsked = false) {
    this.#cancelTick();
    if (!this.data.running) return;
    if (!isAsked) {
      this.#ticks += 1;
      if (!this.conversation.flush()) this.model.channel.tick?.(this.#ticks);
    }
    this.#cancelTick = this.lifetime.timeout(() => this.#askForMore(), PATIENCE_MS);
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
  }

  /**
   * While text is written Python hears of a movement at once, and of the next ones with each answer.
   *
   * @param {Partial<SamplerSettings>} changes
   */
  #steer(changes) {
    this.#isTouched = true;
    const isFree = this.data.running && !this.#isFed && !this.conversation.isAwaiting;
    this.setQuietly(changes);
    if (isFree) this.conversation.flush();
    this.distribution.changed();
    this.#showSliders();
    this.#showDistribution();
  }

  /**
   * @param {Act["kind"]} kind
   * @param {number} at
   * @param {number | null} token
   */
  #act(kind, at, token) {
    this.#acts += 1;
    const id = `${Date.now()}-${this.#acts}`;
    this.set({ at: null, act: { id, kind, at, token } });
    this.conversation.flush();
  }

  // --- what is shown ------------------------------------------------------------------------------

  /** The number of the new token that is shown: the chosen one, else the newest; −1 for none. */
  #at() {
    const { steps, n_prompt } = this.data;
    const { at } = this.settings;
    return at === null ? steps.length - 1 : Math.min(at - n_prompt, steps.length - 1);
  }

  /** @override */
  redraw() {
    this.#cancelMap();
    const { steps, key, note, n_prompt, labels } = this.data;
    const { at, averaged } = this.settings;
    check(this.averaged, averaged ? "yes" : "no");
    this.note.textContent = note;
    this.again.disabled = at === null || at < n_prompt || at >= labels.length;
    this.newest.disabled = at === null;
    this.#showText();
    this.#showSliders();
    this.distribution.take(this.data.shown);
    this.#showDistribution();
    this.#sayStep();
    if (steps.length) this.#showMapSoon();
    this.map.hidden = !steps.length;
    this.noMap.hidden = steps.length > 0;
    this.root.dataset.drawn = `${key} writer ${steps.length} ${steps.length ? this.#at() : ""}`;
  }

  #showSliders() {
    const { temperature, top_k, top_p, min_p, order } = this.settings;
    const { bounds, shown, greedy } = this.data;
    const now = { temperature, top_k, top_p, min_p, order };
    this.sliders.show(now, bounds, shown.logits.shape[0], greedy);
  }

  #showDistribution() {
    const { shown, n_prompt, labels, greedy, slack, running } = this.data;
    const now = { ...this.settings, top_k: greedy ? 1 : this.settings.top_k };
    const then = this.#isTouched ? null : shown.sampling;
    const [isOver, isPrompt] = [shown.at < labels.length, shown.at < n_prompt];
    const drawnFrom = then ? "Drawn from" : "Drawn from, sliders as now";
    const title = isPrompt ? "Predicted in the prompt" : isOver ? drawnFrom : "Next token";
    const look = { palette: this.palette, slack, title };
    const can = { canPut: !isPrompt, isOver, isRunning: running };
    this.distribution.show(then ?? now, { ...look, ...can });
  }

  /**
   * The weights a step is shown with.
   *
   * @param {WriterStep} step
   */
  #weights(step) {
    return this.settings.averaged ? step.mean : step.row;
  }

  // --- the text -----------------------------------------------------------------------------------

  /** The text: each token shaded by the attention it got from the position before the step. */
  #showText() {
    const { labels, n_prompt, steps, marks } = this.data;
    const step = steps[this.#at()];
    const colorOf = weightColors(this.palette);
    const marked = new Map(marks.map(({ at, text }) => [n_prompt + at, text]));
    const looks = labels.map((label, i) => {
      const look = this.#look(i, step, colorOf);
      const mark = marked.get(i);
      if (i >= n_prompt) look.classes.push("hl-new");
      if (i === this.settings.at) look.classes.push("hl-chosen");
      if (mark) look.classes.push("hl-marked-token");
      const title = [mark, look.title].filter(Boolean).join("; ");
      return { ...look, label, title, disabled: i === 0 };
    });
    this.text.show(looks, this.settings.at);
  }

  /**
   * How a token looks at a step.
   *
   * @param {number} i
   * @param {WriterStep | undefined} step
   * @param {(weight: number) => string} colorOf
   * @returns {Omit<Look, "label" | "disabled">}
   */
  #look(i, step, colorOf) {
    const { n_prompt, given } = this.data;
    if (!step) {
      const p = given[i] ?? null; // none for the first, nor for new ones
      return { classes: [], style: "", title: p === null ? "" : `predicted with ${digits(p)}` };
    }
    if (i < step.n_dropped)
      return { classes: ["hl-dropped"], style: "", title: "dropped from the context" };
    if (i >= n_prompt + this.#at()) return { classes: [], style: "", title: "" };
    const weight = this.#weights(step)[i - step.n_dropped] ?? 0;
    const color = colorOf(weight);
    const style = `background:${color};color:${inkOn(color)}`;
    return { classes: [], style, title: `attended to with ${digits(weight)}` };
  }

  /** The step in words: how its token was drawn, and what was attended to. */
  #sayStep() {
    const at = this.#at();
    const { averaged, at: chosen } = this.settings;
    const step = this.data.steps[at];
    const weights = step ? this.#weights(step) : [];
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
    if (rest <= 0) draw();
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
}

export default partOf("sampling", Writer);
