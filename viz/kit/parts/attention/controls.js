// Which view of a head, and the options of patterns: what applies here can be chosen, and what does
// not says why.

import { check, fillOnce, html, inputOf, radios, toggle, wordsIn } from "../../dom.js";
import { RolesLegend } from "../../looks.js";
import { canMerge } from "../../patterns.js";

/** @import { Attention } from "../attention.js" */
/** @import { Option } from "../../wire.js" */
/** @import { AttentionData } from "../attention.js" */

const BETWEEN_TOKENS = ["map", "whatif"]; // views whose steps are between tokens

export class Controls {
  /** @param {Attention} scope */
  constructor(scope) {
    this.scope = scope;
    this.roles = new RolesLegend();
    this.tabs = html("div", { class: "hl-wide" });
    this.hideFirst = toggle(
      "Hide attention sink (first token)",
      (isOn) => scope.set({ hide_first: isOn }),
      "Hides the column of the first token; weights, sums, entropy and what is saved stay as they are",
    );
    this.mergeWords = toggle("Merge subwords", (isOn) => scope.set({ words: isOn, token: null }));
    this.options = html("div", { class: "hl-row hl-options" }, this.hideFirst, this.mergeWords);
  }

  /**
   * Offer the views that apply to what was sent, and say what the colours over tokens mean.
   *
   * @param {AttentionData} data
   */
  offer({ streams, views }) {
    this.roles.show(...Object.values(streams).map(({ looks }) => looks));
    fillOnce(this.tabs, JSON.stringify(views), () => {
      const offered = choice("hl-view", "View", views, (view) => this.scope.set({ view }));
      return [offered.radios, offered.reasons];
    });
  }

  /** Show what is chosen, and what of it counts in this view. */
  draw() {
    const { view, stage, hide_first, words } = this.scope.settings;
    check(this.tabs, view);
    const isSelf = this.scope.group.kind === "self";
    const hasWeights = view !== "map" || stage === "weights";
    this.hideFirst.hidden = !isSelf;
    setToggle(this.hideFirst, hide_first, hasWeights && isSelf);
    const why = this.#whyNoWords();
    setToggle(this.mergeWords, words, why === null);
    this.mergeWords.title =
      why ?? "Weights to the tokens of a word are summed, weights from them averaged";
  }

  /** The view and the options that are chosen, and why others cannot be. */
  read() {
    const { hideFirst, mergeWords } = this;
    const [tab, why] = this.tabs.children;
    return { ...wordsIn({ tab, why, hideFirst, mergeWords }), roles: this.roles.read() };
  }

  /** Why tokens cannot be merged to words here; null when they can. */
  #whyNoWords() {
    const { between, settings } = this.scope;
    if (BETWEEN_TOKENS.includes(settings.view))
      return "Not in this view: its steps are between tokens. The other views can.";
    if (!canMerge(between)) return "These tokens are not pieces of words.";
    const hasPieces = [between.queries, between.keys].some(
      ({ words, labels }) => (words?.at(-1) ?? -1) + 1 < labels.length,
    );
    return hasPieces ? null : "Every token of this sentence is a word of its own";
  }
}

/**
 * One of several options to choose, and a line of why some cannot be.
 *
 * @param {string} name
 * @param {string} label
 * @param {Option[]} options
 * @param {(name: string) => void} pick
 */
export function choice(name, label, options, pick) {
  const not = options.filter(({ why }) => why !== null);
  const why = not.map((option) => `${option.text}: ${option.why}`).join(" ");
  const reasons = html("p", { class: "hl-caption", "data-why": "", hidden: !why }, why);
  return { radios: radios(name, label, options, "", pick), reasons };
}

/**
 * Controls stay the same elements, so that the keyboard's focus stays on them.
 *
 * @param {Element} label
 * @param {boolean} isChecked
 * @param {boolean} isEnabled
 */
function setToggle(label, isChecked, isEnabled) {
  const input = inputOf(label);
  input.checked = isChecked && isEnabled;
  input.disabled = !isEnabled;
}
