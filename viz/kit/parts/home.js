// Home: a text runs through the model that is drawn, and goes on by itself.
//
// What stands here is what is looked at and what is drawn of it; where everything is, how it moves
// and what is said of it stand in `home/`.

import { dressed, watchTheme } from "../colors.js";
import { html } from "../dom.js";
import { Lifetime } from "../lifetime.js";
import { Axis } from "./home/axis.js";
import { captioned } from "./home/caption.js";
import { Film } from "./home/film.js";
import { drawFlow } from "./home/flow.js";
import { Foot } from "./home/foot.js";
import { Heads, isAside } from "./home/heads.js";
import { Large } from "./home/large.js";
import { clamp, frontAt, layout, rowsOf } from "./home/layout.js";
import { Next } from "./home/next.js";
import { Following, chanceOf, loadRun } from "./home/numbers.js";
import { bentRamp, picturesOf } from "./home/pictures.js";
import { EMBED, Fades, Timeline, eased } from "./home/timeline.js";
import { Tokens, flightOver } from "./home/tokens.js";

/** @import { Model } from "../model.js" */
/** @import { Palette } from "../wire.js" */
/** @import { Flow } from "./home/layout.js" */
/** @import { Chance, Head, HomeSpec, Run, Sorted } from "./home/numbers.js" */
/** @import { Pictures } from "./home/pictures.js" */
/** @import { Scene } from "./home/scene.js" */

const NARROW = 820; // pixels of the room, and below
const FLOW_WHEN_NARROW = 760; // in a box that scrolls
const BELOW = 132; // pixels: axis, caption, and the panel below each page
const HEIGHT = { least: 400, most: 860 };
const FADE_MS = 150;
const SLOWEST_FRAME = 100;

export default {
  /** @param {{model: Model, el: HTMLElement, signal: AbortSignal}} shown */
  render({ model, el, signal }) {
    new Home(model, el, signal).take();
  },
};

class Home {
  /** @type {Run | undefined} */
  run;
  /** @type {Flow | undefined} */
  flow;
  /** The token that is pointed at, and the one that was clicked. @type {number | null} */
  looked = null;
  /** @type {number | null} */
  kept = null;
  /** @type {Head | null} */
  focus = null;
  /** The place in the list of next tokens that is pointed at. @type {number | null} */
  #pointed = null;
  /** @type {Palette} */
  #palette;
  /** @type {Pictures} */
  #pictures;
  /** What follows each token, as far as it was asked for. @type {Following} */
  #following;
  /** @type {Chance | null} */
  #chance = null;
  /** @type {string[]} */
  #vocabulary = [];
  #fades = new Fades();
  #last = 0; // when the last frame was
  #isAwaited = false; // a frame

  /**
   * @param {Model} model
   * @param {HTMLElement} el
   * @param {AbortSignal} signal
   */
  constructor(model, el, signal) {
    this.model = model;
    this.el = el;
    this.lifetime = new Lifetime(signal);
    this.film = new Film(matchMedia("(prefers-reduced-motion: reduce)").matches, {
      chance: () => (this.#chance?.query === this.#lastQuery ? this.#chance : null),
      takeOff: (place) => this.#takeOff(place),
      land: ({ run, sorted }) => this.#show(run, sorted),
    });
    const rest = () => this.large.isPinned || this.rest();
    this.tokens = new Tokens({ look: (i) => this.look(i), keep: (i) => this.keep(i), rest });
    this.heads = new Heads(this);
    this.large = new Large(this.lifetime, {
      look: (query) => this.look(query),
      close: () => this.letGo(),
      pin: () => this.large.pin(),
    });
    this.next = new Next({
      set: (name, value) => model.set("state", { [name]: value }),
      rest: () => model.save_changes(),
      point: (place) => ((this.#pointed = place), this.soon()),
      generate: () => (this.film.left > 1 ? this.toggle() : this.write(Infinity)),
      step: () => this.write(1),
    });
    this.axis = new Axis((at) => (this.letGo(), this.film.seek(at)));
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.context = /** @type {CanvasRenderingContext2D} */ (
      this.canvas.getContext("2d", { alpha: false }) // no blending: faster
    );
    const drawn = [this.canvas, this.heads.node, this.tokens.node, this.large.node];
    this.box = html("div", { class: "hl-home-flow" }, drawn);
    this.scroller = html("div", { class: "hl-home-scroller" }, this.box, this.axis.node);
    this.foot = new Foot(() => this.toggle());
    const parts = [this.scroller, this.foot.node, this.next.node];
    el.replaceChildren(html("div", { class: "hl-home" }, parts));
    this.#listen(signal);
  }

  /** @param {AbortSignal} signal */
  #listen(signal) {
    const { model, lifetime } = this;
    for (const name of /** @type {const} */ (["spec", "arrays"]))
      model.on(name, () => this.take(), signal);
    model.on("state", () => this.#newChance(), signal);
    model.on("themes", () => this.#dress(), signal);
    watchTheme(lifetime, () => this.#dress());
    lifetime.watchSize(this.el, () => this.#resize());
    lifetime.listen(document, "pointerdown", (event) => {
      if (isAside(event.target) && this.isLooking) this.letGo();
    });
    lifetime.listen(this.el, "keydown", ({ key }) => key === "Escape" && this.letGo());
    // Who types elsewhere does not want the text to go on by itself.
    lifetime.listen(
      document,
      "input",
      ({ target }) => this.el.contains(target) || this.film.pause(),
    );
  }

  // --- what comes from Python -----------------------------------------------------------------------

  /** Take the run that Python has now, once its arrays are here. */
  async take() {
    const spec = /** @type {HomeSpec} */ (this.model.get("spec"));
    try {
      const found = await loadRun(this.model, spec);
      if (this.lifetime.isOver || spec !== this.model.get("spec")) return;
      this.#vocabulary = found.vocabulary;
      this.#receive(found.run, found.sorted);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      this.foot.show([`What belongs here did not arrive. ${message}`], false);
    }
  }

  /**
   * @param {Run} run
   * @param {Sorted} sorted what follows its last token
   */
  #receive(run, sorted) {
    const isFirst = !this.run;
    if (this.run?.spec.key === run.spec.key) {
      this.run.spec = run.spec;
      this.film.hear(run.spec);
    } else if (!this.film.goesOn({ run, sorted })) {
      this.film.begin(run.spec.n_layers, isFirst);
      this.letGo();
      this.#show(run, sorted);
    }
    this.soon();
  }

  /**
   * @param {Run} run
   * @param {Sorted} sorted
   */
  #show(run, sorted) {
    this.run = run;
    this.#following = new Following((query) => this.model.load("logits", query), sorted);
    this.next.build(run.spec, this.model.get("state"));
    this.axis.build(run.spec);
    this.heads.build(run.spec);
    this.#dress();
    this.#resize();
    this.#newChance();
    this.foot.list(run);
  }

  #dress() {
    const { light, dark } = this.model.get("themes");
    this.#palette = dressed(this.el, { light, dark });
    this.el.style.setProperty("--hl-ramp", bentRamp(this.#palette));
    if (this.run) this.#pictures = picturesOf(this.run, this.#palette);
    this.soon();
  }

  // --- what a person does ---------------------------------------------------------------------------

  /** @param {number} query */
  look(query) {
    if (!this.run || query === this.looked || query < this.run.first || query >= this.run.n) return;
    this.looked = query;
    this.#newChance();
  }

  /** @param {number} query */
  keep(query) {
    this.kept = this.kept === query ? null : query;
    this.look(query);
  }

  /** @param {Head} head */
  point(head) {
    const isSame = this.focus?.layer === head.layer && this.focus.head === head.head;
    if (!isSame && !this.large.isPinned) this.large.close();
    this.focus = head;
    this.soon();
  }

  /** The head that is pointed at becomes large. */
  grow() {
    const { run, flow, focus, query } = this;
    const look = { palette: this.#palette, query, isStill: this.film.isStill };
    if (run && flow && focus) this.large.open(run, focus, { flow, ...look });
  }

  /** Nothing is pointed at any more. */
  rest() {
    this.large.close();
    [this.looked, this.focus] = [this.kept, null];
    this.#newChance();
  }

  letGo() {
    this.kept = null;
    this.rest();
  }

  /** @param {number} count tokens to write */
  write(count) {
    if (!this.run || this.run.spec.why_no_more) return;
    this.letGo();
    this.film.write(count);
    this.soon();
  }

  toggle() {
    const { time } = this.film;
    const isHeld = time.isPlaying && this.isLooking; // it plays once nothing is looked at
    if (time.isPlaying && !isHeld) this.film.pause();
    else if (!isHeld && time.at >= time.DRAW) this.write(Infinity);
    else time.isPlaying = true;
    this.letGo();
  }

  // --- what follows from it -------------------------------------------------------------------------

  get #lastQuery() {
    return (this.run?.n ?? 1) - 1;
  }

  get query() {
    return this.looked ?? this.#lastQuery;
  }

  get isLooking() {
    return this.looked !== null || this.focus !== null;
  }

  /** What may follow the query is worked out again. */
  async #newChance() {
    const { run, query } = this;
    if (!run) return;
    this.soon();
    const sorted = await this.#following.after(query);
    if (!sorted || query !== this.query || run !== this.run) return;
    const state = this.model.get("state");
    const { temperature, top_p } = state;
    this.#chance = chanceOf(sorted, { temperature, top_p }, run.spec.slack);
    this.next.build(run.spec, state);
    if (query === this.#lastQuery) this.film.drawAgain();
    this.soon();
  }

  #resize() {
    const { run } = this;
    const room = this.el.clientWidth;
    if (!run || !room) return;
    const isNarrow = room <= NARROW;
    const width = isNarrow ? FLOW_WHEN_NARROW : room;
    const scrolled = this.el.closest('[data-testid="stMain"]')?.scrollTop ?? 0;
    const above = this.el.getBoundingClientRect().top + scrolled;
    const height = clamp(Math.round(innerHeight - above - BELOW), HEIGHT.least, HEIGHT.most);
    const { n_layers, n_heads, has_positions: hasPositions } = run.spec;
    this.flow = layout({ n_layers, n_heads, hasPositions, width, height, isNarrow });
    const ratio = Math.min(devicePixelRatio, 2);
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const { style } of [this.canvas, this.box])
      Object.assign(style, { width: `${width}px`, height: `${height}px` });
    this.axis.place(this.flow);
    this.next.place(this.flow);
    this.tokens.build(run, this.flow);
    this.soon();
  }

  /**
   * The drawn token leaves the list; Python is asked to go on with it meanwhile.
   *
   * @param {number} place
   */
  #takeOff(place) {
    const { run, flow } = this;
    if (!run || !flow || !this.#chance) return null;
    const [n, id] = [run.spec.n_tokens, this.#chance.ids[place]];
    this.model.set("state", { appended: [n, id] });
    this.model.save_changes();
    this.tokens.flying.textContent = this.#vocabulary[id];
    const from = this.next.wordAt(place, this.canvas.getBoundingClientRect());
    const to = rowsOf(flow, run.n + 1).y(run.n);
    return { n, id, flight: flightOver(from, [flow.tokens.x, to]) };
  }

  // --- frames ---------------------------------------------------------------------------------------

  /** Draw before the next frame is painted. */
  soon() {
    if (this.#isAwaited || this.lifetime.isOver) return;
    this.#isAwaited = true;
    this.lifetime.frame(() => this.#frame(performance.now()));
  }

  /** @param {number} now */
  #frame(now) {
    this.#isAwaited = false;
    const ms = Math.min(now - this.#last, SLOWEST_FRAME);
    this.#last = now;
    if (!this.run || !this.flow) return;
    const isMoving = () => this.film.time.isPlaying && !this.isLooking;
    if (isMoving()) this.film.advance(ms);
    const step = this.film.isStill ? 1 : ms / FADE_MS;
    const isFading = this.#fades.follow(this.isLooking, this.focus !== null, step);
    this.#draw(this.#scene(this.run, this.flow));
    if (isMoving() || isFading) this.soon();
  }

  /**
   * @param {Run} run
   * @param {Flow} flow
   * @returns {Scene}
   */
  #scene(run, flow) {
    const { context, query, focus, film } = this;
    const time = this.isLooking ? Timeline.over(run.spec.n_layers) : film.time;
    const flight = this.isLooking ? null : film.flight;
    const size = run.n + (flight ? eased(time.done(time.FLY)) : 0);
    return {
      ...{ context, flow, run, query, focus, size, time, flight, isGrown: film.isGrown },
      ...{ palette: this.#palette, pictures: this.#pictures, ...this.#fades.now },
      rows: rowsOf(flow, size),
      front: frontAt(flow, time.at),
      chance: this.#chance?.query === query ? this.#chance : null,
      drawn: query === run.n - 1 ? film.drawn : null,
      pointed: this.#pointed,
    };
  }

  /** @param {Scene} scene */
  #draw(scene) {
    const { time, run, flow, query, flight } = scene;
    drawFlow(scene);
    this.tokens.place(scene);
    this.tokens.tint(query, this.isLooking ? run.row(query, this.focus) : null);
    const shown = eased(time.done(time.NEXT)) * (flight ? 1 - time.done(time.FLY) : 1);
    this.next.show(scene, (place) => this.#label(place), query < run.n - 1 ? 1 : shown);
    this.axis.mark(flow, time);
    if (!flow.next && time.isPlaying && time.at > EMBED && time.at < time.DRAW)
      this.scroller.scrollTo({ left: frontAt(flow, time.at) - 0.7 * this.el.clientWidth });
    this.#speak(scene);
  }

  /** @param {number} place in the list of next tokens */
  #label(place) {
    return this.#vocabulary[this.#chance?.ids[place] ?? -1] ?? "…";
  }

  /** @param {Scene} scene */
  #speak(scene) {
    const label = (/** @type {number} */ place) => this.#label(place);
    const words = captioned({ ...scene, label, isLooking: this.isLooking });
    const { left, time } = this.film;
    const isPlaying = time.isPlaying && !this.isLooking;
    this.foot.show(words, isPlaying);
    this.next.enable(left > 1, scene.run.spec.why_no_more === null);
    const drawn = `${scene.run.spec.key} home ${isPlaying ? "plays" : "rests"}`;
    if (this.el.dataset.drawn !== drawn) this.el.dataset.drawn = drawn; // it is watched
  }
}
