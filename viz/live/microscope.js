// The microscope: the state of the view, the head it shows, and who must know when either changes.

import { Library, MissingArrays, headAddress, summaryAddress } from "./arrays.js";
import { currentPalette, paletteVariables } from "./colors.js";
import { Conversation, same } from "./conversation.js";
import { check, html, radios, toggle } from "./dom.js";
import { exportMenu } from "./exports.js";
import { relativeError, steps } from "./maths.js";
import { Overview } from "./overview.js";
import { CompareView } from "./views/compare.js";
import { LinesView } from "./views/lines.js";
import { MapView } from "./views/map.js";
import { SentenceView } from "./views/sentence.js";
import { SummaryView } from "./views/summary.js";
import { WhatIfView } from "./views/whatif.js";

const VIEWS = {
  map: { text: "Step by step", make: MapView },
  lines: { text: "Lines", make: LinesView },
  sentence: { text: "One token", make: SentenceView },
  whatif: { text: "What if", make: WhatIfView },
  compare: { text: "Compare", make: CompareView },
  summary: { text: "Summary", make: SummaryView },
};
const WIDE = 1080; // pixels from which the overview stands beside the map, as in live.css
const ALLOWED_ERROR = 1e-4;
const TRACED = { scores: "biased", pattern: "weights", z: "output" }; // a step by its name in the trace
const computed = new WeakMap(); // steps of arrays, so that a head seen again is not computed again

export class Microscope {
  /** `tell` hands {turn, changes, checked} to Python, `lost` asks it to run the sentence again. */
  constructor(
    root,
    { tell = () => {}, lost = () => {}, library = new Library(), offline = false } = {},
  ) {
    this.conversation = new Conversation(tell);
    Object.assign(this, { root, lost, library, offline });
    this.views = {};
    this.looked = null;
    this.buildFrame();
  }

  buildFrame() {
    this.badge = html("output", { class: "hl-badge", "data-check": "" });
    this.alert = html("p", { class: "hl-error", role: "alert", hidden: true });
    this.spoken = html("p", { class: "hl-hidden", "aria-live": "polite" });
    this.title = html("h2", { class: "hl-title" });
    this.tabs = radios(
      "hl-view",
      "View",
      Object.entries(VIEWS).map(([value, { text }]) => ({ value, text })),
      "",
      (view) => this.set({ view }),
    );
    this.hideFirst = toggle(
      "Hide the first token",
      (on) => this.set({ hide_first: on }),
      "Many heads park their attention there (a sink); the scale adapts to the rest",
    );
    this.mergeWords = toggle("Merge pieces to words", (on) => this.set({ words: on, token: null }));
    this.options = html("div", { class: "hl-row hl-options" }, this.hideFirst, this.mergeWords);
    const heads = html("section", { class: "hl-panel hl-heads", "aria-label": "All heads" });
    this.stage = html("div", { class: "hl-stage" });
    this.slot = html("div"); // room below the overview, for a view whose map needs the width
    this.overview = new Overview(heads, {
      open: (layer, head) =>
        this.set({ layer, head, ...(this.settings.view === "summary" ? { view: "map" } : {}) }),
      near: (layer, head) =>
        this.library.fetch(headAddress(this.data.key, layer, head)).catch(() => {}),
      openMean: (over, index) => this.set({ view: "summary", how: "mean", over, [over]: index }),
    });
    heads.append(this.slot);
    this.root.replaceChildren(
      this.alert,
      this.spoken,
      html(
        "div",
        { class: "hl-grid" },
        heads,
        html(
          "section",
          { class: "hl-panel hl-instrument", "aria-label": "One head" },
          html("div", { class: "hl-row hl-head-row" }, this.title, this.badge),
          html("div", { class: "hl-row" }, this.tabs, this.options),
          this.stage,
          exportMenu(this),
        ),
      ),
    );
  }

  /** Take what Python sent; what a person has changed since, and it has not heard, stays. */
  receive(data, host = this.root) {
    if (data.key !== this.data?.key) this.looked = null;
    this.data = data;
    this.themes = data.themes;
    this.usePalette(host);
    for (const [address, arrays] of Object.entries(data.arrays)) this.library.put(address, arrays);
    const settings = this.conversation.merged(data);
    settings.layer = Math.min(settings.layer, data.n_layers - 1);
    settings.head = Math.min(settings.head, data.n_heads - 1);
    if (!same(settings, this.settings)) this.forgetViews();
    this.settings = settings;
    const wanted = [data.key, data.second?.key, settings, this.palette.background];
    if (same(wanted, this.onScreen) && !this.isBusy) return; // an echo of what is drawn already
    this.redraw();
  }

  usePalette(host) {
    this.palette = currentPalette(this.themes, host);
    for (const [name, value] of paletteVariables(this.palette))
      this.root.style.setProperty(name, value);
  }

  /** Controls take their values when they are made, so other settings need other controls. */
  forgetViews() {
    for (const view of Object.values(this.views)) view.leave();
    this.views = {};
  }

  set(changes) {
    this.setQuietly(changes);
    this.redraw();
  }

  /** Change settings that the caller has drawn already. */
  setQuietly(changes) {
    this.settings = { ...this.settings, ...changes };
    this.conversation.change(changes);
  }

  get isWide() {
    return this.root.clientWidth >= WIDE;
  }

  get headName() {
    return `L${this.settings.layer} H${this.settings.head}`;
  }

  /** The pinned cell, else the one last looked at, else the strongest pair of the head. */
  cell() {
    const { settings, looked, data } = this;
    const [query, key] = settings.cell ?? looked ?? data.strongest[settings.layer][settings.head];
    return [Math.min(query, data.queryLabels.length - 1), Math.min(key, data.keyLabels.length - 1)];
  }

  /** Draw what is chosen. The title and the check change with the numbers, never before them. */
  async redraw() {
    const { settings, data } = this;
    const drawing = (this.drawing = (this.drawing ?? 0) + 1);
    this.root.setAttribute("aria-busy", "true");
    this.overview.draw(data, [settings.layer, settings.head], this.palette);
    check(this.tabs, settings.view);
    this.drawOptions();
    try {
      const loaded = await this.load(data, settings.layer, settings.head);
      if (!this.isCurrent(drawing)) return;
      this.showHead(loaded);
      await this.showView(drawing);
      if (this.isCurrent(drawing)) this.drawn();
    } catch (error) {
      if (this.isCurrent(drawing)) this.failed(error);
    }
  }

  /** Whether nothing newer has been asked for since a drawing began. */
  isCurrent(drawing) {
    return drawing === this.drawing;
  }

  showHead(loaded) {
    const { layer, head, view } = this.settings;
    this.loaded = loaded;
    this.shownHead = { key: this.data.key, layer, head };
    this.title.textContent = view === "summary" ? "Many heads" : this.headName;
    this.badge.hidden = view === "summary";
    this.showCheck();
  }

  drawn() {
    const { view, stage } = this.settings;
    this.complain(null);
    this.root.removeAttribute("aria-busy");
    this.onScreen = [this.data.key, this.data.second?.key, this.settings, this.palette.background];
    this.root.dataset.drawn = `${this.data.key} ${this.headName} ${view} ${stage}`;
  }

  get isBusy() {
    return this.root.hasAttribute("aria-busy");
  }

  /** One head of one run: its arrays, its steps, and how far these are from the trace. */
  async load(data, layer, head) {
    const arrays = await this.library.fetch(headAddress(data.key, layer, head));
    if (!computed.has(arrays)) computed.set(arrays, computedFrom(arrays));
    return computed.get(arrays);
  }

  /** The head to compare with: the chosen one, else the next of this layer, else of the next layer. */
  get other() {
    const { layer, head, other } = this.settings;
    const { n_layers, n_heads } = this.data;
    if (other) return other;
    return n_heads > 1 ? [layer, (head + 1) % n_heads] : [(layer + 1) % n_layers, head];
  }

  /** The head or sentence to compare with, or null when there is none yet. */
  async loadOther() {
    const { settings, data } = this;
    if (settings.against === "sentence") {
      if (!data.second) return null;
      const loaded = await this.load(data.second, settings.layer, settings.head);
      return { ...loaded, data: data.second, name: "second sentence" };
    }
    const [layer, head] = this.other;
    return { ...(await this.load(data, layer, head)), data, name: `L${layer} H${head}` };
  }

  async loadSummary() {
    const { how, over, layer, head } = this.settings;
    const index = { layer, head, all: 0 }[over];
    const { pattern } = await this.library.fetch(summaryAddress(this.data.key, how, over, index));
    return pattern;
  }

  async showView(drawing) {
    const name = this.settings.view;
    if (this.shownView !== name) this.views[this.shownView]?.leave();
    if (!this.views[name]) {
      const host = html("div", { class: `hl-view hl-view-${name}` });
      this.views[name] = new VIEWS[name].make(this, host);
      this.views[name].host = host;
    }
    this.shownView = name;
    if (this.stage.firstChild !== this.views[name].host)
      this.stage.replaceChildren(this.views[name].host);
    await this.views[name].draw(() => this.isCurrent(drawing));
  }

  get view() {
    return this.views[this.shownView];
  }

  drawOptions() {
    const { hide_first, words, view, stage } = this.settings;
    const hasWeights = view !== "map" || stage === "weights";
    const hasPieces = this.data.words.at(-1) + 1 < this.data.words.length;
    setToggle(this.hideFirst, hide_first, hasWeights);
    const isBetweenTokens = view === "map" || view === "whatif";
    setToggle(this.mergeWords, words, hasPieces && !isBetweenTokens);
    this.mergeWords.title = isBetweenTokens
      ? "Not in this view: its steps are between tokens. See Lines, One token, Compare, Summary."
      : hasPieces
        ? "Weights to the pieces of a word are summed, weights from them averaged"
        : "Every token of this sentence is a word of its own";
  }

  showCheck() {
    const { error } = this.loaded;
    const passed = error <= ALLOWED_ERROR;
    this.badge.classList.toggle("hl-bad", !passed);
    this.badge.dataset.check = error;
    const shown = Number.isNaN(error) ? "not a number" : error.toExponential(0);
    this.badge.textContent = passed
      ? `✓ recomputed here, worst error ${shown}`
      : `✗ recomputed here, error ${shown}: not the model’s numbers`;
    const checked = {
      key: this.data.key,
      head: this.headName,
      error: Number.isNaN(error) ? null : error,
    };
    this.conversation.report("checked", checked);
  }

  /** Say what is missing; a head that is not here gives way to the one that was. */
  failed(error) {
    this.onScreen = null;
    const { layer, head } = this.settings;
    const again = this.offline ? null : () => this.set({ layer, head });
    this.complain(error.message, again);
    this.root.removeAttribute("aria-busy");
    if (!(error instanceof MissingArrays)) return console.warn(error);
    if (error.lost && !this.offline) this.lost(this.data.key);
    const back = this.shownHead;
    if (back?.key !== this.data.key) return this.clear();
    if (back.layer === layer && back.head === head) return;
    this.setQuietly({ layer: back.layer, head: back.head });
    this.overview.draw(this.data, [back.layer, back.head], this.palette);
  }

  /** Nothing of this sentence is here: show nothing rather than another's numbers. */
  clear() {
    this.title.textContent = "";
    this.badge.textContent = "";
    this.stage.replaceChildren();
    this.root.dataset.drawn = "";
  }

  complain(text, again = null) {
    this.alert.hidden = !text;
    this.alert.replaceChildren(text ?? "");
    if (!again) return;
    const button = { type: "button", class: "hl-button", onclick: again };
    this.alert.append(" ", html("button", button, "Try again"));
  }

  /** Words for the pinned cell and for moves by keyboard; what the mouse passes is kept unsaid. */
  say(words, aloud) {
    this.said = words;
    if (aloud && this.spoken.textContent !== words) this.spoken.textContent = words;
  }
}

/** The steps of a head and the worst error between them and what the trace has. */
function computedFrom(head) {
  const all = steps(head);
  const errors = Object.entries(TRACED).map(([traced, step]) =>
    relativeError(all[step].values, head[traced].values),
  );
  return { head, steps: all, error: Math.max(...errors) };
}

/** Controls stay the same elements, so that the keyboard's focus stays on them. */
function setToggle(label, checked, enabled) {
  const input = label.querySelector("input");
  input.checked = checked && enabled;
  input.disabled = !enabled;
}
