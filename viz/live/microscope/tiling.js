// How large the small maps are, and which of their names have room.

export const GAP = 3; // pixels between two
const MOST_TILE = 74;
const LEAST_TILE = 6;
const MOST_STRETCH = 3; // of a map's longer side to its shorter
const LABEL_ROOM = 22; // pixels between two names

/**
 * The pitch of tiles in pixels: as wide as there is room for, as high as their maps are.
 *
 * @param {number} ratio height of a map by its width
 * @param {number} room pixels for one tile
 */
export function pitchOf(ratio, room) {
  const stretch = Math.min(Math.max(ratio, 1 / MOST_STRETCH), MOST_STRETCH);
  const x = Math.max(LEAST_TILE, Math.min(MOST_TILE + GAP, room));
  return { x, y: Math.max(LEAST_TILE, (x - GAP) * stretch + GAP) };
}

/**
 * The numbers below n whose names have room.
 *
 * @param {number} n
 * @param {number} pitch
 */
export function spaced(n, pitch) {
  const every = Math.ceil(LABEL_ROOM / pitch);
  return Array.from({ length: n }, (_, i) => i).filter((i) => i % every === 0);
}
