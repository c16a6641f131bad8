// The sentence as words to click: each click hides a token, or shows it again.

import { digits, html } from "../../kit/dom.js";

/** @import { ClozeData, Found } from "./wire.js" */

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

export class Words {
  #built = "";

  /** @param {(place: number) => void} toggle */
  constructor(toggle) {
    this.toggle = toggle;
    this.node = html("div", {
      class: "hl-cloze-words",
      role: "group",
      "aria-label": "Words: click one to hide it",
    });
    this.node.addEventListener("keydown", (event) => this.#step(event));
  }

  /** The words on screen. */
  get buttons() {
    return Array.from(this.node.querySelectorAll("button"));
  }

  /**
   * @param {ClozeData} data
   * @param {number[]} blanks places that are hidden now, which Python may not know yet
   * @param {number} shown the blank whose distribution is shown
   */
  draw(data, blanks, shown) {
    this.#build(data);
    const found = new Map(data.found.map((one) => [one.place, one]));
    this.buttons.forEach((word, place) => {
      const isHidden = blanks.includes(place);
      const one = isHidden ? found.get(place) : undefined;
      word.setAttribute("aria-pressed", String(isHidden));
      word.classList.toggle("hl-blank", isHidden);
      word.classList.toggle("hl-looked", isHidden && place === shown);
      word.classList.toggle("hl-right", one?.rank === 0);
      const [, guess, prob] = word.children;
      guess.textContent = one?.best.label ?? "";
      prob.textContent = one?.best_prob == null ? "" : digits(one.best_prob, 2);
      word.setAttribute("aria-label", spoken(data.labels[place], isHidden, one));
    });
  }

  /** @param {ClozeData} data */
  #build({ labels, words }) {
    const built = JSON.stringify([labels, words]);
    if (built === this.#built) return;
    this.#built = built;
    const buttons = labels.map((label, place) =>
      html(
        "button",
        {
          type: "button",
          class: place && words[place] === words[place - 1] ? "hl-goes-on" : null,
          onclick: () => this.toggle(place),
        },
        html("bdi", null, label),
        html("small", { class: "hl-cloze-guess" }),
        html("small", { class: "hl-cloze-prob" }),
      ),
    );
    this.node.replaceChildren(...buttons);
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const step = STEPS[event.key];
    const at = this.buttons.findIndex((word) => word === document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    this.buttons[at + step]?.focus();
  }
}

/**
 * A word for those who do not see it.
 *
 * @param {string} label
 * @param {boolean} isHidden
 * @param {Found | undefined} found
 */
function spoken(label, isHidden, found) {
  if (!isHidden) return label;
  return found ? `${label}, hidden; most likely: ${found.best.label}` : `${label}, hidden`;
}
