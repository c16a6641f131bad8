// The number that a person last pointed at, by mouse, finger or key, for who asks where it comes from.

/**
 * @typedef {object} Pointed
 * @property {string} run the key of its run
 * @property {string} address of that one number
 * @property {number | string | null | undefined} drawn its value as it is drawn, or as it is printed
 * @property {string} of what the number is of, in words
 * @property {Element} host the figure it is in
 */

const MOST_LETTERS = 90;
/** @type {Pointed | null} */
let last = null;

/** @param {Pointed} number */
export function point(number) {
  last = number;
}

/**
 * What was pointed at last, or null where that was nothing.
 *
 * @param {boolean} isNow whether the mouse or the focus must be in its figure still
 */
export function pointed(isNow = false) {
  const isThere = last?.host.matches(":hover, :focus-within");
  return isNow && !isThere ? null : last;
}

/**
 * The mouse or the focus is on something: a number with an address may be asked about.
 *
 * @param {EventTarget | null} target
 */
export function pointAtPrinted(target) {
  const number = target instanceof Element && target.closest("[data-address]");
  const run = number && number.closest("[data-run]")?.getAttribute("data-run");
  if (!run) return;
  const address = number.getAttribute("data-address") ?? "";
  const around = number.parentElement?.textContent?.trim() ?? "";
  const of = number.closest("[data-of]")?.getAttribute("data-of") ?? around;
  const drawn = number.textContent?.trim();
  last = { run, address, drawn, of: shortened(of), host: number };
}

/**
 * Words around a number, no longer than a line.
 *
 * @param {string} words
 */
function shortened(words) {
  const letters = Array.from(words);
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS).join("")}…` : words;
}

/** What is pointed at has no number that could be traced. */
export function pointAway() {
  last = null;
}

/**
 * The address of one number of what an address names: an index for each stretch in its brackets, in
 * their order, and then for each axis that the brackets leave out.
 *
 * @param {string} address
 * @param {number[]} indices
 */
export function within(address, indices) {
  const [name, part = ""] = address.replace("]", "").split("[");
  const left = [...indices];
  const parts = part ? part.split(",") : [];
  const fixed = parts.map((text) => {
    if (!text.includes(":")) return text;
    const [first, , step] = text.split(":");
    return String(Number(first || 0) + Number(step || 1) * (left.shift() ?? 0));
  });
  return `${name}[${[...fixed, ...left].join(",")}]`;
}
