// What Streamlit runs beside the rail: groups that a person folded stay so, on every page and in the
// next visit. Python draws the rail again with each page.

const FOLDED = "headlight-folded"; // titles, in the browser's own storage

/**
 * @param {{parentElement: HTMLElement}} call
 * @returns {() => void} what to call when the component is taken off the page
 */
export default function keepFolded({ parentElement }) {
  const rail = parentElement.closest('[data-testid="stSidebarUserContent"]') ?? document.body;
  const observer = new MutationObserver(() => fold(rail)); // it acts before anything is painted
  observer.observe(rail, { childList: true, subtree: true });
  // Its own, so that what an overtaken call gives back ends only what that call began.
  const listener = (/** @type {Event} */ event) => remember(event);
  rail.addEventListener("toggle", listener, true); // it does not bubble
  fold(rail);
  rail.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  return () => {
    observer.disconnect();
    rail.removeEventListener("toggle", listener, true);
  };
}

/** @returns {string[]} */
function folded() {
  try {
    const titles = JSON.parse(localStorage.getItem(FOLDED) ?? "[]");
    return Array.isArray(titles) ? titles : [];
  } catch {
    return []; // the browser keeps nothing, or another app wrote it
  }
}

/** @param {Element} rail */
function fold(rail) {
  const titles = folded();
  for (const group of rail.querySelectorAll("details"))
    group.open = !titles.includes(group.dataset.group ?? "");
}

/** @param {Event} event */
function remember({ target }) {
  if (!(target instanceof HTMLDetailsElement)) return;
  const { group = "" } = target.dataset;
  const others = folded().filter((title) => title !== group);
  try {
    localStorage.setItem(FOLDED, JSON.stringify(target.open ? others : [...others, group]));
  } catch {
    // it stays folded on this page at least
  }
}
