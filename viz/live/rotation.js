// Pairs of dimensions as hands that turn with their position, and the score between two of them.
//
// Hands are flat arrays x, y, x, y, … before turning. Position p turns pair i by p · frequencies[i],
// as model/positions.py does; sums run in float64.

/** A hand turned by an angle in radians, against the clock. */
export function turned([x, y], angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [x * cos - y * sin, x * sin + y * cos];
}

/** Every hand of one side turned to its place at a position. */
export function turnedAll(hands, frequencies, position) {
  const result = new Float64Array(hands.length);
  frequencies.forEach((frequency, i) =>
    result.set(turned([hands[2 * i], hands[2 * i + 1]], position * frequency), 2 * i),
  );
  return result;
}

/** What each pair adds to the score of the first side at m with the second at n. */
export function sharesAt(first, second, frequencies, divisor, m, n) {
  const a = turnedAll(first, frequencies, m);
  const b = turnedAll(second, frequencies, n);
  return Float64Array.from(
    frequencies,
    (_, i) => (a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1]) / divisor,
  );
}

/** The score of the first side at position m with the second at n. */
export function scoreAt(first, second, frequencies, divisor, m, n) {
  return sharesAt(first, second, frequencies, divisor, m, n).reduce((sum, share) => sum + share, 0);
}

/** Scores at the distances −most, …, most; with a pair, what that pair adds to them. */
export function scoresByDistance({ first, second, frequencies, divisor }, most, pair = null) {
  return Float64Array.from({ length: 2 * most + 1 }, (_, i) => {
    const shares = sharesAt(first, second, frequencies, divisor, i - most, 0);
    return pair == null ? shares.reduce((sum, share) => sum + share, 0) : shares[pair];
  });
}

/** The way from one hand's direction to another's, in radians from −π to π. */
export function angleBetween([x, y], [u, v]) {
  return Math.atan2(x * v - y * u, x * u + y * v);
}

/** Positions until a hand is back where it was. */
export function wavelength(frequency) {
  return frequency ? (2 * Math.PI) / Math.abs(frequency) : Infinity;
}

/** At most so many of n places, the first and the last among them, evenly spread. */
export function spread(n, most) {
  if (n <= most) return Array.from({ length: n }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (n - 1)) / (most - 1)));
}
