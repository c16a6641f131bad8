// The view to give to others: its link, and a picture of it.

import { button, html } from "../../dom.js";
import { drawingOf, pictureMenu } from "../../export.js";

/** @import { Home } from "../home.js" */

const SAID = 2000; // milliseconds that a button says what it has done
// What only answers a hand, and the head that is large, which stands over all else.
const LEFT_OUT = [
  ".hl-home-next > :is(.hl-order, .hl-row)",
  ".hl-home-foot > :not(.hl-home-says)",
  ".hl-home-large",
].join();

export class Share {
  /** @param {Home} home whose view is shared */
  constructor(home) {
    const { lifetime } = home;
    this.home = home;
    this.lifetime = lifetime;
    const about = { class: "hl-input", "aria-label": "Link to this view" };
    this.link = html("input", { readonly: true, ...about });
    const copy = button("Copy link", () => this.#copy(copy));
    this.says = html("p", { class: "hl-caption", role: "status" });
    const saves = pictureMenu(() => this.#shown(), this.says);
    this.own = html("div", { class: "hl-row" }, this.link, copy);
    const panel = html("div", { class: "hl-home-shared" }, this.own, saves, this.says);
    this.node = html("details", { class: "hl-home-share" }, html("summary", null, "Share"), panel);
    this.node.addEventListener("toggle", () => this.#show());
    lifetime.listen(document, "keydown", ({ key }) => key === "Escape" && this.#close());
    lifetime.listen(document, "pointerdown", (event) => {
      if (!event.composedPath().includes(this.node)) this.#close();
    });
  }

  #close() {
    this.node.removeAttribute("open");
  }

  #show() {
    this.own.hidden = !location.protocol.startsWith("http"); // a file has no link for others
    this.link.value = location.href;
  }

  /** @param {HTMLElement} copy */
  async #copy(copy) {
    this.link.select();
    const isCopied = await navigator.clipboard?.writeText(this.link.value).then(
      () => true,
      () => false,
    );
    copy.textContent = isCopied ? "Copied" : "Press Ctrl-C";
    this.lifetime.timeout(() => (copy.textContent = "Copy link"), SAID);
  }

  /**
   * What is saved.
   *
   * @returns {import("../../export.js").Saved}
   */
  #shown() {
    const { palette } = this.home.screen;
    return { name: "home", title: "Home", shows: [[null, this]], palette };
  }

  /** All that stands on Home, as on the page. */
  async drawing() {
    const { el, large } = this.home;
    const picture = drawingOf(el, LEFT_OUT);
    if (!large.node.hidden) picture.append(...(await large.drawing()).children);
    return picture;
  }
}
