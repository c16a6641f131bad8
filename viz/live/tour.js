// What Streamlit runs beside a step of a tour: the place it is about is brought into sight, once, as
// soon as it stands. The sentences of the step stay in sight above it; where the window is too small
// for that, they come first, and a button leads on to the place.

/**
 * @typedef {object} TourData
 * @property {string} step tells one step from another
 * @property {string} places a selector of what the step is about
 */

const LOOK_MS = 150;
const TRIES = 100; // a first figure may take seconds
const STILL = 3; // looks at which it stood where it stands
const SPARE_PX = 8;
const OWN_WAYS = ["wheel", "pointerdown", "keydown", "touchstart"];
let shown = ""; // the step whose place was brought into sight, or left to the person

/**
 * @param {{data: TourData}} call
 * @returns {() => void} what to call when the component is taken off the page
 */
export default function accompany({ data }) {
  const leave = bringIntoSight(data);
  const look = (/** @type {Event} */ { target }) => {
    const isAsked = target instanceof Element && target.closest(".hl-look");
    const place = isAsked && placeOf(data.places);
    if (place) place.scrollIntoView({ block: "start", behavior: motion() });
  };
  document.addEventListener("click", look);
  return () => {
    leave();
    document.removeEventListener("click", look);
  };
}

/** How to scroll for somebody who may not want things to move. @returns {ScrollBehavior} */
function motion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

/**
 * @param {TourData} data
 * @returns {() => void} what ends it
 */
function bringIntoSight(data) {
  if (data.step === shown) return () => {};
  let before = ""; // where the place was at the last look
  let still = 0;
  let tries = TRIES;
  const timer = setInterval(() => {
    const place = placeOf(data.places);
    const now = place ? positionOf(place) : "";
    still = now && now === before ? still + 1 : 0;
    before = now;
    tries -= 1;
    if (place && still >= STILL) scrollTo(stuck(".st-key-bar") ? place : (panel() ?? place));
    if (still >= STILL || !tries) end();
  }, LOOK_MS);
  // Whoever scrolls, clicks or types meanwhile knows better where to look.
  for (const way of OWN_WAYS) window.addEventListener(way, end, { passive: true });

  function end() {
    shown = data.step;
    leave();
  }
  function leave() {
    clearInterval(timer);
    for (const way of OWN_WAYS) window.removeEventListener(way, end);
  }
  return leave;
}

/**
 * The first of these places that is on the page and has room.
 *
 * @param {string} places
 */
function placeOf(places) {
  const all = Array.from(document.querySelectorAll(places));
  return all.find((place) => place.checkVisibility() && place.getBoundingClientRect().height > 0);
}

function panel() {
  return document.querySelector(".hl-tour");
}

/** @param {Element} place */
function positionOf(place) {
  const { top, bottom } = place.getBoundingClientRect();
  return `${Math.round(top)} ${Math.round(bottom)}`;
}

/**
 * From the top of the page no further than needed: of what is too large for the room its top is in
 * sight, with the name of what it belongs to. The page's name is in sight as a whole, or not at all.
 *
 * @param {Element} place
 */
function scrollTo(place) {
  const page = document.querySelector('[data-testid="stMain"]');
  if (!page) return;
  const whole = place.closest(".hl-instrument") ?? place;
  const begins = whole.getBoundingClientRect().top;
  const name = document.querySelector(".st-key-heading")?.getBoundingClientRect().bottom ?? begins;
  const [first, last] = [topOf(page), bottomOf(page)].map((edge) => edge - page.scrollTop);
  const below = place.getBoundingClientRect().bottom - last + SPARE_PX;
  const wanted = Math.min(begins - first - SPARE_PX, below);
  const past = name <= begins ? name - first : 0; // the panel itself stands above the name
  page.scrollTo({ top: wanted > 0 ? Math.max(wanted, past) : 0, behavior: motion() });
}

/**
 * Where the room for figures begins: below the bar, where that stays in sight. Until something is
 * scrolled it stands a little lower than it will.
 *
 * @param {Element} page
 */
function topOf(page) {
  return page.getBoundingClientRect().top + (stuck(".st-key-bar")?.height ?? 0);
}

/**
 * Where it ends: above the panel that stays in sight.
 *
 * @param {Element} page
 */
function bottomOf(page) {
  return stuck(".st-key-inspector")?.top ?? page.getBoundingClientRect().bottom;
}

/** @param {string} selector */
function stuck(selector) {
  const part = document.querySelector(selector);
  const holder = part?.parentElement;
  const isStuck = holder && getComputedStyle(holder).position === "sticky";
  const box = part?.getBoundingClientRect();
  return isStuck && box?.height ? box : null;
}
