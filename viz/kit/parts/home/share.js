// The view to give to others: its link, and a picture of it with the words that stand on it.

import { button, download, html } from "../../dom.js";
import { linesOf } from "../../export.js";

const SCALE = 2; // pixels of the picture for one on screen
const MARGIN = 24;
const SAID = 2000; // milliseconds that a button says what it has done
// What is written on the picture; of each its own colours.
const TEXTS = [
  ".hl-home-tokens button",
  ".hl-home-bands > span",
  ".hl-home-next h2",
  ".hl-home-gives",
  ".hl-home-next li > :is(button, .hl-dist-number)",
  ".hl-home-axis span",
  ".hl-home-says",
].join();

const BARS = ".hl-home-next :is(.hl-dist-track, .hl-dist-before, .hl-dist-after)";

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
    const about = { class: "hl-input", "aria-label": "Link to this view" };
    this.link = html("input", { readonly: true, ...about });
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
    const picture = pictureOf(this.root, await this.large.image());
    const blob = await new Promise((resolve) => picture.toBlob(resolve, "image/png"));
    download(/** @type {Blob} */ (blob), "headlight.png");
  }
}

/**
 * What is on screen of Home as one picture.
 *
 * @param {HTMLElement} root
 * @param {HTMLImageElement | null} map of the head that is large
 */
function pictureOf(root, map) {
  const { left, top, width, height } = root.getBoundingClientRect();
  const canvas = html("canvas", {
    width: Math.round(SCALE * (width + 2 * MARGIN)),
    height: Math.round(SCALE * (height + 2 * MARGIN)),
  });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(SCALE, SCALE);
  context.fillStyle = getComputedStyle(root).getPropertyValue("--hl-background");
  context.fillRect(0, 0, width + 2 * MARGIN, height + 2 * MARGIN);
  context.translate(MARGIN - left, MARGIN - top);
  for (const drawn of root.querySelectorAll("canvas")) {
    const box = drawn.getBoundingClientRect();
    context.imageSmoothingEnabled = false;
    if (box.width) context.drawImage(drawn, box.left, box.top, box.width, box.height);
  }
  for (const bar of root.querySelectorAll(BARS)) drawBar(context, bar);
  for (const node of root.querySelectorAll(TEXTS)) write(context, node);
  if (map) drawLarge(context, root, map);
  return canvas;
}

/**
 * A head that is large, over all else.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {HTMLElement} root
 * @param {HTMLImageElement} map
 */
function drawLarge(context, root, map) {
  const [frame, title, chart] = ["", " header p", " .hl-chart"].map((part) => {
    return /** @type {Element} */ (root.querySelector(`.hl-home-large${part}`));
  });
  const { backgroundColor, borderTopColor } = getComputedStyle(frame);
  const { left, top, width, height } = frame.getBoundingClientRect();
  Object.assign(context, { fillStyle: backgroundColor, strokeStyle: borderTopColor, lineWidth: 1 });
  context.fillRect(left, top, width, height);
  context.strokeRect(left, top, width, height);
  write(context, title);
  const box = chart.getBoundingClientRect();
  context.drawImage(map, box.left, box.top, box.width, box.height);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Element} bar
 */
function drawBar(context, bar) {
  const { left, top, width, height } = bar.getBoundingClientRect();
  context.fillStyle = getComputedStyle(bar).backgroundColor;
  context.fillRect(left, top, width, height);
}

/**
 * A text where it stands, line by line, on its background.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Element} node
 */
function write(context, node) {
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  if (!box.width || style.opacity === "0") return;
  context.fillStyle = style.backgroundColor;
  context.fillRect(box.left, box.top, box.width, box.height);
  context.textBaseline = "middle";
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const piece = /** @type {Text} */ (walker.currentNode);
    const { color, fontWeight, fontSize, fontFamily } = getComputedStyle(
      /** @type {Element} */ (piece.parentElement),
    );
    context.fillStyle = color;
    context.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    for (const { text, x, y } of linesOf(piece)) context.fillText(text, x, y);
  }
}
