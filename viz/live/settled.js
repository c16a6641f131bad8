// One attribute says that nothing is under way: <html data-settled="3 Masks KEY">, for the third time
// since it was loaded, on the page Masks with the run KEY. It is absent while the script runs, a
// part is busy, or a choice made in the browser has yet to reach Python.

const UNDER_WAY = [
  '[data-testid="stApp"]:not([data-test-script-state="notRunning"])', // Streamlit's own
  "[data-busy]", // a part that something is awaited in
  "[data-pending]", // what a person chose and Python has not heard of
  ".hl-figure:empty",
  ".hl-control:empty",
].join();
const WATCHED = ["data-test-script-state", "data-busy", "data-pending", "data-run"];
const WIDE = ".katex-display, .hl-strip"; // formulas and rows of tokens, which scroll on a phone
const QUIET_MS = 50; // between the end of a script and the figures it leads to

const root = document.documentElement;
let times = 0;
let timer = 0;

/** Withdraw it while something is under way, and say it again once there was quiet. */
function look() {
  const isUnderWay = document.querySelector(UNDER_WAY) !== null;
  if (isUnderWay) delete root.dataset.settled;
  clearTimeout(timer);
  // What is taken off the page, or filled for the first time, changes no attribute.
  timer = setTimeout(isUnderWay ? look : announce, QUIET_MS);
}

function announce() {
  const { run, settled } = root.dataset;
  if (document.querySelector(UNDER_WAY)) return look();
  for (const node of document.querySelectorAll(WIDE)) letKeysScroll(node);
  if (run && settled !== `${times} ${run}`) root.dataset.settled = `${(times += 1)} ${run}`;
}

/**
 * Not every browser has what scrolls focused by Tab.
 *
 * @param {Element} node
 */
function letKeysScroll(node) {
  if (node.scrollWidth > node.clientWidth) node.setAttribute("tabindex", "0");
  else node.removeAttribute("tabindex");
}

/** Watch the page from now on. */
export function watch() {
  const options = { attributeFilter: WATCHED, subtree: true };
  new MutationObserver(look).observe(root, options);
  look();
}
