// The sentence box: a text of several lines, as high as it needs, sent while it is typed. What a
// person has typed stays, whatever Python answers late. Where it waits for the keyboard, as on Home, a
// text that the model continues scrolls in the height it has, so that nothing below moves.

import { html, wordsIn } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";

/** @import { Place } from "../instrument.js" */
/** @import { InstrumentData } from "../wire.js" */

/**
 * @typedef {object} SentenceBoxFields
 * @property {string} label what the text is called
 * @property {string} placeholder what stands there while there is no text
 * @property {boolean} has_caret whether it takes the keyboard when the page is opened
 * @property {{sentence: string}} settings
 */

/** @typedef {InstrumentData & SentenceBoxFields} SentenceBoxData */

const QUIET_MS = 300; // typing is in bursts; a run for each letter would hold up the last one

/** @extends {Instrument<SentenceBoxData>} */
export class SentenceBox extends Instrument {
  #fitted = 0; // the width for which it is as high as its text

  /** @param {Place} place */
  constructor(place) {
    super(place, QUIET_MS);
    const { root } = this;
    this.box = html("textarea", {
      class: "hl-input hl-typing",
      rows: 1,
      spellcheck: "false",
      id: "hl-typing",
      oninput: () => this.#typed(),
      onblur: () => this.conversation.flush(),
      title: "Enter runs it, Shift + Enter begins a new line",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" || event.shiftKey) return;
        event.preventDefault();
        this.conversation.flush();
      },
    });
    this.label = html("label", { class: "hl-floating", for: this.box.id });
    root.replaceChildren(this.label, this.box);
    this.lifetime.watchSize(root, () => {
      if (root.clientWidth !== this.#fitted) this.#fit();
    });
  }

  #typed() {
    this.setQuietly({ sentence: this.box.value });
    this.#fit();
  }

  /** As high as its text, up to the height the style sheet allows. */
  #fit() {
    this.#fitted = this.root.clientWidth;
    this.box.style.height = "0";
    const { borderTopWidth, borderBottomWidth } = getComputedStyle(this.box);
    const borders = parseFloat(borderTopWidth) + parseFloat(borderBottomWidth);
    this.box.style.height = `${this.box.scrollHeight + borders}px`;
  }

  /**
   * @override
   * @param {boolean} isNew
   */
  update(isNew) {
    this.redraw();
    const { activeElement } = document;
    const isFree = !activeElement || activeElement === document.body;
    if (isNew && this.data.has_caret && isFree) this.#takeCaret();
  }

  /** Not where the screen is narrow: a phone's keyboard would cover half of the page. */
  #takeCaret() {
    if (!matchMedia("(min-width: 768px)").matches) return;
    this.box.focus({ preventScroll: true });
    this.box.setSelectionRange(this.box.value.length, this.box.value.length);
  }

  /** @override */
  redraw() {
    const { sentence } = this.settings;
    this.label.textContent = this.data.label;
    this.box.placeholder = this.data.placeholder;
    const { value } = this.box;
    const isContinued = this.data.has_caret && value;
    if (value === asInBox(sentence)) return;
    this.box.value = sentence;
    if (isContinued && this.box.value.startsWith(value)) this.box.scrollTop = this.box.scrollHeight;
    else this.#fit();
  }

  read() {
    const { label, box } = this;
    return { ...wordsIn({ label, sentence: box }), placeholder: box.placeholder };
  }
}

/**
 * A text as a box gives it back: all its line ends are alike.
 *
 * @param {string} text
 */
function asInBox(text) {
  return text.replace(/\r\n?/g, "\n");
}

export default partOf("sentence_box", SentenceBox);
