// What Streamlit runs beside the rail: a track that a person opened stays open, and a lesson that was
// read to its end has a tick, on every page and in the next visit. Python draws the rail again with
// each page. Ctrl-K, or ⌘K, and the box in the rail open the search.

const OPENED = "headlight-opened"; // titles of tracks, in the browser's own storage
const DONE = "headlight-done"; // titles of lessons

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
/** What opens the search, with what it finds. @type {() => void} */
let search = () => {};

/**
 * @param {{parentElement: HTMLElement, data: {found: any[]}}} call
 * @returns {() => void} what to call when the component is taken off the page
 */
export default function keepOpened({ parentElement, data }) {
  const rail = parentElement.closest('[data-testid="stSidebarUserContent"]') ?? document.body;
  const observer = new MutationObserver(() => restore(rail)); // it acts before anything is painted
  observer.observe(rail, { childList: true, subtree: true });
  // Its own, so that what an overtaken call gives back ends only what that call began.
  const listener = (/** @type {Event} */ event) => noteOpened(event);
  rail.addEventListener("click", listener);
  search = () => open(data.found);
  document.removeEventListener("keydown", press); // of the call before
  document.addEventListener("keydown", press);
  getReady();
  restore(rail);
  rail.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  return () => {
    observer.disconnect();
    rail.removeEventListener("click", listener);
  };
}

/** @type {import("./search.js").Search | undefined} */
let box;

async function getReady() {
  const { Search } = await import(new URL("live/search.js", document.baseURI).href);
  return (box ??= new Search());
}

/** @param {any[]} entries */
function open(entries) {
  if (box) return box.open(entries); // at once: what is typed right after goes into it
  getReady().then((made) => made.open(entries));
}

/**
 * Where the key of K types a Cyrillic, Greek or Hebrew letter it is meant all the same; not where it
 * types another Latin one.
 *
 * @param {KeyboardEvent} event
 */
function press(event) {
  const letter = /^[a-z]$/i.test(event.key) ? `Key${event.key.toUpperCase()}` : event.code;
  if (letter !== "KeyK" || !(IS_MAC ? event.metaKey : event.ctrlKey)) return;
  event.preventDefault(); // it is the browser's own search
  search();
}

/**
 * @param {string} name
 * @returns {string[]}
 */
function kept(name) {
  try {
    const titles = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(titles) ? titles : [];
  } catch {
    return []; // the browser keeps nothing, or another app wrote it
  }
}

/**
 * @param {string} name
 * @param {string[]} titles
 */
function keep(name, titles) {
  try {
    localStorage.setItem(name, JSON.stringify(titles));
  } catch {
    // it stays so on this page at least
  }
}

/** @param {Element | null} keys as a Mac has them */
function sayKeys(keys) {
  if (keys && keys.textContent !== "⌘K") keys.textContent = "⌘K"; // what it changes is watched
}

/** @param {Element} rail */
function restore(rail) {
  if (IS_MAC) sayKeys(rail.querySelector("kbd"));
  const opened = kept(OPENED);
  for (const track of rail.querySelectorAll("details"))
    track.open ||= opened.includes(track.dataset.group ?? "");
  const done = new Set(kept(DONE));
  /** @type {NodeListOf<HTMLElement>} */
  const lessons = rail.querySelectorAll("a[data-lesson]");
  for (const { dataset } of lessons) if ("done" in dataset) done.add(dataset.lesson ?? "");
  for (const lesson of lessons) {
    const tick = lesson.querySelector(".hl-tick");
    tick?.toggleAttribute("hidden", !done.has(lesson.dataset.lesson ?? ""));
  }
  if (rail.querySelector("[data-done]")) keep(DONE, [...done]);
}

/**
 * A click on its title opens or closes a track; it has not happened yet.
 *
 * @param {Event} event
 */
function noteOpened({ target }) {
  if (target instanceof Element && target.closest("button")) search();
  const track = target instanceof Element ? target.closest("summary")?.parentElement : null;
  if (!(track instanceof HTMLDetailsElement)) return;
  const { group = "" } = track.dataset;
  const others = kept(OPENED).filter((title) => title !== group);
  keep(OPENED, track.open ? others : [...others, group]);
}
