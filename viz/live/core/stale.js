// What is left on the page of an earlier run. Whoever writes something marks it with the run it is of, in
// the same stroke; an instrument's root is marked with the run that it shows by now.

const PARTS = "[data-of-run]";
const BUSY = "[aria-busy=true], [data-waiting]";
const RUNNING = '[data-testid=stApp]:not([data-test-script-state="notRunning"])';

/**
 * Fill an element with what is said of a run.
 *
 * @param {HTMLElement | SVGElement} node
 * @param {string} run
 * @param {(Node | string)[]} children
 */
export function fill(node, run, ...children) {
  node.replaceChildren(...children);
  node.dataset.ofRun = run;
}

/** @type {Set<() => void>} */
const listeners = new Set();

/** An instrument shows another run, or the same once more. */
export function shown() {
  for (const listener of listeners) listener();
}

/**
 * @param {() => void} listener called whenever an instrument is handed a run
 * @returns {() => void} what ends it
 */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether a rerun is under way, which may take the place of what is on the page. */
export function isRerunning() {
  return document.querySelector(`${BUSY}, ${RUNNING}`) !== null;
}

/**
 * What is to be seen of another run than its instrument shows: how many parts were looked at, and the
 * first line of one that is left over.
 *
 * @returns {{n: number, left: string}}
 */
export function leftOver() {
  const parts = Array.from(document.querySelectorAll(`[data-run] ${PARTS}`)).filter(isSeen);
  const left = parts.find((part) => part.getAttribute("data-of-run") !== runAround(part));
  return { n: parts.length, left: left ? nameOf(left) : "" };
}

/** @param {Element} part */
function isSeen(part) {
  return part.getClientRects().length > 0 && part.textContent !== "";
}

/**
 * The run that the instrument around an element shows.
 *
 * @param {Element} part
 */
export function runAround(part) {
  return part.closest("[data-run]")?.getAttribute("data-run") ?? "";
}

/** @param {Element} part */
function nameOf(part) {
  return (part.getAttribute("aria-label") ?? part.textContent ?? "").slice(0, 60);
}
