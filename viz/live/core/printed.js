// Numbers and labels of tokens as they stand on the page, read back.

/**
 * How far a printed number is from a value, beyond what its last place rounds off; NaN for what is no
 * number.
 *
 * @param {string} printed
 * @param {number} value
 */
export function errorOfNumber(printed, value) {
  if (printed === "−∞") return value === -Infinity ? 0 : NaN;
  if (printed === "0") return Math.abs(value);
  const [, sign, bound] = /^(< |> −)(\d+(?:\.\d+)?)$/.exec(printed) ?? [];
  const size = sign === "< " ? value : -value; // what is below the bound, and not below zero
  if (sign) return Math.max(0, -size, size - Number(bound));
  if (/^−?\d{1,3}(,\d{3})+(\.\d+)?$/.test(printed))
    return errorOfNumber(printed.replaceAll(",", ""), value);
  if (!/^−?\d+(\.\d+)?$/.test(printed)) return NaN;
  const places = printed.includes(".") ? printed.length - printed.indexOf(".") - 1 : 0;
  const read = Number(printed.replace("−", "-"));
  return Math.max(0, Math.abs(read - value) - 0.5 * 10 ** -places);
}

const SIGNS = [
  ["⏎", "\n"],
  ["␍", "\r"],
  ["⇥", "\t"],
  ["␣", " "],
  ["⍽", "\u00a0"],
];
const NOT_TEXT = /[\u200b\u2066-\u2069]/g; // what keeps labels apart and in their direction
const NUMBERED = /(?:^| )#\d+$/; // what keeps two tokens apart that look alike
const READABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} \n\r\t\u00a0]*$/u;

/**
 * Whether a label stands for a text: white space is written by signs, one space before a word is left
 * out, a piece that goes on with a word starts with an ellipsis, what is cut ends with one, and an id
 * may keep it apart from one that looks alike. A text with characters that nobody could read is not compared, nor a part of a character (null).
 *
 * @param {string} label
 * @param {string | null} text
 */
export function saysText(label, text) {
  if (text === null || !READABLE.test(text) || /[⏎␍⇥␣⍽…]/u.test(text)) return true;
  const word = text.startsWith(" ") && text.trim() ? text.slice(1) : text;
  let read = label.replace(NOT_TEXT, "").replace(/^…(?=.)/u, "");
  for (const [sign, meaning] of SIGNS) read = read.replaceAll(sign, meaning);
  const isCut = read.endsWith("…") && word.startsWith(read.slice(0, -1));
  return read === word || isCut || read.replace(NUMBERED, "") === word;
}

/**
 * Whether a text is that of its pieces, one after the other; not compared as `saysText` does not.
 *
 * @param {string} shown
 * @param {(string | null)[]} pieces
 */
export function saysAll(shown, pieces) {
  const whole = pieces.join("");
  if (pieces.includes(null) || !READABLE.test(whole)) return true;
  return withoutReturns(shown) === withoutReturns(whole);
}

/** @param {string} text */
function withoutReturns(text) {
  return text.replace(/\r\n?/g, "\n");
}

/**
 * 0 where every label stands for its text, else NaN.
 *
 * @param {string[]} labels
 * @param {(string | null)[]} texts
 */
export function errorOfLabels(labels, texts) {
  const isRight = labels.length === texts.length;
  return isRight && labels.every((label, i) => saysText(label, texts[i])) ? 0 : NaN;
}
