// The view to give to others: its link, and a picture of it with the words that stand on it.

import { button, download, html, setAll, svg } from "../../dom.js";
import { asPng, drawingOf } from "../../export.js";

const MARGIN = 24;
const SAID = 2000; // milliseconds that a button says what it has done
// What is written on the picture.
const TEXTS = [
  ".hl-home-tokens .hl-token",
  ".hl-home-bands > span",
  ".hl-home-next h2",
  ".hl-home-gives",
  ".hl-home-next li > :is(button, .hl-dist-number)",
  ".hl-home-axis span",
  ".hl-home-says",
].join();
const BARS = ".hl-home-next :is(.hl-dist-track, .hl-dist-before, .hl-dist-after)";
const SHOWN = `canvas, ${BARS}, :is(${TEXTS}), :is(${TEXTS}) *`;
const LARGE = "header p, header p *";

export class Share {
  /**
   * @param {HTMLElement} root of what is shared
   * @param {import("./large.js").Large} large the head that may stand on it
   * @param {import("../../lifetime.js").Lifetime} lifetime
   */
  constructor(root, large, lifetime) {
    this.root = root;
    this.large = large;
    this.lifetime = lifetime;
    this.link = html("input", { readonly: true, "aria-label": "Link to this view" });
    const copy = button("Copy link", () => this.#copy(copy));
    const save = button("Save picture", () => this.#save());
    this.own = html("div", { class: "hl-row" }, this.link, copy);
    const panel = html("div", { class: "hl-home-shared" }, this.own, save);
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

  async #save() {
    download(await asPng(await pictureOf(this.root, this.large)), "headlight.png");
  }
}

/**
 * What is on screen of Home as one picture, with the head that is large over all else.
 *
 * @param {HTMLElement} root
 * @param {import("./large.js").Large} large
 */
async function pictureOf(root, large) {
  const picture = drawingOf(root, SHOWN);
  picture.append(...drawingOf(large.node, LARGE).childNodes, ...(await large.drawings()));
  const { left, top, width, height } = root.getBoundingClientRect();
  const [x, y] = [left - MARGIN, top - MARGIN];
  const size = { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
  const fill = getComputedStyle(root).getPropertyValue("--hl-background");
  picture.prepend(svg("rect", { x, y, ...size, fill }));
  setAll(picture, { ...size, viewBox: `${x} ${y} ${size.width} ${size.height}` });
  return picture;
}
