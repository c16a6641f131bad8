// Small makers of HTML, SVG and MathML. Text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";
const SIGNIFICANT = 7; // digits that float32 has
// What a browser that translates the page leaves as it is: tokens, and drawings, which hold no <font>.
const UNTRANSLATED = new Set(["bdi", "math", "svg"]);

/** @import { Bounds } from "./wire.js" */

/**
 * One of several things to choose from: `why` says why it cannot be chosen, `says` what it is.
 *
 * @typedef {{name: string, text: string, why?: string | null, says?: string}} Choice
 */

/**
 * Attributes of an element: true is an attribute without a value; false, null and undefined are
 * none; names that start with `on` are listeners.
 *
 * @typedef {Record<string, any>} Attributes
 */

/**
 * What an element may have inside; null and undefined are nothing.
 *
 * @typedef {Node | string | number | null | undefined} Child
 * @typedef {(Child | Child[])[]} Children
 */

/**
 * An HTML element.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes | null} [attributes]
 * @param {Children} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function html(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes | null} [attributes]
 * @param {Children} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * A MathML element; numbers and names are wrapped by the callers.
 *
 * @param {string} tag
 * @param {Attributes | null} [attributes]
 * @param {Children} children
 * @returns {Element}
 */
export function math(tag, attributes, ...children) {
  return filled(document.createElementNS(MATHML, tag), attributes, children);
}

/**
 * @template {Element} T
 * @param {T} node
 * @param {Attributes | null | undefined} attributes
 * @param {Children} children
 * @returns {T}
 */
function filled(node, attributes, children) {
  if (UNTRANSLATED.has(node.localName)) node.setAttribute("translate", "no");
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child != null) node.append(typeof child === "number" ? String(child) : child);
  }
  return node;
}

/**
 * Set several attributes.
 *
 * @param {Element} node
 * @param {Record<string, string | number>} attributes
 */
export function setAll(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
}

/**
 * A button with words or a sign on it.
 *
 * @param {Child} words
 * @param {() => void} press
 * @param {Attributes} [attributes]
 */
export function button(words, press, attributes = {}) {
  return html(
    "button",
    { type: "button", class: "hl-button", onclick: press, ...attributes },
    words,
  );
}

/**
 * A number with at most so many digits after the point and seven in all, which float32 has. One that
 * would be rounded to zero and is not says what it is below, `< 0.0001`, or above, `> −0.0001`; zero
 * itself is `0`. viz/digits.py does the same.
 *
 * @param {number} number
 * @param {number} [most] digits after the point
 */
export function digits(number, most = 4) {
  if (number === 0) return "0";
  if (number === -Infinity) return "−∞";
  if (!Number.isFinite(number)) return "not a number";
  const power = Number(number.toExponential().split("e")[1]);
  const places = Math.max(0, Math.min(most, SIGNIFICANT - 1 - power));
  const value = power < SIGNIFICANT ? number : Number(number.toPrecision(SIGNIFICANT));
  if (!Number(number.toFixed(places)))
    return `${number < 0 ? "> −" : "< "}${(10 ** -places).toFixed(places)}`;
  return value.toFixed(places).replace("-", "−");
}

/**
 * A share of one in per cent, as `share` of viz/digits.py says it.
 *
 * @param {number} value
 * @param {number} [most] digits after the point
 */
export function share(value, most = 1) {
  return `${digits(100 * value, most)}%`;
}

/**
 * The same with its sign; zero has none, and neither has what is only said to be below a number.
 *
 * @param {number} value
 * @param {number} most digits after the point
 */
export function signed(value, most) {
  const text = digits(value, most);
  return value > 0 && /^\d/.test(text) ? `+${text}` : text;
}

/**
 * A number as it stands in a text, by its name.
 *
 * @param {number} value
 * @param {string} name
 * @param {number} [most] digits after the point
 */
export function numbered(value, name, most = 4) {
  return html("span", { "data-number": name }, digits(value, most));
}

/**
 * What a value is, after its name: `= 0.1234`, or `< 0.0001`.
 *
 * @param {number} value
 * @param {number} [most] digits after the point
 */
export function equals(value, most = 4) {
  const text = digits(value, most);
  return /^[<>]/.test(text) ? text : `= ${text}`;
}

/**
 * A number among others in a formula: where `digits` could but say what it is below, its first ones.
 *
 * @param {number} value
 */
export function operand(value) {
  const text = digits(value);
  return /^[<>]/.test(text) ? value.toExponential(1).replaceAll("-", "−") : text;
}

/**
 * A row of native radio buttons that looks like one control.
 *
 * @param {string} name
 * @param {string} label for those who do not see it
 * @param {Choice[]} options
 * @param {string} chosen
 * @param {(value: string) => void} pick
 */
export function radios(name, label, options, chosen, pick) {
  name += `-${Math.random().toString(36).slice(2)}`; // a notebook has several views on one page
  const group = html(
    "fieldset",
    { class: "hl-radios" },
    html("legend", { class: "hl-hidden" }, label),
  );
  for (const { name: value, text, why, says } of options) {
    const is = { checked: value === chosen, disabled: Boolean(why) };
    const act = { onchange: () => pick(value) };
    const input = html("input", { type: "radio", name, value, ...is, ...act });
    group.append(html("label", { title: why ?? says }, input, html("span", null, text)));
  }
  return group;
}

/**
 * Check the radio button of a value, without calling `pick`.
 *
 * @param {Element} group
 * @param {string} value
 */
export function check(group, value) {
  for (const input of group.querySelectorAll("input")) input.checked = input.value === value;
}

/**
 * A labelled drop-down list.
 *
 * @param {string} label
 * @param {[string | number, string][]} options value and text of each
 * @param {(value: string) => void} pick
 */
export function select(label, options, pick) {
  const onchange = () => pick(list.value);
  const list = html("select", { class: "hl-input", "aria-label": label, onchange });
  for (const [value, text] of options) list.append(html("option", { value }, text));
  return html("label", { class: "hl-field" }, html("span", null, label), list);
}

/**
 * A labelled slider that calls `move` while it is dragged and shows its value.
 *
 * @param {string} label
 * @param {{bounds: Bounds, value: number, show?: (value: number) => string}} field
 * @param {(value: number) => void} move
 */
export function slider(label, { bounds, value, show = String }, move) {
  const output = html("b", { class: "hl-value" }, show(value));
  const { low: min, high: max, step } = bounds;
  const input = html("input", {
    type: "range",
    "aria-label": label,
    "aria-valuetext": show(value),
    ...{ min, max, step, value },
    oninput: () => {
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
      move(Number(input.value));
    },
  });
  return html("label", { class: "hl-field" }, html("span", null, label, " ", output), input);
}

/**
 * Have a slider say what is, in words of its own or with another end where there are such.
 *
 * @param {Element} label
 * @param {number} value
 * @param {{words?: string, high?: number}} [how]
 */
export function moveSlider(label, value, { words = String(value), high } = {}) {
  const input = inputOf(label);
  if (high !== undefined) input.max = String(high);
  if (Number(input.value) !== value) input.value = String(value);
  input.setAttribute("aria-valuetext", words);
  const output = label.querySelector(".hl-value");
  if (output) output.textContent = words;
}

/**
 * The input of a labelled control.
 *
 * @param {Element} label
 * @returns {HTMLInputElement}
 */
export function inputOf(label) {
  return /** @type {HTMLInputElement} */ (label.querySelector("input"));
}

/**
 * A labelled check box.
 *
 * @param {string} label
 * @param {(isOn: boolean) => void} set
 * @param {string} [title]
 */
export function toggle(label, set, title) {
  const input = html("input", { type: "checkbox", onchange: () => set(input.checked) });
  return html("label", { class: "hl-toggle", title }, input, html("span", null, label));
}

/**
 * Fill a container, unless it holds that already: elements that stay keep the keyboard's focus.
 *
 * @param {HTMLElement} container
 * @param {string} what tells one filling from another
 * @param {() => Node[]} make
 */
export function fillOnce(container, what, make) {
  if (container.dataset.holds === what) return;
  container.dataset.holds = what;
  container.replaceChildren(...make());
}

/**
 * Fill a container with drop-down lists, unless it holds them, and have them say what is chosen.
 *
 * @param {HTMLElement} container
 * @param {string} what tells one filling from another
 * @param {() => Node[]} make
 * @param {(string | number)[]} chosen
 */
export function fillLists(container, what, make, chosen) {
  fillOnce(container, what, make);
  container.querySelectorAll("select").forEach((list, i) => {
    list.value = String(chosen[i]);
  });
}

/**
 * What a person reads in some nodes, by their names; of what is not shown nothing.
 *
 * @param {Record<string, Element | null | undefined>} nodes
 */
export function wordsIn(nodes) {
  return Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, wordsOf(node)]));
}

/**
 * Words as they are spoken; of a control, alone or with its label around it, what is chosen.
 *
 * @param {Element | null | undefined} node
 */
export function wordsOf(node) {
  if (!node?.checkVisibility({ visibilityProperty: true })) return null;
  const inside = "input:checked, input:not([type=radio]), select";
  const control = node.matches("label, fieldset") ? node.querySelector(inside) : node;
  if (control instanceof HTMLSelectElement) return control.selectedOptions[0]?.text ?? null;
  if (control instanceof HTMLInputElement) return chosenBy(control);
  if (control instanceof HTMLTextAreaElement) return control.value;
  return node.ariaValueText || node.ariaLabel || node.textContent || null;
}

/** @param {HTMLInputElement} input */
function chosenBy(input) {
  if (input.type === "checkbox") return input.checked;
  if (input.type === "radio") return input.labels?.[0].textContent ?? null;
  return input.ariaValueText ?? input.value;
}

const KEEP_MS = 10_000; // how long a browser may take to begin with a download

/**
 * Have the browser save a file.
 *
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  // Of no one's lifetime: a download goes on when its page is left.
  // eslint-disable-next-line no-restricted-globals
  setTimeout(() => URL.revokeObjectURL(address), KEEP_MS);
}
