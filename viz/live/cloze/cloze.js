// Cloze: words that are hidden, what an encoder predicts in their places, and the attention it does so with.

import { Library, headAddress } from "../../kit/arrays.js";
import { button, check, html, radios } from "../../kit/dom.js";
import { Grids } from "../../kit/marks/grids.js";
import { called } from "../../kit/groups.js";
import { HeatMap } from "../../kit/marks/heatmap.js";
import { Instrument } from "../instrument.js";
import { pairsInWords, pictured, shownPattern, weightScale } from "../../kit/patterns.js";
import { Filled } from "./filled.js";
import { FoundTable } from "./found.js";
import { Words } from "./words.js";

/** @import { Matrices } from "../../kit/arrays.js" */
/** @import { Receiver } from "../../kit/wire.js" */
/** @import { Chosen } from "../../kit/groups.js" */
/** @import { ClozeData, ClozeSettings } from "./wire.js" */

const QUIET_MS = 30; // a click acts at once
const BETWEEN_MS = 1100; // two words, when each is hidden in turn
// Pixels of the map: what a window has beyond what stands above it, within reason.
const MAP = { above: 430, least: 260, most: 440 };
const ALL_HIDDEN =
  "Every token is hidden: what is left to predict from are the length of the sentence and positions.";
const NONE_HIDDEN = "Nothing is hidden: click a word, and the model predicts what stood there.";
const UNTRAINED = "The model was trained without a mask: this is new to it.";

/** @extends {Instrument<ClozeData>} */
export class Cloze extends Instrument {
  #library = new Library();
  #drawing = 0;
  #isPlaying = false;
  #cancelPlay = () => {};

  /**
   * @param {HTMLElement} root
   * @param {Receiver} [receiver]
   */
  constructor(root, receiver) {
    super(root, receiver, QUIET_MS);
    this.words = new Words((place) => this.#toggle(place));
    this.found = new FoundTable((place) => this.set({ blank: place }));
    this.filled = new Filled((changed) => this.#steer(changed));
    this.says = html("p", { class: "hl-caption hl-cloze-says", role: "status" });
    this.failure = html("p", { class: "hl-error", role: "alert", hidden: true });
    this.title = html("h3");
    this.host = html("div", { class: "hl-map" });
    this.play = button("", () => this.#togglePlay());
    this.harder = button("A harder word", () => this.#hide([this.data.hardest]), {
      title: "Hide the word that the model is worst at here",
    });
    this.masks = radios(
      "hl-causal",
      "Mask",
      [
        { value: "no", text: "no mask" },
        { value: "yes", text: "causal mask" },
      ],
      "no",
      (value) => this.set({ causal: value === "yes" }),
    );
    const grids = html("div", { class: "hl-grids-of-heads" });
    this.grids = new Grids(grids, this.lifetime, (at) => this.set({ at }));
    root.replaceChildren(html("div", { class: "hl-cloze" }, ...this.#panels(grids)));
    this.map = new HeatMap(this.host, this.lifetime, {
      point: (row, column) => this.map.mark(row, column),
      most: Math.min(MAP.most, Math.max(MAP.least, innerHeight - MAP.above)),
      drag: false,
    });
    this.lifetime.watchSize(this.filled.node, () => {
      if (this.data) this.#showFilled();
    });
  }

  /** @param {HTMLElement} grids */
  #panels(grids) {
    const tools = html(
      "div",
      { class: "hl-row hl-cloze-tools" },
      this.play,
      button("Hide all", () => this.#hide(this.data.labels.map((_, place) => place))),
      button("Hide none", () => this.#hide([])),
      this.harder,
      html("div", { class: "hl-cloze-masks" }, html("span", null, "Attention"), this.masks),
      this.says,
    );
    /** @type {(name: string, kind: string, ...children: Node[]) => HTMLElement} */
    const panel = (name, kind, ...children) =>
      html("section", { class: `hl-panel ${kind}`, "aria-label": name }, ...children);
    return [
      panel("Words", "hl-cloze-top", this.words.node, tools, this.failure),
      panel("What was hidden", "hl-cloze-left", this.found.node, this.filled.node),
      panel("All heads", "hl-cloze-middle", grids),
      panel("One head", "hl-cloze-right", this.title, this.host),
    ];
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    for (const [address, file] of Object.entries(this.data.arrays))
      this.#library.put(address, file);
    this.redraw();
    if (isNew) this.#goOn();
  }

  // --- what a person does -------------------------------------------------------------------------

  /**
   * Hide a token, or show it again.
   *
   * @param {number} place
   */
  #toggle(place) {
    const { blanks } = this.settings;
    const isHidden = blanks.includes(place);
    const others = blanks.filter((other) => other !== place);
    this.#hide(isHidden ? others : [...others, place], isHidden ? undefined : place);
  }

  /**
   * @param {number[]} places
   * @param {number} [shown] the one whose distribution is shown
   */
  #hide(places, shown) {
    this.#stop();
    this.#take(places, shown);
  }

  /**
   * @param {number[]} places
   * @param {number} [shown]
   */
  #take(places, shown) {
    const blanks = [...places].sort((a, b) => a - b);
    const last = blanks.includes(this.settings.blank) ? this.settings.blank : blanks.at(-1);
    this.setQuietly({ blanks, blank: shown ?? last ?? -1 });
    this.words.draw(this.data, blanks, this.settings.blank);
    this.#showSays();
  }

  /** @param {Partial<ClozeSettings>} changed */
  #steer(changed) {
    this.setQuietly(changed);
    this.#showFilled();
  }

  #togglePlay() {
    if (this.#isPlaying) {
      this.#stop();
      return;
    }
    this.#isPlaying = true;
    this.#showPlay();
    this.#take([0], 0);
    this.#goOn();
  }

  #stop() {
    this.#isPlaying = false;
    this.#cancelPlay();
    this.#showPlay();
  }

  /** While each is hidden in turn, the next one comes a moment after the last is on screen. */
  #goOn() {
    this.#cancelPlay();
    if (!this.#isPlaying) return;
    this.#cancelPlay = this.lifetime.timeout(() => {
      const next = this.settings.blank + 1;
      if (next < this.data.labels.length) this.#take([next], next);
      else this.#stop();
    }, BETWEEN_MS);
  }

  // --- drawing ------------------------------------------------------------------------------------

  /** The head that is shown. @returns {Chosen} */
  get #chosen() {
    const parts = this.settings.at.split(".");
    const [layer, head] = parts.slice(-2).map(Number);
    const name = parts.slice(0, -2).join(".");
    const [first] = this.data.groups;
    const group = this.data.groups.find((one) => one.name === name) ?? first;
    return { group, layer, head, over: "head" };
  }

  /** @override */
  async redraw() {
    const { data, settings, palette } = this;
    const chosen = this.#chosen;
    const { arrays_key, groups, tile_codes } = data;
    this.words.draw(data, settings.blanks, settings.blank);
    check(this.masks, settings.causal ? "yes" : "no");
    this.harder.hidden = data.hardest < 0;
    this.harder.disabled = settings.blanks.join() === `${data.hardest}`;
    this.#showPlay();
    this.#showSays();
    this.found.draw(data, data.shown?.place ?? -1);
    this.#showFilled();
    this.grids.draw({ key: arrays_key, groups, tile_codes }, chosen, palette);
    const turn = ++this.#drawing;
    const site = chosen.group.sites[chosen.layer];
    const address = headAddress(arrays_key, site, chosen.head);
    const head = await this.#library.fetch(address).catch((error) => this.#fail(error));
    if (!head || turn !== this.#drawing || this.lifetime.isOver) return;
    this.failure.hidden = true;
    await this.#drawMap(chosen, head);
    if (turn !== this.#drawing || this.lifetime.isOver) return;
    this.root.dataset.drawn = `${data.key} cloze ${settings.at}`;
  }

  /**
   * @param {Error & {isLost?: boolean}} error
   * @returns {null}
   */
  #fail(error) {
    this.failure.hidden = false;
    this.failure.textContent = error.message;
    if (error.isLost) this.receiver.lost?.(this.data.key);
    return null;
  }

  #showPlay() {
    this.play.textContent = this.#isPlaying ? "■ Stop" : "▶ Hide each in turn";
  }

  #showSays() {
    const { blanks, causal } = this.settings;
    const isAll = blanks.length === this.data.labels.length;
    const about = blanks.length ? (isAll ? ALL_HIDDEN : "") : NONE_HIDDEN;
    this.says.textContent = [about, this.#verdict, causal ? UNTRAINED : ""]
      .filter(Boolean)
      .join(" ");
  }

  /** In words how many of the hidden tokens were found, once Python has said it; else nothing. */
  get #verdict() {
    const { found } = this.data;
    const places = found.map(({ place }) => place);
    if (!places.length || places.join() !== this.settings.blanks.join()) return "";
    const n = found.filter(({ rank }) => !rank).length;
    if (found.length > 1) return `Found: ${n} of ${found.length}.`;
    const [{ label, rank }] = found;
    return n
      ? `Found: “${label}” is its first guess.`
      : `Not found: “${label}” is guess number ${(rank + 1).toLocaleString("en")}.`;
  }

  #showFilled() {
    this.filled.draw(this.data, this.settings, this.palette);
  }

  /**
   * @param {Chosen} chosen
   * @param {Matrices} head
   */
  async #drawMap(chosen, { pattern, mask }) {
    const { stream } = this.data;
    const between = {
      kind: /** @type {const} */ ("self"),
      queries: stream,
      keys: stream,
      rowTitle: "query",
      columnTitle: "key",
    };
    const shown = shownPattern(pattern, Uint8Array.from(mask.values), between);
    this.title.textContent = called(chosen);
    pictured(this.host, `${called(chosen)}: ${pairsInWords(shown)}`);
    await this.map.draw({ ...shown, scale: weightScale(shown) }, this.palette);
  }
}
