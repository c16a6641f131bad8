// Numbers as they stand on the page, read back.

/**
 * How far a printed number is from a value, beyond what its last place rounds off; NaN for what is no
 * number.
 *
 * @param {string} printed
 * @param {number} value
 */
export function errorOfNumber(printed, value) {
  if (printed === "−∞") return value === -Infinity ? 0 : NaN;
  if (!/^−?\d+(\.\d+)?$/.test(printed)) return NaN;
  const places = printed.includes(".") ? printed.length - printed.indexOf(".") - 1 : 0;
  const read = Number(printed.replace("−", "-"));
  return Math.max(0, Math.abs(read - value) - 0.5 * 10 ** -places);
}
