// The sentence box: a text of several lines, as high as it needs, sent while it is typed; or a chat,
// whose last turn is that text. What a person has typed stays, whatever Python answers late. Where it
// waits for the keyboard, as on Home, a text that the model continues scrolls in the height it has, so
// that nothing below moves.

import { button, html, wordsIn } from "../dom.js";
import { Instrument, partOf } from "../instrument.js";
import { same } from "../conversation.js";

/** @import { Place } from "../instrument.js" */
/** @import { InstrumentData, Option } from "../wire.js" */

/** @typedef {[role: string, text: string]} Turn */

/**
 * @typedef {object} SentenceBoxFields
 * @property {string} label what the text is called
 * @property {string} placeholder what stands there while there is no text
 * @property {boolean} has_caret whether it takes the keyboard when the page is opened
 * @property {Option[]} ways in which the text may be read; none where there is one
 * @property {string} answer the answer to a chat, as far as it is written
 * @property {{sentence: string, read: string, system: string, before: Turn[], begun: number[]}} settings
 */

/** @typedef {InstrumentData & SentenceBoxFields} SentenceBoxData */

const NOT_YET = "not run yet: a turn is empty";
const SOON_MS = 120; // of rest until parts of the page are told ahead
const MOST_MS = 600; // that the page waits for that; where it took longer, it does not wait
const QUIET_MS = 300; // typing is in bursts; a run for each letter would hold up the last one

/** @extends {Instrument<SentenceBoxData>} */
export class SentenceBox extends Instrument {
  #fitted = 0; // the width for which it is as high as its text
  /** The turns before the last, as they stand here: one without a text is not sent. @type {Turn[]} */
  #before = [];
  /** What they were when Python and this box agreed last. @type {unknown} */
  #agreed = null;
  /** @type {HTMLTextAreaElement[]} */
  #areas = [];
  /** The text that was drawn ahead last, or is. @type {{text: string, drawn: Promise<void>} | null} */
  #ahead = null;
  #took = 0; // milliseconds, the last time
  #cancelAhead = () => {};

  /** @param {Place} place */
  constructor(place) {
    super(place, QUIET_MS);
    const { root } = this;
    this.box = this.#area("hl-typing", () => this.#typed());
    this.box.id = "hl-typing";
    this.label = html("label", { class: "hl-floating", for: this.box.id });
    this.ways = html("div", { class: "hl-readings", role: "group", "aria-label": "Read as" });
    this.turns = html("div", { class: "hl-turns" });
    this.last = html("div", { class: "hl-turn", "data-role": "user" }, named("user"), this.box);
    this.answer = html("div", { class: "hl-answer" });
    this.adds = html("div", { class: "hl-adds" });
    const frame = html("div", { class: "hl-chat" }, this.turns, this.last, this.answer);
    root.replaceChildren(this.label, this.ways, this.adds, frame);
    this.lifetime.watchSize(root, () => {
      if (root.clientWidth !== this.#fitted) this.#fit();
    });
  }

  get #isChat() {
    return this.settings.read === "chat";
  }

  /**
   * A field of several lines, which Enter sends.
   *
   * @param {string} css
   * @param {() => void} oninput
   */
  #area(css, oninput) {
    const area = html("textarea", {
      class: `hl-input ${css}`,
      rows: 1,
      spellcheck: "false",
      oninput,
      onblur: () => this.conversation.flush(),
      title: "Enter runs it, Shift + Enter begins a new line",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape") {
          event.stopPropagation(); // it leaves the field, and not a page for a wall
          area.blur();
        }
        if (event.key !== "Enter" || event.shiftKey) return;
        event.preventDefault();
        this.#run();
      },
    });
    return area;
  }

  /**
   * What parts show of the text at once is drawn, then the page runs.
   *
   * @param {number} [rest] milliseconds before which it does not
   */
  #run(rest = 0) {
    this.#cancelAhead();
    const { value } = this.box;
    const waited = new Promise((resolve) => this.lifetime.timeout(() => resolve(null), rest));
    const drawn = this.#drawAhead();
    if (!drawn && !rest) this.conversation.flush();
    else
      Promise.all([drawn, waited]).then(
        () => this.box.value === value && this.conversation.flush(),
      );
  }

  /** Have parts of the page draw the text before the page runs; null where they are not asked. */
  #drawAhead() {
    const { value: text } = this.box;
    if (!this.#canAhead || !this.model.isPending) return null;
    if (this.#ahead?.text === text) return this.#ahead.drawn;
    const began = performance.now();
    const isNow = () => this.box.value === text && !this.lifetime.isOver;
    const drawn = this.model
      .ahead({ sentence: text }, isNow)
      .catch(() => {}) // the page says why
      .then(() => void (this.#took = performance.now() - began));
    this.#ahead = { text, drawn };
    return drawn;
  }

  get #canAhead() {
    return this.settings.read === "text" && this.model.canAhead;
  }

  #typed() {
    const isQuick = this.#canAhead && this.#took < MOST_MS;
    this.conversation.quiet = isQuick ? MOST_MS : QUIET_MS;
    this.#say();
    this.#cancelAhead();
    const run = () => this.#run(QUIET_MS - SOON_MS);
    if (isQuick) this.#cancelAhead = this.lifetime.timeout(run, SOON_MS);
    this.#drawChat();
    this.#fit();
  }

  /** What stands here of the turns before the last: what the system says, and the others. */
  get #earlier() {
    const [first] = this.#before;
    const system = first?.[0] === "system" ? first[1] : "";
    return { system, before: this.#before.filter(([role]) => role !== "system") };
  }

  /** Whether turns stand here that are not sent yet. */
  get #isAhead() {
    return this.#isChat && !same(this.#earlier.before, this.settings.before);
  }

  /** Whether a turn of several has no text, or is not sent: then what stands here is not run. */
  get #isOpen() {
    const hasLast = this.box.value.trim() || !this.#earlier.before.length;
    return this.#isAhead || (this.#isChat && !hasLast);
  }

  /** Send what is new here; of a chat, once each turn has a text where there are several. */
  #say() {
    const { value: sentence } = this.box;
    if (!this.#isChat) return this.setQuietly({ sentence });
    const { system, before } = this.#earlier;
    const said = before.length ? [...before.map(([, text]) => text), sentence] : [];
    if (said.some((text) => !text.trim())) return;
    this.#agreed = [system, before];
    this.setQuietly({ sentence, system, before });
  }

  /** As high as its text, up to the height the style sheet allows. */
  #fit() {
    this.#fitted = this.root.clientWidth;
    for (const area of [this.box, ...this.#areas]) {
      area.style.height = "0";
      const { borderTopWidth, borderBottomWidth } = getComputedStyle(area);
      const borders = parseFloat(borderTopWidth) + parseFloat(borderBottomWidth);
      area.style.height = `${area.scrollHeight + borders}px`;
    }
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
    const { data, root } = this;
    const { sentence, read } = this.settings;
    this.label.textContent = data.label;
    root.dataset.read = read;
    this.#drawWays();
    this.#takeTurns();
    const { value } = this.box;
    const isContinued = data.has_caret && value;
    const isOther = value !== asInBox(sentence) && !this.#isAhead;
    if (isOther) this.box.value = sentence;
    this.#drawChat();
    if (!isOther) return;
    if (isContinued && this.box.value.startsWith(value)) this.box.scrollTop = this.box.scrollHeight;
    else this.#fit();
  }

  /** The turns that Python says, unless others stand here that it does not know yet. */
  #takeTurns() {
    const { system, before } = this.settings;
    if (this.#isChat && same([system, before], this.#agreed)) return;
    this.#agreed = [system, before];
    this.#before = [...(system ? [/** @type {Turn} */ (["system", system])] : []), ...before];
  }

  /** All of a chat but what is said last, and nothing where the text is no chat. */
  #drawChat() {
    const isChat = this.#isChat;
    const isOther = this.#drawTurns(isChat ? this.#before : []);
    const hasAnswer = isChat && this.data.answer && !this.#isOpen;
    this.answer.replaceChildren(...(hasAnswer ? this.#begun() : []));
    this.adds.replaceChildren(...(isChat ? this.#additions() : []));
    const isNext = isChat && this.#earlier.before.length;
    this.box.placeholder = isNext ? "What the user says next" : this.data.placeholder;
    if (isOther) this.#fit();
  }

  #drawWays() {
    const { ways } = this.data;
    const chosen = this.#isChat ? "chat" : "text";
    if (this.ways.childElementCount !== ways.length) {
      const made = ways.map(({ name, text }) => button(text, () => this.#readAs(name)));
      this.ways.replaceChildren(...made);
    }
    ways.forEach(({ name }, i) => (this.ways.children[i].ariaPressed = String(name === chosen)));
  }

  /** @param {string} read */
  #readAs(read) {
    this.set({ read });
    this.conversation.flush();
  }

  /**
   * The turns before the last; says whether their roles are others than they were.
   *
   * @param {Turn[]} turns
   */
  #drawTurns(turns) {
    const roles = turns.map(([role]) => role);
    const isNew = !same(
      roles,
      Array.from(this.turns.children, (node) => node.getAttribute("data-role")),
    );
    if (isNew) {
      this.#areas = [];
      this.turns.replaceChildren(...turns.map(([role], i) => this.#turn(role, i)));
    }
    turns.forEach(([, text], i) => {
      if (this.#areas[i].value !== asInBox(text)) this.#areas[i].value = text;
    });
    return isNew;
  }

  /**
   * @param {string} role
   * @param {number} i
   */
  #turn(role, i) {
    const area = this.#area("hl-said", () => {
      this.#before[i] = [role, area.value];
      this.#typed();
    });
    area.placeholder = role === "system" ? "How the model should behave" : `What the ${role} said`;
    area.setAttribute("aria-label", `${role}, turn ${i}`);
    this.#areas[i] = area;
    const remove = button("×", () => this.#remove(i), {
      class: "hl-remove",
      title: role === "user" ? "Leave out this turn and its answer" : "Leave out this turn",
    });
    return html("div", { class: "hl-turn", "data-role": role }, named(role), area, remove);
  }

  /** @param {number} i */
  #remove(i) {
    const hasAnswer = this.#before[i][0] === "user" && this.#before[i + 1]?.[0] === "assistant";
    this.#before = this.#before.filter((_, at) => at !== i && !(hasAnswer && at === i + 1));
    this.#say();
    this.redraw();
    this.conversation.flush();
  }

  /** The answer so far. */
  #begun() {
    const given = { class: "hl-remove", title: "Take the answer away" };
    const said = html("bdi", { class: "hl-begun" }, this.data.answer);
    const made = [named("assistant"), said, button("×", () => this.#forget(), given)];
    return [html("div", { class: "hl-turn", "data-role": "assistant" }, made)];
  }

  /** What can be added, but for what there is already, or is to be written first. */
  #additions() {
    /** @type {HTMLElement[]} */
    const made = [];
    if (this.#before[0]?.[0] !== "system")
      made.push(added("system", "a system prompt", () => this.#add(["system", ""])));
    if (this.#isOpen) return [...made, html("span", { class: "hl-plus" }, NOT_YET)];
    const [words, what] = this.data.answer
      ? ["reply", "what the user says next"]
      : ["answer", "what the assistant answers, and what the user says next"];
    return [...made, added(words, what, () => this.#reply())];
  }

  #forget() {
    this.set({ begun: [] });
    this.conversation.flush();
  }

  /** @param {Turn} turn */
  #add(turn) {
    this.#before = [turn, ...this.#before];
    this.redraw();
    this.#fit();
    this.#areas[0].focus();
  }

  /** The last turn and its answer become earlier ones; the user goes on. */
  #reply() {
    const answer = this.data.answer;
    this.#before = [...this.#before, ["user", this.box.value], ["assistant", answer]];
    this.box.value = "";
    this.redraw();
    this.#fit();
    (answer ? this.box : this.#areas[this.#areas.length - 1]).focus();
  }

  read() {
    const { label, box, settings } = this;
    const turns = Array.from(this.turns.children, (node, i) => [
      node.getAttribute("data-role"),
      this.#areas[i].value,
    ]);
    const answer = this.answer.querySelector(".hl-begun")?.textContent ?? null;
    const ways = Array.from(this.ways.children, ({ textContent, ariaPressed }) => [
      textContent,
      ariaPressed === "true",
    ]);
    const { placeholder } = box;
    return {
      ...wordsIn({ label, sentence: box }),
      ...{ placeholder, read: settings.read, ways, turns, answer },
    };
  }
}

/**
 * A button that adds something.
 *
 * @param {string} words
 * @param {string} what
 * @param {() => void} add
 */
function added(words, what, add) {
  return button(`+ ${words}`, add, { class: "hl-plus", title: `Add ${what}` });
}

/** @param {string} role */
function named(role) {
  return html("span", { class: "hl-role" }, role);
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
