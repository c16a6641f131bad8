// The tokens of the text in rows, at the left of everything; of a picture its patches.

import { weightShare } from "../../colors.js";
import { html } from "../../dom.js";
import { Tokens } from "../../marks/tokens.js";
import { HEADER } from "./layout.js";
import { TOKENS, eased, staggered } from "./timeline.js";

/** @import { Run } from "./numbers.js" */
/** @import { Scene } from "./scene.js" */
/** @import { Palette } from "../../wire.js" */

const LEAST_Y = 14; // pixels: half a button
const PITCH = 26; // of the tokens above a picture

/** @typedef {(share: number) => [number, number]} Flight where a token is after a share of its way */

export class HomeTokens {
  #built = ""; // of which run
  #placed = "";
  #nPatches = 0;
  /** What was put in the place of a blank, by rows. @type {Map<number, {label: string, isIt: boolean}>} */
  #fills = new Map();

  /**
   * @param {{look: (i: number) => void, keep: (i: number) => void, rest: () => void}} act
   */
  constructor({ look, keep, rest }) {
    this.row = new Tokens("", "Tokens", { pick: keep, step: look });
    this.flying = html("span", { class: "hl-token hl-flying", translate: "no", hidden: true });
    this.image = html("canvas", { "aria-hidden": "true", hidden: true });
    this.names = html("div", { class: "hl-home-bands" });
    const parts = [this.image, this.names, this.row.node, this.flying];
    this.node = html("div", { class: "hl-home-tokens" }, parts);
    const lookAt = (/** @type {Event} */ { target }) => {
      const i = this.row.nodes.findIndex((node) => node.contains(/** @type {Node} */ (target)));
      if (i >= 0) look(i);
    };
    this.row.node.addEventListener("pointermove", lookAt);
    this.row.node.addEventListener("focusin", (event) => {
      if (/** @type {Element} */ (event.target).matches(":focus-visible")) lookAt(event);
    });
    this.row.node.addEventListener("focusout", rest);
  }

  /** Blanks are empty once more. */
  reset() {
    this.#built = "";
  }

  /**
   * Make room for the tokens of a run.
   *
   * @param {Run} run
   * @param {import("./layout.js").Flow} flow
   * @param {OffscreenCanvas | null} image the picture that was given
   */
  build(run, flow, image) {
    const { tokens, picture, next, height } = flow;
    this.#show(picture, image);
    this.#name(run, flow);
    if (this.#built !== run.spec.key) this.#fills.clear(); // else what fills a blank stays
    this.#built = run.spec.key;
    this.#nPatches = picture ? picture.side ** 2 : 0;
    const names = next ? 0 : tokens.x + tokens.width; // where the rest scrolls below them
    const sizes = { names, high: height, cell: picture?.cell ?? 0 };
    for (const [name, size] of Object.entries(sizes))
      this.node.style.setProperty(`--hl-${name}`, `${size}px`);
    this.node.style.fontSize = `${tokens.font}px`;
    this.#placed = "";
  }

  /**
   * @param {import("./layout.js").PicturePlace | null} place
   * @param {OffscreenCanvas | null} image
   */
  #show(place, image) {
    this.image.hidden = !place;
    if (!place || !image) return;
    const { x, y, cell, side } = place;
    Object.assign(this.image, { width: image.width, height: image.height });
    this.image.getContext("2d")?.drawImage(image, 0, 0);
    const size = `${side * cell}px`;
    Object.assign(this.image.style, { left: `${x}px`, top: `${y}px`, width: size, height: size });
  }

  /**
   * Above each of several bands its name.
   *
   * @param {Run} run
   * @param {import("./layout.js").Flow} flow
   */
  #name({ spec }, { bands, tokens }) {
    const named = bands.length > 1 ? bands : [];
    const names = named.map(({ top }, band) => {
      const { name } = spec.bands[band];
      const node = html("span", null, `${name[0].toUpperCase()}${name.slice(1)}`);
      Object.assign(node.style, { left: `${tokens.x}px`, top: `${top - HEADER}px` });
      return node;
    });
    this.names.replaceChildren(...names);
  }

  /**
   * @param {Scene} scene
   */
  place({ flow, rows, run, time, flight }) {
    const part = time.isFirst ? time.done(TOKENS) : 1;
    const state = [part, run.n, rows.y(run.n - 1), flow.tokens.x, flight && time.at].join();
    if (state === this.#placed) return;
    this.#placed = state;
    this.row.nodes.forEach(({ style }, i) => {
      const p = staggered(part, i, run.n, 0.45);
      const [x, y] = tokenAt(flow, rows, run, i);
      const left = (x - 24 * (1 - p)).toFixed(1);
      style.transform = `translate(${left}px,${y.toFixed(1)}px) translateY(-50%)`;
      style.opacity = String(p);
    });
    this.flying.hidden = !flight;
    if (!flight) return;
    const share = eased(time.done(time.FLY));
    const [x, y] = flight(share);
    const scale = 1 + 0.6 * Math.sin(Math.PI * share);
    const to = `translate(${x.toFixed(1)}px,${y.toFixed(1)}px) translateY(-50%)`;
    this.flying.style.transform = `${to} scale(${scale.toFixed(3)})`;
  }

  /**
   * A button for each token, tinted by what the query gives it of its attention; null tints none.
   *
   * @param {Run} run
   * @param {number} query
   * @param {number[] | null} row
   * @param {Palette} palette
   */
  show(run, query, row, palette) {
    const { labels, looks, folded, hidden } = run.spec;
    const tokens = labels.slice(0, run.n).map((label, i) => {
      const fill = this.#fills.get(i);
      const is = {
        ...{ chosen: i === query, masked: row && run.isLater(query, i) },
        ...{ patch: i >= run.n - this.#nPatches, blank: hidden.some(([at]) => at === i) },
        ...{ right: fill?.isIt, wrong: fill && !fill.isIt },
      };
      const share = row ? weightShare(row[i], palette) : 0;
      const look = looks?.[i];
      return { label: fill?.label ?? label, look, share, is, isFixed: folded.includes(i) };
    });
    this.row.show(tokens);
  }

  /** The tokens as they stand there, and what is true of each. */
  read() {
    return this.row.read();
  }

  /**
   * Put an answer in the place that it was asked for, whether or not it stood there.
   *
   * @param {number} row
   * @param {string} label
   * @param {boolean} isIt
   */
  fill(row, label, isIt) {
    this.#fills.set(row, { label, isIt });
  }
}

/**
 * Where a token or a patch stands.
 *
 * @param {import("./layout.js").Flow} flow
 * @param {import("./layout.js").Rows} rows
 * @param {Run} run
 * @param {number} row
 * @returns {[number, number]}
 */
export function tokenAt({ tokens, picture }, rows, run, row) {
  if (!picture) return [tokens.x, rows.y(row)];
  const { x, y, cell, side } = picture;
  const patch = row - (run.n - side ** 2);
  if (patch < 0) return [x, Math.max(rows.y(0), LEAST_Y) + row * PITCH];
  return [x + (patch % side) * cell, y + (Math.floor(patch / side) + 0.5) * cell];
}

/**
 * A way over the maps.
 *
 * @param {[number, number]} from
 * @param {[number, number]} to
 * @returns {Flight}
 */
export function flightOver([x0, y0], [x1, y1]) {
  const [over, high] = [(x0 + x1) / 2, Math.min(y0, y1) - 240];
  return (share) => {
    const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
    return [a * x0 + b * over + c * x1, a * y0 + b * high + c * y1];
  };
}
