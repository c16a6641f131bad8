// A list of tokens with bars: what the model says of each, and what is drawn from.
//
// Drawn here and not by Plotly: with a slider moving, every frame has 16 ms, and Plotly takes more.

import { html } from "../dom.js";

const SAID = 3; // rows in the text alternative

/**
 * @typedef {object} Row
 * @property {string} label
 * @property {string} [sign] before it
 * @property {number} before the model's probability
 * @property {number} after the one drawn from
 * @property {number} [lost] what a removed token would have had
 * @property {number} [share] of what was drawn
 * @property {string} number in words, beside the bars
 * @property {string} [said] the same for the text alternative
 * @property {string} [title]
 * @property {boolean} [isCut] whether a filter removed it
 * @property {boolean} [isDrawn]
 * @property {boolean} [canPick] whether a person can choose it
 */

const PARTS = /** @type {const} */ (["before", "after", "lost", "share"]);

export class TokenBars {
  /** What stands in each row, and its nodes. @type {{told: string, item: HTMLElement}[]} */
  #rows = [];
  /** @type {Row[]} */
  #shown = [];
  #most = 1; // what the longest bar stands for

  /**
   * @param {(place: number) => void} [pick]
   * @param {(place: number | null) => void} [point]
   */
  constructor(pick = () => {}, point) {
    this.pick = pick;
    this.point = point;
    this.node = html("ol", { class: "hl-dist" });
  }

  /**
   * @param {Row[]} rows
   * @param {string} title of all of them
   * @param {number} [most] what the longest bar stands for
   */
  show(rows, title, most = 1) {
    [this.#shown, this.#most] = [rows, most];
    while (this.#rows.length < rows.length) this.#add(this.#rows.length);
    this.#rows.splice(rows.length).forEach(({ item }) => item.remove());
    rows.forEach((row, i) => this.#fill(this.#rows[i], row, most));
    const said = rows.slice(0, SAID).map((row) => `${row.label}: ${row.said ?? row.number}`);
    this.node.setAttribute("aria-label", `${title}. ${said.join("; ")}.`);
  }

  /** @param {number} place */
  #add(place) {
    /** @param {number | null} at */
    const point = (at) => this.point?.(at);
    const name = html("button", {
      ...{ type: "button", class: "hl-dist-name" },
      ...{ onfocus: () => point(place), onblur: () => point(null) },
    });
    const bars = PARTS.map((part) => html("i", { class: `hl-dist-${part}` }));
    const item = html(
      "li",
      {
        ...{ onpointerenter: () => point(place), onpointerleave: () => point(null) },
        onclick: () => this.#shown[place].canPick && this.pick(place),
      },
      ...[name, html("span", { class: "hl-dist-track" }, bars)],
      html("span", { class: "hl-dist-number" }),
    );
    this.#rows.push({ told: "", item });
    this.node.append(item);
  }

  /**
   * @param {{told: string, item: HTMLElement}} of
   * @param {Row} row
   * @param {number} most
   */
  #fill(of, row, most) {
    const told = JSON.stringify([row, most]);
    if (of.told === told) return; // most frames of what moves change nothing here
    of.told = told;
    const { item } = of;
    const [name, track, number] = item.children;
    const { label, sign = "", isCut = false, isDrawn = false, canPick = false } = row;
    name.replaceChildren(sign, html("bdi", null, label));
    /** @type {HTMLButtonElement} */ (name).disabled = !canPick && !this.point;
    name.ariaDisabled = String(!canPick);
    number.textContent = row.number;
    item.title = row.title ?? "";
    item.dataset.after = String(row.after);
    item.classList.toggle("hl-cut", isCut);
    item.classList.toggle("hl-is-drawn", isDrawn);
    [...track.children].forEach((bar, i) => {
      const value = row[PARTS[i]];
      const { style } = /** @type {HTMLElement} */ (bar);
      style.setProperty("--share", String((value ?? 0) / most));
      /** @type {HTMLElement} */ (bar).hidden = !value;
    });
  }

  /**
   * Where the word of a row stands on screen: its left edge, and the middle of its height.
   *
   * @param {number} place
   * @returns {[number, number]}
   */
  wordAt(place) {
    const { item } = this.#rows[Math.min(place, this.#rows.length - 1)];
    const { left, top, height } = item.getBoundingClientRect();
    return [left, top + height / 2];
  }

  /** Its words, and in each row what its bars stand for; a bar that is not there is 0. */
  read() {
    const rows = this.#rows.map(({ item }) => {
      const [name, track, number] = item.children;
      const lengths = Array.from(/** @type {Iterable<HTMLElement>} */ (track.children), (bar) =>
        bar.hidden ? 0 : this.#most * Number(bar.style.getPropertyValue("--share")),
      );
      const [before, after, lost, share] = lengths;
      const label = name.querySelector("bdi")?.textContent;
      const [isCut, isDrawn] = ["hl-cut", "hl-is-drawn"].map((is) => item.classList.contains(is));
      const words = {
        label,
        says: name.textContent,
        number: number.textContent,
        about: item.title,
      };
      const canPick = name.ariaDisabled === "false";
      return { ...words, before, after, lost, share, isCut, isDrawn, canPick };
    });
    return { says: this.node.ariaLabel, rows };
  }
}
