// All sliders of sampling: temperature and top-p in sight, the others, their order and what is left
// after each one click away.

import { same } from "../../conversation.js";
import { button, html } from "../../dom.js";
import { NAMES, SIMPLE, Sliders } from "../../sliders.js";

/** @import { Chosen, More } from "../../sliders.js" */
/** @import { Bounds, SamplerSettings, StepName } from "../../wire.js" */

const BY_ORDER =
  "Applied from top to bottom, from the next token on. Min-p removes tokens below that share of the " +
  "most likely one’s probability.";
const MORE = "Top-k, min-p, order";
const GREEDY = "Greedy takes the most likely token: the sliders change nothing.";

export class AllSliders extends Sliders {
  #isMoreSet = false; // whether something was set that is one click away

  /**
   * @param {(changes: Partial<SamplerSettings>) => void} change a person moved one
   * @param {() => void} toggle what is one click away was opened or closed
   */
  constructor(change, toggle) {
    super(/** @type {(changes: Partial<Chosen>) => void} */ (change));
    this.words = html("p", { class: "hl-caption" });
    this.more = html("details", { class: "hl-more-sampling", ontoggle: toggle });
    this.more.append(html("summary", null, MORE), html("p", { class: "hl-caption" }, BY_ORDER));
    const panel = { class: "hl-panel hl-sampling", "aria-label": "Sampling" };
    this.node = html("section", panel, this.list, this.words, this.more);
  }

  /**
   * What an address has set shall be seen; a person may close it all the same.
   *
   * @override
   * @param {Chosen} settings
   * @param {Record<string, Bounds>} bounds
   * @param {More} more
   */
  show(settings, bounds, more) {
    super.show(settings, bounds, more);
    this.words.textContent = more.isFixed ? GREEDY : "";
    const { top_k, min_p, order } = settings;
    const isSet = Boolean(top_k || min_p) || !same(order, Object.keys(NAMES));
    if (isSet && !this.#isMoreSet) this.more.open = true;
    this.#isMoreSet = isSet;
  }

  /**
   * @override
   * @param {StepName} name
   * @param {HTMLElement} label
   * @param {number} place in the order
   * @param {More} more
   */
  row(name, label, place, { isFixed }) {
    /** @type {(by: number, sign: string, words: string) => Element} */
    const move = (by, sign, words) =>
      button(sign, () => this.#move(place, by), {
        class: "hl-button hl-move hl-more-only",
        "data-setting": `${name}${by}`,
        "aria-label": `${NAMES[name]} ${words}`,
        disabled: isFixed || place + by < 0 || place + by >= this.settings.order.length,
      });
    const more = SIMPLE.includes(name) ? null : "hl-more-only";
    return html("li", { class: more }, label, move(-1, "↑", "earlier"), move(1, "↓", "later"));
  }

  /**
   * @param {number} place
   * @param {number} by
   */
  #move(place, by) {
    const order = [...this.settings.order];
    [order[place], order[place + by]] = [order[place + by], order[place]];
    this.change({ order });
  }
}
