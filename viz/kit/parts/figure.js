// A figure made in Python. Streamlit's own chart is taken off the page and put on again for every
// change; this one is drawn again in its place. Where it has earlier pictures it plays when it is
// opened, from the first of them to what it shows.

import { same } from "../conversation.js";
import { Lifetime } from "../lifetime.js";
import { Plot } from "../marks/plot.js";

/** @import { Model } from "../model.js" */

const TURN_MS = 800; // each picture is looked at as long
const AGAIN = {
  width: 24,
  height: 24,
  path: "M12 5V1L7 6l5 5V7a6 6 0 1 1-6 6H4a8 8 0 1 0 8-8z",
};

class Figure {
  /** @type {unknown[]} */
  #shown = [];
  #isHeld = false; // by a hand that moves over it
  #mayHold = true; // not the hand that asked for it, until it has left
  #rest = () => {};

  /**
   * @param {Model} model
   * @param {HTMLElement} el
   * @param {Lifetime} lifetime
   */
  constructor(model, el, lifetime) {
    this.model = model;
    this.el = el;
    this.lifetime = lifetime;
    const again = { name: "again", title: "Play again", icon: AGAIN, click: () => this.#again() };
    this.plot = new Plot(el, lifetime, {
      pick: (picked) => {
        if (this.spec.is_clickable) model.choose({ picked });
      },
      buttons: this.spec.plays.length ? [again] : [],
    });
    this.plot.chart.role = "figure";
    // A figure may come to lie under a hand that rests: that one does not hold it.
    lifetime.listen(el, "pointermove", ({ movementX, movementY }) => {
      this.#isHeld ||= this.#mayHold && (movementX !== 0 || movementY !== 0);
    });
    lifetime.listen(el, "pointerleave", () => {
      [this.#isHeld, this.#mayHold] = [false, true];
    });
  }

  get spec() {
    return this.model.get("spec");
  }

  /** Draw what Python says now; what was played ends. */
  show() {
    const { figure, height, alt, name, image_format: format, is_clickable } = this.spec;
    this.plot.chart.ariaLabel = alt;
    this.el.toggleAttribute("data-clicks", is_clickable);
    this.el.style.minHeight = `${height}px`; // a file has no other height for it
    if (same(this.#shown, [figure, name, format])) return;
    this.#shown = [figure, name, format];
    this.#rest();
    this.#draw(figure);
  }

  /** @param {string} picture */
  #draw(picture) {
    const { height, name, image_format: format } = this.spec;
    this.plot.draw({ ...JSON.parse(picture), height }, { format, filename: name, scale: 2 });
  }

  #again() {
    [this.#isHeld, this.#mayHold] = [false, false];
    this.play();
  }

  /** From its first picture on, one after the other; not under the hand, and not out of sight. */
  play() {
    const pictures = [...this.spec.plays, this.spec.figure];
    const turn = () => {
      if (!this.#isHeld && this.plot.isInSight) this.#draw(pictures.shift());
      if (!pictures.length) this.#rest();
    };
    this.#rest();
    this.el.toggleAttribute("data-plays", true);
    const end = this.lifetime.interval(turn, TURN_MS);
    this.#rest = () => {
      end();
      this.el.removeAttribute("data-plays");
    };
    turn();
  }
}

export default {
  /** @param {{model: Model, el: HTMLElement, signal: AbortSignal}} place */
  render({ model, el, signal }) {
    el.classList.add("hl-figure");
    const figure = new Figure(model, el, new Lifetime(signal, el));
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    model.on("told", () => figure.show(), signal);
    figure.show();
    if (figure.spec.plays.length && !isStill) figure.play();
    return figure.plot;
  },
};
