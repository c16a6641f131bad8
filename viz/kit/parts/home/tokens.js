// The tokens of the text in rows, at the left of everything; of a picture its patches.

import { weightShare } from "../../colors.js";
import { html } from "../../dom.js";
import { HEADER } from "./layout.js";
import { TOKENS, eased, staggered } from "./timeline.js";

/** @import { Run } from "./numbers.js" */
/** @import { Scene } from "./scene.js" */
/** @import { Palette } from "../../wire.js" */

const LEAST_Y = 14; // pixels: half a button
const PITCH = 26; // of the tokens above a picture

/** @typedef {(share: number) => [number, number]} Flight where a token is after a share of its way */

export class Tokens {
  #built = ""; // of which run
  #placed = "";
  #tinted = "";

  /**
   * @param {{look: (i: number) => void, keep: (i: number) => void, rest: () => void}} act
   */
  constructor(act) {
    this.act = act;
    this.node = html("div", { class: "hl-home-tokens", role: "group", "aria-label": "Tokens" });
    this.flying = html("span", { class: "hl-home-flying", translate: "no", hidden: true });
    this.image = html("canvas", { "aria-hidden": "true", hidden: true });
    this.names = html("div", { class: "hl-home-bands" });
    this.node.append(this.image, this.names, this.flying);
    this.node.addEventListener("focusout", () => act.rest());
  }

  /** Blanks are empty once more. */
  reset() {
    this.#built = "";
  }

  /** @returns {HTMLButtonElement[]} */
  get buttons() {
    return [...this.node.querySelectorAll("button")];
  }

  /**
   * A button for each token; those that are there stay, they may have the focus.
   *
   * @param {Run} run
   * @param {import("./layout.js").Flow} flow
   * @param {OffscreenCanvas | null} image the picture that was given
   */
  build(run, flow, image) {
    const { tokens, picture, next, height } = flow;
    const { buttons } = this;
    this.#show(picture, image);
    this.#name(run, flow);
    const { labels, folded, hidden } = run.spec;
    buttons.slice(run.n).forEach((button) => button.remove());
    const isNew = this.#built !== run.spec.key; // else what fills a blank stays
    this.#built = run.spec.key;
    labels.slice(0, run.n).forEach((label, i) => {
      const node = buttons[i] ?? this.#button(i);
      const isPatch = picture !== null && i >= run.n - picture.side ** 2;
      const text = isPatch ? "" : label;
      const size = isPatch ? `${picture.cell}px` : "";
      Object.assign(node.style, { width: size, height: size });
      if (!isNew && buttons[i]) return;
      // What is pressed must stay, or there is no click.
      if (node.textContent !== text || !node.firstChild)
        node.replaceChildren(html("bdi", null, text));
      node.ariaLabel = isPatch ? label : null;
      node.disabled = folded.includes(i);
      node.className = isPatch ? "hl-patch" : hidden.some(([row]) => row === i) ? "hl-blank" : "";
    });
    this.node.style.fontSize = `${tokens.font}px`;
    const names = next ? 0 : tokens.x + tokens.width; // where the rest scrolls below them
    this.node.style.setProperty("--hl-names", `${names}px`);
    this.node.style.setProperty("--hl-high", `${height}px`);
    this.#placed = this.#tinted = "";
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

  /** @param {number} i */
  #button(i) {
    const { look, keep } = this.act;
    const on = { onpointermove: () => look(i), onclick: () => keep(i) };
    const node = html("button", { type: "button", ...on });
    node.addEventListener("focus", () => node.matches(":focus-visible") && look(i));
    this.node.insertBefore(node, this.flying);
    return node;
  }

  /**
   * @param {Scene} scene
   */
  place({ flow, rows, run, time, flight }) {
    const part = time.isFirst ? time.done(TOKENS) : 1;
    const state = [part, run.n, rows.y(run.n - 1), flow.tokens.x, flight && time.at].join();
    if (state === this.#placed) return;
    this.#placed = state;
    this.buttons.forEach(({ style }, i) => {
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
   * Tint every token by what the query gives it of its attention; null tints none.
   *
   * @param {Run} run
   * @param {number} query
   * @param {number[] | null} row
   * @param {Palette} palette
   */
  tint(run, query, row, palette) {
    const state = [query, palette.small_weights, ...(row ?? [])].join();
    if (state === this.#tinted) return;
    this.#tinted = state;
    this.buttons.forEach((node, i) => {
      node.style.setProperty("--share", row ? weightShare(row[i], palette).toFixed(3) : "0");
      node.classList.toggle("hl-query", i === query);
      node.classList.toggle("hl-later", Boolean(row) && run.isLater(query, i));
    });
  }

  /** The tokens as they stand there, which is the query, and which it must not see yet. */
  read() {
    return this.buttons.map(({ ariaLabel, textContent, classList }) => ({
      label: ariaLabel ?? textContent,
      ...{ isQuery: classList.contains("hl-query"), isLater: classList.contains("hl-later") },
      ...{ isBlank: classList.contains("hl-blank"), fill: fillOf(classList) },
    }));
  }

  /**
   * Put an answer in the place that it was asked for.
   *
   * @param {number} row
   * @param {string} label
   * @param {boolean} isIt whether this stood there
   */
  fill(row, label, isIt) {
    const node = this.buttons[row];
    if (!node || node.textContent === label) return;
    node.replaceChildren(html("bdi", null, label));
    node.classList.add(isIt ? "hl-right" : "hl-wrong");
  }
}

/** @param {DOMTokenList} classes */
function fillOf(classes) {
  return ["right", "wrong"].find((name) => classes.contains(`hl-${name}`)) ?? null;
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
