// What Streamlit runs for the address: the browser's history, and links within the app.
//
// Python says what the address should be and whether that is a new entry of the history. A link to
// another view, Back and Forward are told to Python, which has the say; the page stays. Streamlit's
// own way pushes an entry for every change, and runs the page again on Back without its settings.

/**
 * @typedef {object} AddressData
 * @property {string} session whose turns and messages are counted
 * @property {number} turn which run of the page wrote it
 * @property {string} query the address after the question mark
 * @property {number} entries of the history so far; one more: Back shall lead to what was before
 * @property {string} before what that was, as the address has it
 * @property {boolean} is_whole whether the page wrote it, not a part that runs again alone
 * @property {number} went the last message of this page that Python has taken over
 * @property {string} run the page and the key of its run, for `settled.js`
 */

/**
 * What Streamlit hands over.
 *
 * @typedef {object} Call
 * @property {AddressData} data
 * @property {HTMLElement} parentElement
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/** Where the component is on the page, the newest call last. @type {Map<HTMLElement, Call>} */
const alive = new Map();
let session = "";
let written = -1; // the turn whose address the browser has
let entered = 0; // entries of the history that the browser has
let ahead = 0; // entries made at clicks that Python has not taken over yet
let left = ""; // the address where the first of these clicks was
let opened = /** @type {string | null} */ (null); // the page in the address that was written last
let sent = 0; // messages to Python
let known = 0; // the last of them that Python has taken over
/**
 * A page with all else as it is but for `changes`, as an address has them, or a whole address.
 *
 * @typedef {{page?: string, changes?: string, query?: string, is_new?: boolean}} Way
 */
/** Where the last message led. @type {Way} */
let going = {};
/** What the address shall be once it may be written. @type {{url: string, isEntry: boolean} | null} */
let waiting = null;
let pause = 0; // the timer until then
const AGAIN_MS = 6_000;
const REST_MS = 350; // Safari refuses more than a hundred changes in thirty seconds
const TRIES = 3;
let background = "";
let isFull = false; // whether the page itself fills the screen

/** @type {Record<string, "next" | "back">} */
const WAYS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back" };

/**
 * @param {Call} call
 * @returns {() => void} what to call when the component is taken off the page
 */
export default function keepAddress(call) {
  const root = call.parentElement;
  if (!alive.size) listen("addEventListener");
  alive.delete(root);
  alive.set(root, call);
  write(call.data);
  askInOtherTheme(call);
  return () => {
    // Streamlit also calls this before each newer call, which begins some time after: whoever went
    // Back or followed a link in between would not be heard.
    if (root.isConnected) return;
    alive.delete(root);
    if (!alive.size) listen("removeEventListener");
  };
}

/**
 * `is_new` says of a query that it is a link's: Back shall lead to what was before it. To nowhere, in
 * another theme, is where a person is going already: Python hears only the last of two messages.
 *
 * @param {Way} to
 */
function go(to) {
  const isSomewhere = to.page !== undefined || to.query !== undefined;
  if (isSomewhere || known >= sent) going = to;
  const page = to.page ?? new URLSearchParams(to.query).get("page");
  if (isSomewhere && page !== opened)
    // which may be scrolled far down
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  sent += 1;
  sayWhetherHeard();
  say({ ...going, n: sent }, TRIES);
}

/**
 * Tell Python, and again where it has not heard of it after a while: of a busy session's messages one
 * may be lost, and a person would wait for ever.
 *
 * @param {Way & {n: number}} message
 * @param {number} tries how often it is said again
 */
function say(message, tries) {
  const calls = [...alive.values()];
  const whole = calls.find(({ data }) => data.is_whole) ?? calls[0]; // a part runs again alone
  whole?.setTriggerValue("went", message);
  if (!tries) return;
  setTimeout(() => {
    const isKnown = known >= message.n || message.n !== sent; // or of a newer one
    if (!isKnown && alive.size) say(message, tries - 1);
  }, AGAIN_MS);
}

/** Whether Python knows where a person went; `settled.js` waits for it. */
function sayWhetherHeard() {
  document.documentElement.toggleAttribute("data-pending", known < sent || waiting !== null);
}

/** @param {"addEventListener" | "removeEventListener"} how */
function listen(how) {
  window[how]("popstate", goBack, true); // before Streamlit's own listener
  window[how]("headlight-back", goOn);
  document[how]("click", follow);
  document[how]("keydown", step);
  document[how]("fullscreenchange", fullScreenChanged);
  document[how]("pointerover", complete);
  document[how]("focusin", complete);
}

/**
 * What was written before Python knew where a person went would lead away from there again.
 *
 * @param {AddressData} data
 */
function write({ session: of, turn, query, entries, before, went, run }) {
  if (of !== session) {
    session = of; // it has heard of nothing yet
    written = -1;
    sent = entered = ahead = 0;
  }
  if (turn <= written) return; // parts of a page are called in any order
  known = went;
  sayWhetherHeard();
  if (went < sent) return;
  if (run) document.documentElement.dataset.run = run;
  written = turn;
  const asked = new URLSearchParams(query);
  opened = asked.get("page");
  const added = entries - entered;
  const last = new URLSearchParams(before);
  const isMissing = added > ahead || (added === 1 && last.toString() !== left);
  const isEntry = ahead === 0 && added > 1;
  entered = entries;
  ahead = 0;
  // Of a text that was typed and left at once nothing was written: Back shall lead to it.
  if (isMissing && put(last, isEntry)) writeWaiting();
  if (put(asked, isMissing) && !pause) writeWaiting();
  sayWhetherHeard();
}

/**
 * Have an address wait to be written; says whether it is another one.
 *
 * @param {URLSearchParams} asked
 * @param {boolean} isEntry
 */
function put(asked, isEntry) {
  const address = asked.toString();
  const is = waiting ? new URL(waiting.url, location.href).search : location.search;
  if (address === new URLSearchParams(is).toString()) return false;
  const url = `${location.pathname}${address && "?"}${address}`;
  waiting = { url, isEntry: isEntry || (waiting?.isEntry ?? false) };
  return true;
}

/** Write what waits, and nothing more for a while; of what comes meanwhile only the last is seen. */
function writeWaiting() {
  clearTimeout(pause);
  pause = 0;
  if (waiting) {
    try {
      if (waiting.isEntry) history.pushState(null, "", waiting.url);
      else history.replaceState(null, "", waiting.url);
      waiting = null;
    } catch {
      // a browser that has had enough takes it later
    }
    pause = setTimeout(writeWaiting, REST_MS);
  }
  sayWhetherHeard();
}

/** @param {Event} event */
function goBack(event) {
  event.stopImmediatePropagation();
  waiting = null; // of where a person is no more
  go({ query: location.search });
}

/** The connection is there again: Python hears of all that was chosen meanwhile, which Streamlit kept. */
function goOn() {
  go({});
}

/** Streamlit calls again when its theme was switched: what Python coloured must be drawn again. */
function askInOtherTheme(/** @type {Call} */ call) {
  const now = getComputedStyle(call.parentElement)
    .getPropertyValue("--st-background-color")
    .trim()
    .toLowerCase();
  if (background && now && now !== background) go({});
  background = now || background;
}

/**
 * The link of our own that an event is about.
 *
 * @param {Event} event
 */
function linkOf(event) {
  const found = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
  return found instanceof HTMLAnchorElement && found.getAttribute("href")?.startsWith("?")
    ? found
    : null;
}

/**
 * The page a link leads to with all else as it is; those in Markdown have an address alone.
 *
 * @param {HTMLAnchorElement} link
 */
function pageOf(link) {
  const isMarkdown = link.closest(".st-key-symbols");
  return isMarkdown ? (new URLSearchParams(link.search).get("page") ?? "") : link.dataset.page;
}

/** @param {Event} event */
function follow(event) {
  const link = linkOf(event);
  const isElsewhere =
    event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.shiftKey);
  if (!link || isElsewhere) return;
  event.preventDefault();
  if (waiting) writeWaiting(); // the link leads on from there
  const { fullscreen, with: changes } = link.dataset;
  const page = pageOf(link);
  if (link.closest(".hl-rail, .hl-search")) closeDrawer();
  if (page !== undefined) turnTo(link, page);
  else if (changes === undefined) enterAndGo(new URLSearchParams(link.search));
  else {
    if (fullscreen === undefined) leaveFullScreen();
    else enterFullScreen();
    enterAndGo(withChanges(link));
  }
}

/**
 * @param {HTMLAnchorElement} link
 * @param {string} page that it leads to with all else as it is, but for what it changes
 */
function turnTo(link, page) {
  const { with: changes } = link.dataset;
  const isOpen = !changes && link.getAttribute("aria-current") === "page";
  if (!isOpen) enter(withChanges(link, page));
  mark(link);
  go(changes ? { page, changes } : { page });
}

/** @param {URLSearchParams} query */
function enterAndGo(query) {
  enter(query);
  go({ query: `?${query}`, is_new: true });
}

/**
 * A step of the history, made at the click: who goes Back before Python has heard of it would
 * leave the app. Python's address takes its place.
 *
 * @param {URLSearchParams} query
 */
function enter(query) {
  const from = new URLSearchParams(location.search).toString();
  if (!put(query, true)) return;
  if (!ahead) left = from;
  ahead += 1;
  writeWaiting();
}

/**
 * The link of the open page is marked among those beside it.
 *
 * @param {HTMLAnchorElement} link
 */
function mark(link) {
  for (const other of link.closest("nav")?.querySelectorAll("[aria-current]") ?? [])
    other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "page");
}

/** Where the screen is narrow the rail covers the page: it goes. */
function closeDrawer() {
  if (!matchMedia("(max-width: 767px)").matches) return;
  const selector = '[data-testid="stSidebarCollapseButton"] button';
  /** @type {HTMLElement | null} */ (document.querySelector(selector))?.click();
}

/**
 * The address as it is, but for the page a link leads to and what it changes: `name=value`, or
 * `name=` to leave it out.
 *
 * @param {HTMLAnchorElement} link
 * @param {string} [page]
 */
function withChanges(link, page) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of new URLSearchParams(link.dataset.with))
    if (value) query.set(name, value);
    else query.delete(name);
  if (page !== undefined) query.set("page", page);
  return query;
}

// --- presenting -----------------------------------------------------------------------------------

/** The link that leads back from a page for a wall, where one is shown. */
function wayBack() {
  return document.querySelector(".hl-presenting a");
}

async function enterFullScreen() {
  await document.documentElement.requestFullscreen().catch(() => {}); // a frame may forbid it
  isFull = Boolean(document.fullscreenElement);
}

function leaveFullScreen() {
  if (isFull) document.exitFullscreen().catch(() => {});
  isFull = false;
}

/** Where a person leaves the full screen, the page is no longer for a wall. */
function fullScreenChanged() {
  if (!isFull || document.fullscreenElement) return;
  isFull = false;
  press(wayBack());
}

/**
 * Keys, unless they are for something that has the focus: arrows and a presenter's page keys lead
 * through a tour, and while presenting without one from view to view.
 *
 * @param {Event} event
 */
function step(event) {
  if (!(event instanceof KeyboardEvent) || hasOwnKeys(document.activeElement)) return;
  const main = document.activeElement === document.body && document.getElementById("stMain");
  if (main && wayBack()) main.focus(); // so that keys scroll it
  if (event.key === "Escape") press(wayBack());
  const way = WAYS[event.key];
  if (!way) return;
  const link = document.querySelector(`a[data-step="${way}"]`) ?? (wayBack() && neighbour(way));
  if (link && event.key.startsWith("Page")) event.preventDefault();
  press(link);
}

/**
 * Whether what has the focus may want the keys itself; the page, links and plain buttons do not.
 *
 * @param {Element | null} focused
 */
function hasOwnKeys(focused) {
  return !focused?.matches("body, [data-testid=stMain], a, button:not([role])");
}

/**
 * The link to the view before or after the open one.
 *
 * @param {"next" | "back"} way
 */
function neighbour(way) {
  const links = Array.from(document.querySelectorAll(".hl-rail :not(.hl-below) > a[data-page]"));
  const open = links.findIndex((link) => link.hasAttribute("aria-current"));
  return links[open + (way === "next" ? 1 : -1)] ?? null;
}

/** @param {Element | null} link */
function press(link) {
  if (link instanceof HTMLElement) link.click();
}

/**
 * A link to a page keeps sentence, model and head, for who copies it or opens it in another tab.
 *
 * @param {Event} event
 */
function complete(event) {
  const link = linkOf(event);
  if (!link) return;
  const { page } = link.dataset;
  if (page === undefined && link.dataset.with === undefined) return;
  link.setAttribute("href", `?${withChanges(link, page)}`);
}
