// Pairs of dimensions as hands that turn with their position, and the score between two of them.
//
// Hands are flat arrays x, y, x, y, … before rotation. Position p turns pair i by p · frequencies[i],
// as model/positions.py does; sums run in float64.

/** @import { Numbers } from "../../maths.js" */

/** The end of a hand. @typedef {[x: number, y: number]} Point */

/**
 * Two sides of hands, and what their score is divided by.
 *
 * @typedef {object} Sides
 * @property {Numbers} first
 * @property {Numbers} second
 * @property {Numbers} frequencies
 * @property {number} divisor
 */

/**
 * A hand turned by an angle, against the clock.
 *
 * @param {Point} hand
 * @param {number} angle radians
 * @returns {Point}
 */
export function turned([x, y], angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [x * cos - y * sin, x * sin + y * cos];
}

/**
 * Where the hand of a pair ends.
 *
 * @param {Numbers} hands
 * @param {number} pair
 * @returns {Point}
 */
export function handOf(hands, pair) {
  return [hands[2 * pair], hands[2 * pair + 1]];
}

/**
 * Every hand of one side turned to its place at a position.
 *
 * @param {Numbers} hands
 * @param {Numbers} frequencies
 * @param {number} position
 */
export function turnedAll(hands, frequencies, position) {
  const result = new Float64Array(hands.length);
  frequencies.forEach((frequency, i) =>
    result.set(turned(handOf(hands, i), position * frequency), 2 * i),
  );
  return result;
}

/**
 * What each pair adds to the score of the first side at m with the second at n.
 *
 * @param {Sides} sides
 * @param {number} m
 * @param {number} n
 */
export function sharesAt({ first, second, frequencies, divisor }, m, n) {
  const a = turnedAll(first, frequencies, m);
  const b = turnedAll(second, frequencies, n);
  return Float64Array.from(
    frequencies,
    (_, i) => (a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1]) / divisor,
  );
}

/**
 * The score of the first side at position m with the second at n.
 *
 * @param {Sides} sides
 * @param {number} m
 * @param {number} n
 */
export function scoreAt(sides, m, n) {
  return sharesAt(sides, m, n).reduce((sum, share) => sum + share, 0);
}

/**
 * Scores at the distances −most, …, most; with a pair, what that pair adds to them.
 *
 * @param {Sides} sides
 * @param {number} most
 * @param {number | null} [pair]
 */
export function scoresByDistance(sides, most, pair = null) {
  return Float64Array.from({ length: 2 * most + 1 }, (_, i) => {
    const shares = sharesAt(sides, i - most, 0);
    return pair == null ? shares.reduce((sum, share) => sum + share, 0) : shares[pair];
  });
}

/**
 * The way from one hand's direction to another's, in radians from −π to π.
 *
 * @param {Point} from
 * @param {Point} to
 */
export function angleBetween([x, y], [u, v]) {
  return Math.atan2(x * v - y * u, x * u + y * v);
}

/**
 * The same direction as an angle from −π to π.
 *
 * @param {number} angle
 */
export function withinHalfTurn(angle) {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/**
 * Positions until a hand is back where it was.
 *
 * @param {number} frequency radians per position
 */
export function wavelength(frequency) {
  return frequency ? (2 * Math.PI) / Math.abs(frequency) : Infinity;
}

/**
 * The length of each hand.
 *
 * @param {Numbers} hands
 */
export function lengths(hands) {
  return Array.from({ length: hands.length / 2 }, (_, i) => Math.hypot(...handOf(hands, i)));
}

/**
 * At most so many of n places, the first and the last among them, evenly spread.
 *
 * @param {number} n
 * @param {number} most
 */
export function spread(n, most) {
  if (n <= most) return Array.from({ length: n }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (n - 1)) / (most - 1)));
}
