// Attention: all heads at a glance, one of them large in one of several views; their state stands here.

import { MissingArrays } from "../arrays.js";
import { same } from "../conversation.js";
import { check, html, wordsIn } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { Run, whyWithoutSteps } from "../run.js";
import { Controls } from "./attention/controls.js";
import { exportMenu } from "./attention/exports.js";
import { Overview } from "./attention/overview.js";
import { inWords } from "./attention/roles.js";
import { Stage } from "./attention/stage.js";

/** @import { Place } from "../instrument.js" */
/** @import { StepName } from "../maths.js" */
/** @import { Group, Head, RunAbout } from "../run.js" */
/** @import { Bounds, Option } from "../wire.js" */
/** @import { RoleWords } from "./attention/roles.js" */

const WIDE = 980; // pixels from which the overview stands beside the map, as in attention.css

/**
 * A step of attention that can be looked at.
 *
 * @typedef {{name: StepName, text: string, says: string}} Step
 */

/**
 * What is chosen. `attention` is a group's name, `mass` the cumulative attention shown per row, `tau`
 * attention temperature, `other` the layer and head to compare with.
 *
 * @typedef {object} AttentionSettings
 * @property {string} [attention]
 * @property {number} layer
 * @property {number} head
 * @property {string} view
 * @property {StepName} stage
 * @property {[number, number] | null} cell the pinned query and key
 * @property {number | null} token
 * @property {number} mass
 * @property {string} change
 * @property {number} tau
 * @property {string} flipped cells whose mask is turned over, such as 3-1.5-2
 * @property {string} against
 * @property {[number, number] | null} other
 * @property {string} how
 * @property {"layer" | "head" | "all"} over
 * @property {boolean} hide_first
 * @property {boolean} words
 */

/**
 * @typedef {object} AttentionSpec
 * @property {string} model
 * @property {string} text what it ran on; nothing for a picture
 * @property {RoleWords[]} roles
 * @property {RunAbout[]} runs other inputs through the same model, to compare with
 * @property {Option[]} views
 * @property {Step[]} stages
 * @property {Option[]} changes
 * @property {Option[]} against
 * @property {Option[]} how
 * @property {{mass: Bounds, tau: Bounds}} bounds
 * @property {AttentionSettings} settings
 */

/** @typedef {AttentionSpec & RunAbout} AttentionData */

/** @extends {Instrument<AttentionData>} */
export class Attention extends Instrument {
  /** What is drawn. @type {Run} */
  run;
  isDrawn = false; // what is chosen
  /** The head on screen. @type {Head} */
  loaded;
  /** The cell last looked at. @type {[number, number] | null} */
  looked = null;
  /** What was last said of a cell; read aloud when moved to by keyboard. */
  said = "";
  #drawing = 0;
  /** Heads that what is computed here does not lead to: of a run, at a site, by how much. */
  #differing = new Map();
  /** What is drawn. @type {unknown[] | null} */
  #onScreen = null;
  /** @type {{key: string, group: string, layer: number, head: number} | null} */
  #shownHead = null;

  /** @param {Place} place */
  constructor(place) {
    super(place);
    this.alert = html("p", { class: "hl-error", role: "alert", hidden: true });
    this.doubt = html("p", { role: "status", hidden: true });
    this.spoken = html("p", { class: "hl-hidden", "aria-live": "polite" });
    this.title = html("h2", { class: "hl-title" });
    this.does = html("p", { class: "hl-does" });
    this.stage = new Stage(this);
    this.slot = html("div"); // room below the overview, for a view whose map needs the width
    this.controls = new Controls(this);
    const heads = html("section", { class: "hl-panel hl-heads", "aria-label": "All heads" });
    this.overview = this.#makeOverview(heads);
    heads.append(this.slot);
    const label = { class: "hl-panel hl-instrument", "aria-label": "One head" };
    const instrument = html("section", label);
    instrument.append(
      html("div", { class: "hl-row hl-head-row" }, this.title, this.controls.options),
      this.does,
      this.controls.roles.node,
      this.controls.tabs,
      this.stage.node,
      exportMenu(this),
    );
    const grid = html("div", { class: "hl-grid" }, heads, instrument);
    this.root.replaceChildren(this.alert, this.doubt, this.spoken, grid);
    this.model.on("arrays", () => this.#again(), place.signal);
  }

  /** @param {HTMLElement} host */
  #makeOverview(host) {
    return new Overview(host, this.lifetime, {
      open: (chosen) =>
        this.set({ ...chosen, ...(this.settings.view === "summary" ? { view: "map" } : {}) }),
      near: ({ attention, layer, head }) => {
        this.run.head(this.run.group(attention), layer, head).catch(() => {});
      },
      openMean: (chosen, over) => {
        const { attention, layer, head } = this.settle({ ...this.settings, ...chosen });
        this.set({ attention, layer, head, view: "summary", how: "mean", over });
      },
    });
  }

  // --- what is chosen -----------------------------------------------------------------------------

  /** @override */
  receive() {
    const spec = /** @type {AttentionData} */ (this.model.get("spec"));
    if (spec.key !== this.data?.key) this.looked = null;
    this.run = new Run(this.model, spec);
    super.receive();
  }

  /**
   * A head and a view that exist here.
   *
   * @override
   * @param {AttentionSettings} settings
   */
  settle(settings) {
    const { data } = this;
    const group = this.run.group(settings.attention);
    const offered = data.views.filter(({ why }) => why === null).map(({ name }) => name);
    return {
      ...settings,
      attention: group.name,
      layer: Math.min(settings.layer, group.n_layers - 1),
      head: Math.min(settings.head, group.n_heads - 1),
      view: offered.includes(settings.view) ? settings.view : offered[0],
    };
  }

  /**
   * @override
   * @param {boolean} _isNew
   * @param {boolean} hasMoved
   */
  update(_isNew, hasMoved) {
    this.controls.offer(this.data);
    if (hasMoved) this.stage.retire(); // controls take their values when they are made
    if (same(this.#wanted(), this.#onScreen) && this.isDrawn) return; // an echo of what is drawn
    this.redraw();
  }

  /** What the drawing depends on. */
  #wanted() {
    const { data, settings, palette } = this;
    return [
      data.key,
      data.runs.map(({ key }) => key),
      settings,
      palette.background,
      palette.small_weights,
    ];
  }

  /** The group of the chosen head. @returns {Group} */
  get group() {
    return this.run.group(this.settings.attention);
  }

  /** The streams the chosen head is between. */
  get between() {
    return this.run.between(this.group);
  }

  get headName() {
    return this.run.nameOf(this.group, this.settings.layer, this.settings.head);
  }

  get isWide() {
    return this.root.clientWidth >= WIDE;
  }

  /** What is said of heads hangs on. */
  get told() {
    return { run: this.run, roles: this.data.roles };
  }

  /** The view on screen, if there is one. */
  get view() {
    return this.stage.view;
  }

  /**
   * The pinned cell, else the one last looked at, else the strongest pair of the head.
   *
   * @returns {[number, number]}
   */
  cell() {
    const { settings, looked, group } = this;
    const { queries, keys } = this.between;
    const [query, key] = settings.cell ?? looked ?? group.strongest[settings.layer][settings.head];
    return [Math.min(query, queries.labels.length - 1), Math.min(key, keys.labels.length - 1)];
  }

  // --- what is drawn ------------------------------------------------------------------------------

  /**
   * Draw what is chosen. The title changes with the numbers, never before them.
   *
   * @override
   */
  async redraw() {
    const { settings } = this;
    const drawing = ++this.#drawing;
    this.isDrawn = false;
    this.#drawOverview(drawing);
    check(this.controls.tabs, settings.view);
    this.controls.draw();
    await this.lifetime.busy(this.#drawHead(drawing));
  }

  /** @param {number} drawing */
  async #drawHead(drawing) {
    const { settings, run } = this;
    try {
      const loaded = await this.load(run, settings.layer, settings.head);
      if (!this.#isCurrent(drawing)) return;
      this.#showHead(loaded);
      await this.stage.show(settings.view, () => this.#isCurrent(drawing));
      if (this.#isCurrent(drawing)) this.#drawn();
    } catch (error) {
      if (this.#isCurrent(drawing)) this.#failed(error);
    }
  }

  /** @param {number} drawing */
  async #drawOverview(drawing) {
    try {
      await this.lifetime.busy(this.overview.draw(this.told, this.settings, this.palette));
    } catch (error) {
      if (this.#isCurrent(drawing)) this.#failed(error);
    }
  }

  /**
   * Whether nothing newer has been asked for since a drawing began, and there is still a page.
   *
   * @param {number} drawing
   */
  #isCurrent(drawing) {
    return drawing === this.#drawing && !this.lifetime.isOver;
  }

  /**
   * One head of the chosen kind of attention, of this run or another.
   *
   * @param {Run} run
   * @param {number} layer
   * @param {number} head
   */
  async load(run, layer, head) {
    const { group } = this;
    const loaded = await run.head(group, layer, head);
    const { address } = group.sites[layer];
    const where = `${run.about.key} ${address} ${head}`;
    if (loaded.isOff && !this.#differing.has(where)) {
      this.#differing.set(where, [run.about.key, address, head, loaded.error]);
      this.model.channel.differs?.([...this.#differing.values()]);
    }
    return loaded;
  }

  /** @param {Head} loaded */
  #showHead(loaded) {
    const { attention = "", layer, head, view } = this.settings;
    this.loaded = loaded;
    this.#shownHead = { key: this.data.key, group: attention, layer, head };
    this.title.textContent = view === "summary" ? "Aggregate" : this.headName;
    const does = inWords(this.told, this.group, layer, head);
    const says = view === "summary" ? [] : [`On this ${this.run.given}: `, ...does];
    this.does.replaceChildren(...says);
    this.doubt.textContent = whyWithoutSteps(loaded, this.headName);
    this.doubt.hidden = !this.doubt.textContent;
    this.doubt.className = loaded.isOff ? "hl-error" : "hl-caption";
  }

  #drawn() {
    const { view, stage } = this.settings;
    this.complain(null);
    this.isDrawn = true;
    this.#onScreen = this.#wanted();
    this.root.dataset.drawn = `${this.data.key} ${this.headName} ${view} ${stage}`;
  }

  // --- what is said -------------------------------------------------------------------------------

  /**
   * Say what is missing; a head that is not here gives way to the one that was.
   *
   * @param {unknown} error
   */
  #failed(error) {
    const drawn = this.#onScreen;
    this.#onScreen = null;
    const { attention, layer, head } = this.settings;
    const again = this.model.channel.ask // what a file does not hold never comes
      ? () => this.set({ attention, layer, head })
      : undefined;
    const name = this.run.nameOf(this.group, layer, head);
    const message = error instanceof Error ? error.message : String(error);
    this.complain(`${name} is not here. ${message}`, again);
    this.isDrawn = true;
    if (!(error instanceof MissingArrays)) return console.warn(error);
    if (this.#shownHead?.key !== this.data.key) return this.#clear();
    this.#goBackTo(this.#shownHead, drawn);
  }

  /** What could not be had may be there now. */
  #again() {
    if (!this.alert.hidden && this.isDrawn) this.redraw();
  }

  /**
   * Have the settings name the head that is still on screen.
   *
   * @param {{group: string, layer: number, head: number}} shown
   * @param {unknown[] | null} drawn what was drawn last
   */
  #goBackTo({ group, layer, head }, drawn) {
    const { settings } = this;
    if (group === settings.attention && layer === settings.layer && head === settings.head) return;
    this.setQuietly({ attention: group, layer, head });
    this.#drawOverview(this.#drawing);
    // An echo of that head from Python must not take the word of what is missing away.
    if (same(this.#wanted(), drawn)) this.#onScreen = drawn;
  }

  /** Nothing of this sentence is here: show nothing rather than another's numbers. */
  #clear() {
    this.title.textContent = "";
    this.does.textContent = "";
    this.stage.node.replaceChildren();
    delete this.root.dataset.drawn;
  }

  /**
   * Show a line of trouble, or take it away.
   *
   * @param {string | null} text
   * @param {() => void} [again] what to try
   */
  complain(text, again) {
    this.alert.hidden = !text;
    this.alert.replaceChildren(text ?? "");
    if (!again) return;
    const press = { type: "button", class: "hl-button", onclick: again };
    this.alert.append(" ", html("button", press, "Try again"));
  }

  /**
   * Words for the pinned cell and for moves by keyboard; what the mouse passes is kept unsaid.
   *
   * @param {string} words
   * @param {boolean} isAloud
   */
  say(words, isAloud) {
    this.said = words;
    if (isAloud && this.spoken.textContent !== words) this.spoken.textContent = words;
  }

  /** What is on screen, by names. */
  read() {
    const { alert, doubt, spoken, title, does, controls, overview, view } = this;
    const words = wordsIn({ alert, doubt, spoken, title, does });
    return { ...words, ...controls.read(), heads: overview.read(), view: view?.read() };
  }
}

export default partOf("attention", Attention);
