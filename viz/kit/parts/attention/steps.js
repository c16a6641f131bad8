// The steps of a head to choose from, and a way through all of them.

import { button, check, fillOnce, html, radios } from "../../dom.js";
import { worded } from "./pictures.js";

/** @import { Lifetime } from "../../lifetime.js" */
/** @import { StepName } from "../../maths.js" */
/** @import { Attention } from "../attention.js" */

const PLAY_MS = 2000;
const PLAY = "▶ Play";
const STOP = "■ Stop";

/** Buttons of the steps that the chosen head has, what the chosen one does, and Play. */
export class Steps {
  /** @type {(() => void) | null} */
  #stopPlaying = null;

  /**
   * @param {Attention} scope
   * @param {Lifetime} lifetime
   */
  constructor(scope, lifetime) {
    this.scope = scope;
    this.lifetime = lifetime;
    this.buttons = html("div");
    this.playButton = button(PLAY, () => this.play());
    this.says = html("p", { class: "hl-caption hl-says" });
    const label = { class: "hl-row hl-stages" };
    this.node = html("div", label, this.buttons, this.playButton, this.says);
  }

  /** The step on screen: the chosen one, where this head has it. @returns {StepName} */
  get now() {
    const { settings, loaded } = this.scope;
    return settings.stage in loaded.steps ? settings.stage : "weights";
  }

  /** Those of the head on screen. */
  get #all() {
    const { data, loaded } = this.scope;
    return data.stages.filter(({ name }) => name in loaded.steps);
  }

  /**
   * Offer those of the head on screen.
   *
   * @returns {string} what the chosen one is called
   */
  draw() {
    const all = this.#all.map((step) => worded(step, this.scope.loaded.head));
    fillOnce(this.buttons, JSON.stringify(all), () => {
      /** @param {string} stage */
      const pick = (stage) => this.scope.set({ stage: /** @type {StepName} */ (stage) });
      return [radios("hl-stage", "Stage", all, "", pick)];
    });
    check(this.buttons, this.now);
    const { text, says } = all.find(({ name }) => name === this.now) ?? all[0];
    this.says.textContent = says;
    return text;
  }

  /** Those that are offered, in words. */
  read() {
    return Array.from(this.buttons.querySelectorAll("label"), ({ textContent }) => textContent);
  }

  /** Go through all of them, or stop. */
  play() {
    if (this.#stopPlaying) return this.stop();
    const all = this.#all;
    this.playButton.textContent = STOP;
    this.scope.set({ stage: all[0].name });
    let at = 0;
    this.#stopPlaying = this.lifetime.interval(() => {
      at += 1;
      if (at >= all.length) this.stop();
      else this.scope.set({ stage: all[at].name });
    }, PLAY_MS);
  }

  stop() {
    this.#stopPlaying?.();
    this.#stopPlaying = null;
    this.playButton.textContent = PLAY;
  }
}
