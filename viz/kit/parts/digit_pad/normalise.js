// A picture made like those of MNIST: the digit fills 20 of 28 pixels in its longer direction, and its
// centre of mass is in the middle (LeCun et al. 1998). Pure functions of grey values, ink 255 on 0.

const INK = 24; // what is darker is paper
const SHADOWED = 0.6; // of the lightest paper's grey

/** @typedef {{width: number, height: number, values: Float32Array}} Grey row by row, 0 to 255 */

/**
 * The part of a picture that has ink on it; null where there is none.
 *
 * @param {Grey} picture
 */
export function inked({ width, height, values }) {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      if (values[y * width + x] <= INK) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/**
 * A stretch of `n` values made `m` long: each new one is the mean of what it covers.
 *
 * @param {number} n
 * @param {number} m
 * @returns {{from: number, weights: number[]}[]}
 */
function shares(n, m) {
  return Array.from({ length: m }, (_, i) => {
    const [start, end] = [(i * n) / m, ((i + 1) * n) / m];
    const from = Math.floor(start);
    const until = Math.min(n, Math.ceil(end));
    const weights = [];
    for (let j = from; j < until; j++)
      weights.push((Math.min(end, j + 1) - Math.max(start, j)) / (end - start));
    return { from, weights };
  });
}

/**
 * A part of a picture in another size, each pixel the mean of what it covers.
 *
 * @param {Grey} picture
 * @param {{left: number, top: number, width: number, height: number}} part
 * @param {number} width
 * @param {number} height
 * @returns {Grey}
 */
export function resized(picture, part, width, height) {
  const [across, down] = [shares(part.width, width), shares(part.height, height)];
  const values = new Float32Array(width * height);
  down.forEach((rows, y) =>
    across.forEach((columns, x) => {
      let sum = 0;
      rows.weights.forEach((weight, i) => {
        const row = (part.top + rows.from + i) * picture.width + part.left + columns.from;
        columns.weights.forEach((share, j) => {
          sum += weight * share * picture.values[row + j];
        });
      });
      values[y * width + x] = sum;
    }),
  );
  return { width, height, values };
}

/**
 * A picture of `size` by `size` bytes as MNIST has them, row by row; all paper where there is no ink.
 *
 * @param {Grey} picture
 * @param {number} size
 */
export function normalised(picture, size) {
  const found = new Uint8Array(size * size);
  const part = inked(picture);
  if (!part) return found;
  const most = Math.round((size * 20) / 28);
  const scale = most / Math.max(part.width, part.height);
  const width = Math.max(1, Math.round(part.width * scale));
  const height = Math.max(1, Math.round(part.height * scale));
  const small = resized(picture, part, width, height);
  const [x0, y0] = middle(small).map((centre, axis) => {
    const room = size - [width, height][axis];
    return Math.min(room, Math.max(0, Math.round(size / 2 - 0.5 - centre)));
  });
  small.values.forEach((value, i) => {
    const [x, y] = [x0 + (i % width), y0 + Math.floor(i / width)];
    found[y * size + x] = Math.round(Math.min(255, value));
  });
  return found;
}

/**
 * The centre of mass, across and down.
 *
 * @param {Grey} picture
 */
function middle({ width, values }) {
  let [mass, x, y] = [0, 0, 0];
  values.forEach((value, i) => {
    mass += value;
    x += value * (i % width);
    y += value * Math.floor(i / width);
  });
  return [x / mass, y / mass];
}

/**
 * The largest value around each pixel, a row or a column at a time.
 *
 * @param {Grey} picture
 * @param {number} reach pixels to each side
 * @param {(a: number, b: number) => number} largest or smallest
 * @returns {Grey}
 */
function spread({ width, height, values }, reach, largest) {
  /** @type {(from: Float32Array, n: number, step: number) => Float32Array} */
  const along = (from, n, step) =>
    from.map((value, i) => {
      const at = Math.floor(i / step) % n;
      for (let to = Math.max(0, at - reach); to <= Math.min(n - 1, at + reach); to++)
        value = largest(value, from[i + (to - at) * step]);
      return value;
    });
  return { width, height, values: along(along(values, width, 1), height, width) };
}

/**
 * The greys of paper and ink, the fewer pixels of which are ink, where they differ most (Otsu 1979).
 *
 * @param {Grey} picture
 */
function greysOf(picture) {
  const sorted = Float32Array.from(picture.values).sort();
  const total = sorted.reduce((sum, value) => sum + value, 0);
  let [sum, most, paper, ink] = [0, 0, sorted[0], Infinity]; // of one grey all is paper
  for (let n = 1; n < sorted.length; n++) {
    sum += sorted[n - 1];
    const [below, above, rest] = [sum / n, (total - sum) / (sorted.length - n), sorted.length - n];
    const apart = n * rest * (above - below) ** 2;
    if (apart <= most) continue;
    most = apart;
    [paper, ink] = n < rest ? [above, below] : [below, above];
  }
  return { paper, ink };
}

/**
 * Ink on paper as light on dark, whichever of them is which: most of a picture is paper, and so is
 * what is light and wider than a stroke. Each value counts as a share of the paper's in its place,
 * which is what a window wider than a stroke has without ink; what is a third of the way from paper
 * to ink is a shadow too. Error in words where a shadow that was not told from ink is at the edge.
 *
 * @param {Grey} picture
 * @returns {Grey}
 */
export function lightOnDark(picture) {
  const { width, height } = picture;
  const reach = Math.ceil(Math.max(width, height) / 6);
  const found = greysOf(picture);
  const widest = spread(picture, reach, Math.min).values.reduce((a, b) => Math.max(a, b), 0);
  const isLight = found.ink > found.paper && widest < (found.ink + found.paper) / 2;
  const dark = isLight ? { ...picture, values: picture.values.map((x) => 255 - x) } : picture;
  const paper = spread(spread(dark, reach, Math.max), reach, Math.min).values;
  const lit = {
    ...dark,
    values: dark.values.map((x, i) => (paper[i] ? (255 * x) / paper[i] : 255)),
  };
  const greys = greysOf(lit);
  const values = lit.values.map((value) => {
    const share = (1.5 * (value - greys.paper)) / (greys.ink - greys.paper) - 0.5;
    return 255 * Math.min(1, Math.max(0, share));
  });
  const [darkest, lightest] = [Math.min, Math.max].map((of) => paper.reduce((a, b) => of(a, b)));
  const isAtEdge = values.some((value, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return value > INK && (x % (width - 1) === 0 || y % (height - 1) === 0);
  });
  if (isAtEdge && darkest < SHADOWED * lightest)
    throw new Error(
      "A shadow at the edge of this picture looks like ink: light the paper evenly, or cut the picture closer around the digit.",
    );
  return { ...picture, values };
}
