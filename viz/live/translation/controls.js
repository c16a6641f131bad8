// How the German is written: most likely token, drawn, or beams; with what acts on that beside it.

import { button, check, fillOnce, html, inputOf, radios, slider } from "../../kit/dom.js";

/** @import { Translation } from "./translation.js" */
/** @import { TranslationData, TranslationSettings } from "./wire.js" */

const SEEDS = 1000;

export class Controls {
  /** @param {Translation} owner */
  constructor(owner) {
    this.owner = owner;
    this.decode = html("div");
    this.sliders = html("div", { class: "hl-row" });
    this.play = button("▶ Replay", () => owner.replay(), { class: "hl-button hl-primary" });
    this.undo = button("Undo your choices", () => owner.set({ forced: [] }));
    this.node = html(
      "div",
      { class: "hl-row hl-tr-controls" },
      this.decode,
      this.sliders,
      this.undo,
      this.play,
    );
  }

  /**
   * @param {TranslationData} data
   * @param {TranslationSettings} settings
   */
  draw(data, settings) {
    const { decode, forced } = settings;
    fillOnce(this.decode, "decode", () => [
      radios("hl-decode", "Decoding", asRadios(data.options.decode), decode, (value) =>
        this.owner.set({ decode: value }),
      ),
    ]);
    check(this.decode, decode);
    fillOnce(this.sliders, decode, () => this.#slidersOf(data, settings));
    this.#follow(settings);
    this.undo.hidden = !forced.length;
  }

  /**
   * @param {TranslationData} data
   * @param {TranslationSettings} settings
   * @returns {HTMLElement[]}
   */
  #slidersOf({ bounds }, { decode, temperature, top_p, beams }) {
    const { owner } = this;
    /** @param {number} x */
    const show = (x) => x.toFixed(2);
    if (decode === "beam") {
      const field = { bounds: bounds.beams, value: beams };
      return [
        named(
          "beams",
          slider("Beam width", field, (x) => owner.setQuietly({ beams: x })),
        ),
      ];
    }
    if (decode !== "sampling") return [];
    const heat = { bounds: bounds.temperature, value: temperature, show };
    const mass = { bounds: bounds.top_p, value: top_p, show };
    return [
      named(
        "temperature",
        slider("Temperature", heat, (x) => owner.setQuietly({ temperature: x })),
      ),
      named(
        "top_p",
        slider("Top-p", mass, (x) => owner.setQuietly({ top_p: x })),
      ),
      button("Draw again", () => owner.set({ seed: (owner.settings.seed + 1) % SEEDS })),
    ];
  }

  /**
   * Sliders stand where the settings are, also when these came from elsewhere.
   *
   * @param {TranslationSettings} settings
   */
  #follow(settings) {
    for (const field of this.sliders.querySelectorAll("label")) {
      const name = field.dataset.name ?? "";
      const value = String(settings[/** @type {"beams" | "temperature" | "top_p"} */ (name)]);
      const input = inputOf(field);
      if (input === document.activeElement || input.value === value) continue;
      input.value = value;
      const output = field.querySelector(".hl-value");
      if (output) output.textContent = name === "beams" ? value : Number(value).toFixed(2);
    }
  }
}

/**
 * @param {string} name of a setting
 * @param {HTMLElement} field
 */
function named(name, field) {
  field.dataset.name = name;
  return field;
}

/** @param {string[][]} options names and texts */
export function asRadios(options) {
  return options.map(([value, text]) => ({ value, text }));
}
