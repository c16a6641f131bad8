// Home: an input runs through the model that is drawn, which answers what it was trained to; a text goes
// on by itself.
//
// What stands here is what comes from Python and what a person does; where everything is, how it moves,
// how it is drawn and what is said of it stand in `home/`.

import { watchTheme } from "../colors.js";
import { html } from "../dom.js";
import { Lifetime } from "../lifetime.js";
import { chanceOf, samplingOf } from "../sampling.js";
import { SIMPLE } from "../sliders.js";
import { Axis } from "./home/axis.js";
import { Film } from "./home/film.js";
import { Foot } from "./home/foot.js";
import { goalOf } from "./home/goals.js";
import { Heads, isAside } from "./home/heads.js";
import { Large } from "./home/large.js";
import { N_NEXT, rowsOf } from "./home/layout.js";
import { Next } from "./home/next.js";
import { Pager } from "./home/pager.js";
import { loadRun } from "./home/numbers.js";
import { Screen } from "./home/screen.js";
import { Share } from "./home/share.js";
import { HomeTokens, flightOver, tokenAt } from "./home/tokens.js";

/** @import { Model } from "../model.js" */
/** @import { Chance } from "./home/answers.js" */
/** @import { Head, HomeSpec, Run } from "./home/numbers.js" */
/** @typedef {(spec: HomeSpec) => number} Reached where the film of a run is that plays already */

export default {
  /** @param {{model: Model, el: HTMLElement, signal: AbortSignal, reached?: Reached}} shown */
  render({ model, el, signal, reached }) {
    el.dataset.part = "home"; // its style sheet's
    const home = new Home(model, el, signal, reached);
    home.take();
    return home;
  },
};

export class Home {
  /** @type {Run | undefined} */
  run;
  /** The token that is pointed at, and the one that was clicked. @type {number | null} */
  looked = null;
  /** @type {number | null} */
  kept = null;
  /** @type {Head | null} */
  focus = null;
  /** The place in the list of next tokens that is pointed at. @type {number | null} */
  pointed = null;
  /** @type {Chance | null} */
  chance = null;
  /** @type {string[]} */
  #vocabulary = [];
  #pinned = ""; // the head that stays large, as the address spells it

  /**
   * @param {Model} model
   * @param {HTMLElement} el
   * @param {AbortSignal} signal
   * @param {Reached} reached
   */
  constructor(model, el, signal, reached = () => 0) {
    this.model = model;
    this.el = el;
    this.reached = reached;
    this.lifetime = new Lifetime(signal, el);
    this.film = new Film(matchMedia("(prefers-reduced-motion: reduce)").matches, {
      canGoOn: () => this.film.flight !== null || (this.run?.canGoOn ?? false),
      chance: () => (this.chance?.query === this.run?.asked ? this.chance : null),
      take: (chance, goal) => goal.take?.(chance, /** @type {Run} */ (this.run)) ?? null,
      takeOff: (place) => this.#takeOff(place),
      land: ({ run }) => this.#show(run),
    });
    const rest = () => this.large.isOpen || this.rest();
    this.tokens = new HomeTokens({ look: (i) => this.look(i), keep: (i) => this.#pick(i), rest });
    this.heads = new Heads(this);
    this.large = new Large(this.lifetime, {
      look: (query) => this.look(query),
      close: () => this.letGo(),
    });
    this.next = new Next({
      set: (changes) => model.set("state", changes),
      rest: () => model.save_changes(),
      point: (place) => ((this.pointed = place), this.screen.soon()),
      choose: (place) => this.#choose(place),
      generate: () => (this.film.left > 1 ? this.toggle() : this.write(Infinity)),
      step: () => this.write(1),
    });
    this.axis = new Axis((at) => (this.letGo(), this.pager.follow(), this.film.seek(at)));
    this.pager = new Pager(this);
    const share = new Share(this).node;
    this.foot = new Foot(() => this.toggle(), model, share);
    this.screen = new Screen(this);
    const parts = [this.screen.node, this.large.node, this.foot.node, this.next.node];
    el.replaceChildren(html("div", { class: "hl-home" }, parts));
    this.#listen(signal);
  }

  /** @param {AbortSignal} signal */
  #listen(signal) {
    const { model, lifetime } = this;
    for (const name of /** @type {const} */ (["spec", "arrays"]))
      model.on(name, () => this.take(), signal);
    model.on("state", () => (this.#newChance(), this.#reopen()), signal);
    model.on("themes", () => this.screen.dress(), signal);
    watchTheme(lifetime, () => this.screen.dress());
    lifetime.watchSize(this.el, () => (this.screen.resize(), this.#reopen()));
    lifetime.listen(document, "pointerdown", (event) => {
      if (isAside(event.target) && this.isLooking) this.letGo();
    });
    lifetime.listen(window, "resize", () => this.screen.resize()); // a wall may be higher alone
    lifetime.listen(document, "keydown", ({ key }) => key === "Escape" && this.letGo());
    // Who types elsewhere does not want the text to go on by itself.
    lifetime.listen(
      document,
      "input",
      ({ target }) => this.el.contains(target) || this.film.pause(),
    );
  }

  // --- what comes from Python -----------------------------------------------------------------------

  /** Take the run that Python has now, once its arrays are here. */
  take() {
    const spec = /** @type {HomeSpec} */ (this.model.get("spec"));
    if (this.run?.spec.key !== spec.key) return void this.lifetime.busy(this.#takeNew(spec));
    this.run.spec = spec;
    this.film.hear(spec);
    this.screen.soon();
  }

  /**
   * Until it is here, what is on screen is of the run before.
   *
   * @param {HomeSpec} spec
   */
  async #takeNew(spec) {
    try {
      const found = await loadRun(this.model, spec);
      if (this.lifetime.isOver || spec !== this.model.get("spec")) return;
      this.#vocabulary = found.vocabulary;
      await this.#receive(found.run);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      this.foot.show([`What belongs here did not arrive. ${message}`], false);
    }
  }

  /** @param {Run} run */
  async #receive(run) {
    const isFirst = !this.run;
    const shown = isFirst && run.spec.plays ? run.fromStart() : run;
    await shown.following.after(shown.asked); // drawn at once, when it is
    if (this.lifetime.isOver || this.model.get("spec") !== run.spec) return;
    if (!this.film.goesOn({ run })) this.#begin(shown, isFirst);
    this.screen.soon();
  }

  /**
   * @param {Run} run
   * @param {boolean} isFirst
   */
  #begin(run, isFirst) {
    this.film.begin(run.spec, isFirst, isFirst ? this.reached(run.spec) : 0);
    if (isFirst && !run.spec.plays) this.film.end();
    this.kept = null;
    this.#pinned = "";
    this.tokens.reset();
    this.rest();
    this.#show(run);
    this.#reopen();
  }

  /** @param {Run} run */
  #show(run) {
    const isNew = this.run?.spec.key !== run.spec.key;
    this.run = run;
    this.next.build(run.spec, this.model.get("state"));
    this.axis.build(run.spec, this.film.time);
    this.heads.build(run.spec);
    if (isNew) this.screen.dress();
    this.screen.resize();
    this.#newChance();
    this.foot.list(run);
  }

  // --- what a person does ---------------------------------------------------------------------------

  /** @param {number} query */
  look(query) {
    if (query === this.looked || !this.run?.isToken(query)) return;
    this.looked = query;
    this.#newChance();
  }

  /** @param {number} query */
  keep(query) {
    this.kept = this.kept === query ? null : query;
    this.look(query);
  }

  /**
   * A click on a word keeps it; from a model that finds what is hidden it hides it, or no more.
   *
   * @param {number} row
   */
  #pick(row) {
    if (!this.run || !goalOf(this.run.spec).canHide) return this.keep(row);
    const before = /** @type {number[]} */ (this.model.get("state").blanks);
    const place = row + this.run.spec.begins;
    const others = before.filter((other) => other !== place);
    const isHidden = others.length < before.length;
    const blanks = isHidden ? others : [...others, place].sort((a, b) => a - b);
    this.model.choose({ blanks, blank: isHidden ? (blanks.at(-1) ?? -1) : place });
  }

  /**
   * Go on with a token of the list: at the end of a text, or anywhere in one that Python writes.
   *
   * @param {number} place
   */
  #choose(place) {
    const { run, chance } = this;
    if (!run || !chance || place >= N_NEXT || !goalOf(run.spec).canChoose) return;
    const { came, begins } = run.spec;
    const id = chance.ids[place];
    if (came.length) this.model.choose({ forced: [...came.slice(0, chance.query + begins), id] });
    else if (chance.query === run.asked && run.canGoOn) {
      this.letGo();
      this.film.choose(place);
      this.screen.soon();
    }
  }

  /** @param {Head} head */
  point(head) {
    this.focus = head;
    this.pager.bring(head.column);
    this.screen.soon();
  }

  /** The head that is pointed at becomes large, and a part of the address. */
  enlarge() {
    const { run, focus, query } = this;
    const { flow, palette } = this.screen;
    const isStill = this.film.isStill;
    if (!run || !flow || !focus) return;
    this.large.open(run, focus, { flow, palette, query, isStill });
    this.#pinned = run.spelled(focus);
    if (this.model.get("state").at !== this.#pinned)
      this.model.choose({ at: this.#pinned, cell: null });
  }

  /** Nothing is pointed at any more. */
  rest() {
    this.large.close();
    [this.looked, this.focus] = [this.kept, null];
    this.#newChance();
  }

  letGo() {
    this.kept = null;
    if (this.large.node.contains(document.activeElement)) this.heads.node.focus();
    this.shrink();
    this.rest();
  }

  shrink() {
    this.large.close();
    this.#pinned = "";
    if (this.model.get("state").at) this.model.choose({ at: "" });
  }

  /** The head that the address names is large, and no other, as soon as there is room for it. */
  #reopen() {
    const { at, cell } = this.model.get("state");
    if (!this.run || !this.screen.flow || at === this.#pinned) return;
    this.#pinned = at;
    const head = this.run.headAt(at);
    if (!head) return this.rest();
    const row = at && cell ? cell[0] - this.run.spec.begins : -1;
    if (this.run.isToken(row)) this.looked = this.kept = row;
    this.point(head);
    this.enlarge();
    this.#newChance();
  }

  /** @param {number} count tokens to write */
  write(count) {
    if (!this.run?.canGoOn) return;
    this.letGo();
    this.film.write(count);
    this.screen.soon();
  }

  toggle() {
    const { time } = this.film;
    const isHeld = time.isPlaying && this.isLooking; // it plays once nothing is looked at
    if (time.isPlaying && !isHeld) this.film.pause();
    else if (!isHeld && time.at >= time.DRAW) this.#goOn();
    else this.film.play();
    this.letGo();
    if (time.isPlaying) this.pager.follow();
  }

  /** More is written, or where nothing more can be, all plays again. */
  #goOn() {
    if (!this.run) return;
    if (this.film.goal?.canWrite && this.run.canGoOn) this.write(Infinity);
    else this.#begin(this.run.upTo(this.run.size).fromStart(), false);
  }

  // --- what follows from it -------------------------------------------------------------------------

  get query() {
    return this.looked ?? this.run?.asked ?? 0;
  }

  /** The row whose answer is shown: the one that is looked at, where it has one. */
  get answering() {
    const { run, query } = this;
    return run?.hasAnswer(query) ? query : (run?.asked ?? 0);
  }

  get isLooking() {
    return this.looked !== null || this.focus !== null;
  }

  /** What may follow the query is worked out again. */
  async #newChance() {
    const { run } = this;
    const query = this.answering;
    if (!run) return;
    this.screen.soon();
    const known = run.following.known.get(query);
    const sorted = await (known ?? this.lifetime.busy(run.following.after(query)));
    if (query !== this.answering || run !== this.run) return;
    if (!sorted) return void (this.chance = null);
    const state = this.model.get("state");
    const order = goalOf(run.spec).isSampled ? SIMPLE : [];
    this.chance = chanceOf(sorted, samplingOf(state, order), run.spec.slack);
    this.next.build(run.spec, state);
    if (query === run.asked) this.film.drawAgain();
    this.screen.soon();
  }

  /**
   * The token that is taken leaves the list. Where Python does not know yet what comes of it, it is
   * asked meanwhile.
   *
   * @param {number} place
   */
  #takeOff(place) {
    const { run } = this;
    const { flow } = this.screen;
    if (!run || !flow || !this.chance) return null;
    const [n, id] = [run.nTokens, this.chance.ids[place]];
    const { canWrite } = goalOf(run.spec);
    const size = run.n + (canWrite ? 1 : 0);
    if (!canWrite) this.film.bring({ run });
    else if (run.n < run.size) this.#comeTo(run.upTo(run.n + 1));
    else this.model.choose({ appended: [n, id] });
    this.tokens.flying.textContent = this.word(id);
    const { left, top } = this.screen.canvas.getBoundingClientRect();
    const [x, y] = this.next.bars.wordAt(place);
    const rows = rowsOf(flow, run.spec.bands, size);
    const to = tokenAt(flow, rows, run, canWrite ? run.n : run.asked);
    return { n, id, flight: flightOver([x - left, y - top], to) };
  }

  /** @param {Run} run what a text is with the next of its tokens */
  async #comeTo(run) {
    await run.following.after(run.asked);
    this.film.bring({ run });
  }

  read() {
    return this.screen.read();
  }

  /** @param {number} place in the list of answers */
  label(place) {
    return this.word(this.chance?.ids[place] ?? -1);
  }

  /** @param {number} id */
  word(id) {
    return this.#vocabulary[id] ?? "…";
  }
}
