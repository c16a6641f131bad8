// Where the views of a head stand, one at a time.

import { html } from "../../dom.js";
import { CompareView } from "./views/compare.js";
import { LinesView } from "./views/lines.js";
import { MapView } from "./views/map.js";
import { SentenceView } from "./views/sentence.js";
import { SummaryView } from "./views/summary.js";
import { WhatIfView } from "./views/whatif.js";

/** @import { Attention } from "../attention.js" */
/** @import { View } from "./view.js" */

/** @type {Record<string, new (scope: Attention, host: HTMLElement) => View>} */
export const VIEWS = {
  map: MapView,
  lines: LinesView,
  sentence: SentenceView,
  whatif: WhatIfView,
  compare: CompareView,
  summary: SummaryView,
};

export class Stage {
  /** The view on screen, if there is one. @type {View | undefined} */
  view;
  /** @type {Map<string, View>} */
  #views = new Map();
  /** Views that settings from outside have outdated, but that may still be on screen. @type {View[]} */
  #retired = [];

  /** @param {Attention} scope */
  constructor(scope) {
    this.scope = scope;
    this.node = html("div", { class: "hl-stage" });
  }

  /** Make other views for other settings. */
  retire() {
    this.#retired.push(...this.#views.values());
    this.#views.clear();
  }

  /**
   * Draw a view. One that comes in another's place is drawn out of sight first and then takes it at
   * once, so that nothing below moves twice.
   *
   * @param {string} name
   * @param {() => boolean} isCurrent whether nothing newer has been asked for since
   */
  async show(name, isCurrent) {
    for (const retired of this.#retired.splice(0)) {
      retired.destroy();
      retired.host.remove();
    }
    const view = this.#viewOf(name);
    this.view = view;
    if (view.host.parentElement !== this.node) {
      view.host.classList.add("hl-coming");
      this.node.append(view.host);
    }
    await view.draw(isCurrent);
    if (!isCurrent()) return;
    for (const other of this.#views.values()) if (other !== view) other.leave();
    view.host.classList.remove("hl-coming");
    if (this.node.childElementCount > 1) this.node.replaceChildren(view.host);
  }

  /**
   * A view by its name, made when it is first wanted.
   *
   * @param {string} name
   */
  #viewOf(name) {
    const known = this.#views.get(name);
    if (known) return known;
    const view = new VIEWS[name](this.scope, html("div", { class: `hl-view hl-view-${name}` }));
    this.#views.set(name, view);
    return view;
  }
}
