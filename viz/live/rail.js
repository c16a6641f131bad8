// What Streamlit runs beside the rail: a track that a person opened stays open, and a lesson that was
// read to its end has a tick, on every page and in the next visit. Python draws the rail again with
// each page.

const OPENED = "headlight-opened"; // titles of tracks, in the browser's own storage
const DONE = "headlight-done"; // titles of lessons

/**
 * @param {{parentElement: HTMLElement}} call
 * @returns {() => void} what to call when the component is taken off the page
 */
export default function keepOpened({ parentElement }) {
  const rail = parentElement.closest('[data-testid="stSidebarUserContent"]') ?? document.body;
  const observer = new MutationObserver(() => restore(rail)); // it acts before anything is painted
  observer.observe(rail, { childList: true, subtree: true });
  // Its own, so that what an overtaken call gives back ends only what that call began.
  const listener = (/** @type {Event} */ event) => noteOpened(event);
  rail.addEventListener("click", listener);
  restore(rail);
  rail.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  return () => {
    observer.disconnect();
    rail.removeEventListener("click", listener);
  };
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

/** @param {Element} rail */
function restore(rail) {
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
  const track = target instanceof Element ? target.closest("summary")?.parentElement : null;
  if (!(track instanceof HTMLDetailsElement)) return;
  const { group = "" } = track.dataset;
  const others = kept(OPENED).filter((title) => title !== group);
  keep(OPENED, track.open ? others : [...others, group]);
}
