// Small makers of HTML, SVG and MathML. Text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";

/** An HTML element with attributes and children; `on…` attributes are listeners. */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** A MathML element; numbers and names are wrapped by the callers below. */
export function math(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(MATHML, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child != null));
  return node;
}

/** Plain words between formulas and numbers: a number as people write it. */
export function digits(value, places = 4) {
  if (value === -Infinity) return "−∞";
  if (!Number.isFinite(value)) return "not a number";
  return value.toFixed(places).replace("-", "−");
}

/** A row of native radio buttons that looks like one control. Calls `pick` with the value. */
export function radios(name, label, options, chosen, pick) {
  const group = html(
    "fieldset",
    { class: "hl-radios" },
    html("legend", { class: "hl-hidden" }, label),
  );
  for (const { value, text, title, disabled } of options) {
    const input = html("input", {
      type: "radio",
      name,
      value,
      checked: value === chosen,
      disabled,
      onchange: () => pick(value),
    });
    group.append(html("label", { title }, input, html("span", {}, text)));
  }
  return group;
}

/** Check the radio button of a value without telling anyone. */
export function check(group, value) {
  for (const input of group.querySelectorAll("input"))
    input.checked = input.value === String(value);
}

/** A labelled drop-down list. */
export function select(label, options, chosen, pick) {
  const list = html("select", {
    "aria-label": label,
    onchange: (event) => pick(event.target.value),
  });
  for (const [value, text] of options) {
    list.append(html("option", { value, selected: String(value) === String(chosen) }, text));
  }
  return html("label", { class: "hl-field" }, html("span", {}, label), list);
}

/** A labelled slider that calls `move` while it is dragged and shows its value. */
export function slider(label, { min, max, step, value, show = String }, move) {
  const output = html("b", { class: "hl-value" }, show(value));
  const input = html("input", {
    type: "range",
    "aria-label": label,
    "aria-valuetext": show(value),
    min,
    max,
    step,
    value,
    oninput: () => {
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
      move(Number(input.value));
    },
  });
  return html("label", { class: "hl-field" }, html("span", {}, label, " ", output), input);
}

/** A labelled check box. */
export function toggle(label, set, title) {
  const input = html("input", { type: "checkbox", onchange: () => set(input.checked) });
  return html("label", { class: "hl-toggle", title }, input, html("span", {}, label));
}

/**
 * Fill a container with what `make` gives, unless it holds that already: `what` tells. Elements that
 * stay keep the keyboard's focus.
 */
export function fillOnce(container, what, make) {
  if (container.dataset.holds === what) return;
  container.dataset.holds = what;
  container.replaceChildren(...make());
}
