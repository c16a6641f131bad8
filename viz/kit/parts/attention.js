// The microscope: the state of the view, the head it shows, and who must know when either changes.

import { Library, MissingArrays, headAddress, summaryAddress } from "../arrays.js";
import { same } from "../conversation.js";
import { check, html } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";

/** @import { Place } from "../instrument.js" */
import { Controls } from "./attention/controls.js";
import { exportMenu } from "./attention/exports.js";
import {
  between,
  givenOf,
  groupOf,
  headName,
  loadHead,
  whyWithoutSteps,
} from "./attention/heads.js";
import { Overview } from "./attention/overview.js";
import { inWords } from "./attention/roles.js";
import { CompareView } from "./attention/views/compare.js";
import { LinesView } from "./attention/views/lines.js";
import { MapView } from "./attention/views/map.js";
import { SentenceView } from "./attention/views/sentence.js";
import { SummaryView } from "./attention/views/summary.js";
import { WhatIfView } from "./attention/views/whatif.js";

/** @import { Source } from "../arrays.js" */
/** @import { Differing } from "../wire.js" */
/** @import { LoadedHead } from "./attention/heads.js" */
/** @import { View } from "./attention/view.js" */
/** @import { Group, MicroscopeData, MicroscopeSettings } from "./attention/wire.js" */

/** @type {Record<string, new (scope: Microscope, host: HTMLElement) => View>} */
export const VIEWS = {
  map: MapView,
  lines: LinesView,
  sentence: SentenceView,
  whatif: WhatIfView,
  compare: CompareView,
  summary: SummaryView,
};
const WIDE = 980; // pixels from which the overview stands beside the map, as in microscope.css

/** @extends {Instrument<MicroscopeData>} */
export class Microscope extends Instrument {
  /** The head on screen. @type {LoadedHead} */
  loaded;
  /** The cell last looked at. @type {[number, number] | null} */
  looked = null;
  /** What was last said of a cell; read aloud when moved to by keyboard. */
  said = "";
  /** @type {Map<string, View>} */
  #views = new Map();
  /** Views that settings from outside have outdated, but that may still be on screen. @type {View[]} */
  #retired = [];
  /** @type {View | undefined} */
  #view;
  #drawing = 0;
  /** Heads that what is computed here does not lead to, by address. @type {Map<string, Differing>} */
  #differing = new Map();
  /** What is drawn. @type {unknown[] | null} */
  #onScreen = null;
  /** @type {{key: string, group: string, layer: number, head: number} | null} */
  #shownHead = null;

  /** @param {Place} place */
  constructor(place) {
    super(place);
    this.library = new Library();
    this.isOffline = false;
    this.alert = html("p", { class: "hl-error", role: "alert", hidden: true });
    this.doubt = html("p", { role: "status", hidden: true });
    this.spoken = html("p", { class: "hl-hidden", "aria-live": "polite" });
    this.title = html("h2", { class: "hl-title" });
    this.does = html("p", { class: "hl-does" });
    this.stage = html("div", { class: "hl-stage" });
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
      this.controls.tabs,
      this.controls.reasons,
      this.stage,
      exportMenu(this),
    );
    const grid = html("div", { class: "hl-grid" }, heads, instrument);
    this.root.replaceChildren(this.alert, this.doubt, this.spoken, grid);
  }

  /** @param {HTMLElement} host */
  #makeOverview(host) {
    return new Overview(host, this.lifetime, {
      open: (chosen) =>
        this.set({ ...chosen, ...(this.settings.view === "summary" ? { view: "map" } : {}) }),
      near: ({ attention, layer, head }) => {
        const site = groupOf(this.data, attention).sites[layer];
        this.library.fetch(headAddress(this.data.key, site, head)).catch(() => {});
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
    const { key, arrays } = this.model.get("spec");
    if (key !== this.data?.key) this.looked = null;
    for (const [address, packed] of Object.entries(arrays)) this.library.put(address, packed);
    super.receive();
  }

  /**
   * A head and a view that exist here.
   *
   * @override
   * @param {MicroscopeSettings} settings
   */
  settle(settings) {
    const { data } = this;
    const group = groupOf(data, settings.attention);
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
    if (hasMoved) this.#retireViews();
    if (same(this.#wanted(), this.#onScreen) && !this.isBusy) return; // an echo of what is drawn
    this.redraw();
  }

  /** What the drawing depends on. */
  #wanted() {
    const { data, settings, palette } = this;
    return [data.key, data.runs.map(({ key }) => key), settings, palette.background];
  }

  /** Controls take their values when they are made, so other settings need other controls. */
  #retireViews() {
    for (const view of this.#views.values()) view.leave();
    this.#retired.push(...this.#views.values());
    this.#views.clear();
  }

  /** The group of the chosen head. @returns {Group} */
  get group() {
    return groupOf(this.data, this.settings.attention);
  }

  /** The streams the chosen head is between. */
  get between() {
    return between(this.data.streams, this.group);
  }

  get headName() {
    return headName(this.data, this.group, this.settings.layer, this.settings.head);
  }

  get isWide() {
    return this.root.clientWidth >= WIDE;
  }

  /** The view on screen, if there is one. */
  get view() {
    return this.#view;
  }

  get isBusy() {
    return this.root.hasAttribute("aria-busy");
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
    const { settings, data, palette } = this;
    const drawing = ++this.#drawing;
    this.root.setAttribute("aria-busy", "true");
    this.overview.draw(data, settings, palette);
    check(this.controls.tabs, settings.view);
    this.controls.draw();
    try {
      const loaded = await this.load(data, settings.layer, settings.head);
      if (!this.#isCurrent(drawing)) return;
      this.#showHead(loaded);
      await this.#showView(drawing);
      if (this.#isCurrent(drawing)) this.#drawn();
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
   * @param {{key: string}} run
   * @param {number} layer
   * @param {number} head
   */
  async load({ key }, layer, head) {
    const site = this.group.sites[layer];
    const loaded = await loadHead(this.library, key, site, head);
    const address = headAddress(key, site, head);
    if (loaded.isOff && !this.#differing.has(address)) {
      this.#differing.set(address, [key, site, head, loaded.error]);
      this.model.channel.differs?.([...this.#differing.values()]);
    }
    return loaded;
  }

  /** The pattern of many heads, and the cells that any of them may attend to. */
  loadSummary() {
    const { how, over, layer, head } = this.settings;
    const index = { layer, head, all: 0 }[over];
    const address = summaryAddress(this.data.key, this.group.name, how, over, index);
    return this.library.fetch(address);
  }

  /** The head to compare with: the chosen one, else the next of this layer, else of the next layer. */
  get other() {
    const { layer, head, other } = this.settings;
    const { n_layers, n_heads } = this.group;
    if (other) return [Math.min(other[0], n_layers - 1), Math.min(other[1], n_heads - 1)];
    return n_heads > 1 ? [layer, (head + 1) % n_heads] : [(layer + 1) % n_layers, head];
  }

  /** @param {LoadedHead} loaded */
  #showHead(loaded) {
    const { attention = "", layer, head, view } = this.settings;
    this.loaded = loaded;
    this.#shownHead = { key: this.data.key, group: attention, layer, head };
    this.title.textContent = view === "summary" ? "Aggregate" : this.headName;
    const does = inWords(this.data, this.group, layer, head);
    const says = view === "summary" ? [] : [`On this ${givenOf(this.data.streams)}: `, ...does];
    this.does.replaceChildren(...says);
    this.doubt.textContent = whyWithoutSteps(loaded, this.headName);
    this.doubt.hidden = !this.doubt.textContent;
    this.doubt.className = loaded.isOff ? "hl-error" : "hl-caption";
  }

  /**
   * Draw the chosen view. One that comes in another's place is drawn out of sight first and then takes
   * it at once, so that nothing below moves twice.
   *
   * @param {number} drawing
   */
  async #showView(drawing) {
    for (const retired of this.#retired.splice(0)) {
      retired.destroy();
      retired.host.remove();
    }
    const view = this.#viewOf(this.settings.view);
    this.#view = view;
    if (view.host.parentElement !== this.stage) {
      view.host.classList.add("hl-coming");
      this.stage.append(view.host);
    }
    await view.draw(() => this.#isCurrent(drawing));
    if (!this.#isCurrent(drawing)) return;
    for (const other of this.#views.values()) if (other !== view) other.leave();
    view.host.classList.remove("hl-coming");
    if (this.stage.childElementCount > 1) this.stage.replaceChildren(view.host);
  }

  /**
   * A view by its name, made when it is first wanted.
   *
   * @param {string} name
   */
  #viewOf(name) {
    const known = this.#views.get(name);
    if (known) return known;
    const view = new VIEWS[name](this, html("div", { class: `hl-view hl-view-${name}` }));
    this.#views.set(name, view);
    return view;
  }

  #drawn() {
    const { view, stage } = this.settings;
    this.complain(null);
    this.root.removeAttribute("aria-busy");
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
    const again = this.isOffline ? undefined : () => this.set({ attention, layer, head });
    this.complain(error instanceof Error ? error.message : String(error), again);
    this.root.removeAttribute("aria-busy");
    if (!(error instanceof MissingArrays)) return console.warn(error);
    if (error.isLost && !this.isOffline) this.model.channel.lost?.(this.data.key);
    if (this.#shownHead?.key !== this.data.key) return this.#clear();
    this.#goBackTo(this.#shownHead, drawn);
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
    this.overview.draw(this.data, this.settings, this.palette);
    // An echo of that head from Python must not take the word of what is missing away.
    if (same(this.#wanted(), drawn)) this.#onScreen = drawn;
  }

  /** Nothing of this sentence is here: show nothing rather than another's numbers. */
  #clear() {
    this.title.textContent = "";
    this.does.textContent = "";
    this.stage.replaceChildren();
    this.root.dataset.drawn = "";
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
}

export default partOf("attention", Microscope);
