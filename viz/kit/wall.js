// A page that is presented on a wall: enlarged by the style sheet, and its figures fill the height.

const SLACK = 2; // pixels: what stands above may still move by a part of one

/**
 * How many pixels of the screen one of an element's own pixels takes.
 *
 * @param {HTMLElement} element
 */
export function enlargement(element) {
  return element.getBoundingClientRect().width / element.offsetWidth || 1;
}

/**
 * Pixels from an element's top to the end of the screen, before anything is scrolled, presented or
 * not; in a notebook or a file, which is read from top to bottom, without end.
 *
 * @param {HTMLElement} element
 */
export function roomInSight(element) {
  const main = element.closest('[data-testid="stMain"]');
  if (!main) return Infinity;
  const onWall = roomOnWall(element);
  return onWall || innerHeight - element.getBoundingClientRect().top - main.scrollTop;
}

/**
 * Pixels from an element's top to the end of the screen, before anything is scrolled; 0 where the
 * page is not presented.
 *
 * @param {HTMLElement} element
 */
export function roomOnWall(element) {
  const main = document.querySelector('[data-testid="stMain"]');
  if (!(main instanceof HTMLElement) || !document.querySelector(".hl-presenting")) return 0;
  const above = element.getBoundingClientRect().top - main.getBoundingClientRect().top;
  return main.clientHeight - above / enlargement(main) - main.scrollTop - SLACK;
}
