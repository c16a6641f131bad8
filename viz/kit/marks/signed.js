// Numbers with a sign as bars from one line: what raises on its right, what lowers on its left.

import { colorAt, ramp } from "../colors.js";
import { html, signed } from "../dom.js";

/** @import { Palette } from "../wire.js" */

const SAID = 3; // bars in the text alternative

/**
 * @typedef {object} Bar
 * @property {string} name
 * @property {number} value
 * @property {boolean} [canPick] whether a person can choose it
 * @property {boolean} [isPicked]
 * @property {string} [opens] what its second button opens; none: it has no such button
 */

/** @typedef {{pick: (place: number) => void, open?: (place: number) => void}} Act */

/** A score with its sign, rounded to one digit after the point. @type {(value: number) => string} */
export const tenths = (value) => signed(Number(value.toFixed(1)), 1);

/**
 * The colours of what raises, orange, and of what lowers, blue, as CSS.
 *
 * @param {Palette} palette
 * @param {number} most what the strongest colour stands for
 * @returns {(value: number) => string}
 */
export function signedColors({ diverging }, most) {
  const table = ramp(diverging);
  return (value) => colorAt(table, value, -most, most);
}

/**
 * How far bars reach on both sides of their line, so that several lists can have one scale.
 *
 * @param {number[]} values
 * @returns {[low: number, high: number]}
 */
export function reachOf(values) {
  return [Math.min(0, ...values), Math.max(0, ...values)];
}

export class SignedBars {
  /** @type {Bar[]} */
  #shown = [];
  /** What stands in each row, and its nodes. @type {{told: string, item: HTMLElement}[]} */
  #rows = [];
  #at = 0;

  /**
   * @param {string} title
   * @param {Act} act
   */
  constructor(title, act) {
    this.title = title;
    this.act = act;
    const onkeydown = (/** @type {KeyboardEvent} */ event) => this.#pressed(event);
    this.node = html("ol", { class: "hl-signed", onkeydown });
  }

  /**
   * Show bars. Rows keep their nodes, and with them the keyboard's focus.
   *
   * @param {Bar[]} bars
   * @param {Palette} palette
   * @param {[low: number, high: number]} [reach]
   */
  show(bars, palette, reach = reachOf(bars.map(({ value }) => value))) {
    this.#shown = bars;
    while (this.#rows.length < bars.length) this.#add(this.#rows.length);
    this.#rows.splice(bars.length).forEach(({ item }) => item.remove());
    const colorOf = signedColors(palette, 1);
    bars.forEach((bar, i) => this.#fill(i, bar, reach, colorOf(Math.sign(bar.value))));
    this.#at = Math.min(this.#at, bars.length - 1);
    if (!bars[this.#at]?.canPick) this.#at = bars.findIndex(({ canPick }) => canPick);
    this.#reach();
    const said = bars.slice(0, SAID).map(({ name, value }) => `${name} ${tenths(value)}`);
    this.node.setAttribute("aria-label", `${this.title}: ${said.join("; ")}.`);
  }

  /** @param {number} place */
  #add(place) {
    const track = html("span", { class: "hl-signed-track" }, html("i"));
    const number = html("span", { class: "hl-signed-number" });
    const onclick = () => this.#shown[place].canPick && this.act.pick(place);
    const look = { type: "button", class: "hl-item hl-signed-bar", onclick };
    const bar = html("button", look, html("bdi"), track, number);
    const open = html(
      "button",
      { type: "button", class: "hl-signed-open", onclick: () => this.act.open?.(place) },
      "open",
    );
    const item = html("li", null, bar, open);
    this.#rows.push({ told: "", item });
    this.node.append(item);
  }

  /**
   * @param {number} place
   * @param {Bar} bar
   * @param {[low: number, high: number]} reach
   * @param {string} color
   */
  #fill(place, bar, [low, high], color) {
    const of = this.#rows[place];
    const told = JSON.stringify([bar, low, high, color]);
    if (of.told === told) return;
    of.told = told;
    const [row, open] = /** @type {HTMLButtonElement[]} */ ([...of.item.children]);
    const [name, track, number] = row.children;
    const { canPick = false, isPicked = false, opens = "" } = bar;
    name.textContent = bar.name;
    number.textContent = tenths(bar.value);
    row.ariaDisabled = canPick ? null : "true";
    row.ariaPressed = canPick ? String(isPicked) : null;
    [open.hidden, open.title] = [!opens, opens];
    const share = (/** @type {number} */ x) => `${(100 * x) / (high - low || 1)}%`;
    const { style } = /** @type {HTMLElement} */ (track);
    style.setProperty("--zero", share(-low));
    style.setProperty("--from", share(Math.min(bar.value, 0) - low));
    style.setProperty("--wide", share(Math.abs(bar.value)));
    style.setProperty("--color", color);
    of.item.dataset.value = String(bar.value);
  }

  /** The bars are one stop of the tab key; what a bar opens is right of it. */
  #reach() {
    this.#rows.forEach(({ item: { children } }, i) => {
      /** @type {HTMLElement} */ (children[0]).tabIndex = i === this.#at ? 0 : -1;
      /** @type {HTMLElement} */ (children[1]).tabIndex = -1;
    });
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const can = [...this.#shown.keys()].filter((i) => this.#shown[i].canPick);
    const [bar, open] = /** @type {Iterable<HTMLElement>} */ (
      this.#rows[this.#at]?.item.children ?? []
    );
    /** @type {Record<string, number | undefined>} */
    const ways = {
      ArrowUp: can.filter((i) => i < this.#at).at(-1),
      ArrowDown: can.find((i) => i > this.#at),
      Home: can[0],
      End: can.at(-1),
    };
    /** @type {Record<string, HTMLElement>} */
    const beside = open?.hidden === false ? { ArrowLeft: bar, ArrowRight: open } : {};
    const { [event.key]: to } = ways;
    if (to === undefined && !(event.key in beside)) return;
    event.preventDefault();
    if (to === undefined) return beside[event.key].focus();
    this.#at = to;
    this.#reach();
    /** @type {HTMLElement} */ (this.#rows[to].item.children[0]).focus({ preventScroll: true });
  }

  /** Of each bar its words, what it is as long as, its colour, and what can be done with it. */
  read() {
    const bars = this.#rows.map(({ item }) => {
      const [row, open] = /** @type {HTMLElement[]} */ ([...item.children]);
      const [name, track, number] = /** @type {HTMLElement[]} */ ([...row.children]);
      const bar = track.children[0].getBoundingClientRect().width;
      const whole = track.getBoundingClientRect().width;
      return {
        name: name.textContent,
        number: number.textContent,
        value: Number(item.dataset.value),
        share: Math.round((100 * bar) / whole) / 100,
        fill: getComputedStyle(track.children[0]).backgroundColor,
        isPicked: row.ariaPressed === "true",
        canPick: row.ariaDisabled !== "true",
        opens: open.hidden ? "" : open.title,
      };
    });
    return { says: this.node.ariaLabel, bars };
  }
}
