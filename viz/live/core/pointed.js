// The number that a person last pointed at, by mouse, finger or key, for who asks where it comes from.

/**
 * @typedef {object} Pointed
 * @property {string} run the key of its run
 * @property {string} address of that one number
 * @property {number | null | undefined} drawn its value as it is drawn
 * @property {string} of what the number is of, in words
 * @property {Element} host the figure it is in
 */

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
