// Labels of tokens as Python hands them on.

/** How viz/labels.py escapes a label for Plotly; a test compares. */
export const UNESCAPED = /** @type {Record<string, string>} */ ({
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&#36;": "$",
  "&#37;": "%",
});

/**
 * A label as plain text.
 *
 * @param {string} label
 */
export function unescaped(label) {
  return label.replace(/&[#\w]+;/g, (mark) => UNESCAPED[mark]);
}
