// The rotor's proof: hands, shares, numbers and the chart as they are on screen, read back, against the
// queries, keys and speeds of an independent run. Nothing here is used to draw.
//
// A pair is a length and an angle here, so its share is |a||b| cos(α − β + (m − n)θ) / divisor.

import { independent } from "../core/independent.js";
import { rowOf } from "../core/maths.js";
import { errorOfNumber } from "../core/printed.js";

/** @import { Matrix } from "../core/maths.js" */
/** @import { Reading } from "../core/screen.js" */
/** @import { RotorOrigin } from "./wire.js" */

const RADIUS = 40; // of a circle, in the units of its drawing
const SHARE = 36; // the longest share's bar
const HAND_ROUNDING = 0.005; // hands are written with two digits after the point
const LINE_ROUNDING = 0.05; // and points of the line with one
const LABEL_DROP = 4; // a number of the axis stands so much below its line

/** A pair as a length and an angle. @typedef {{length: number, angle: number}} Polar */

/**
 * What the independent run has of a query and a key; of positions both are upright.
 *
 * @typedef {{first: Polar[], second: Polar[], speeds: number[], divisor: number,
 *   score: number | null}} Expected
 */

/**
 * What is on screen, as elements, and the two positions that both stood at before they were moved
 * together.
 *
 * @typedef {object} OnScreen
 * @property {HTMLElement} root
 * @property {{m: number, n: number} | null} before
 * @property {number} picked the pair whose share is shown
 */

/**
 * Where one number of the rotor comes from.
 *
 * @param {RotorOrigin} origin
 * @param {"score" | "share"} what
 * @param {number} m
 * @param {number} n
 * @param {number} pair
 */
export function addressOf({ site, head, query, key }, what, m, n, pair) {
  if (!site)
    return what === "score" ? `waves.product.${m}.${n}` : `waves.shares.${m}.${n}[${pair}]`;
  const at = `${m}.${n}.${query}.${key}`;
  if (what === "score") return `${site}.moved_scores.${at}[${head}]`;
  return `${site}.moved_shares.${at}[${head},${pair}]`;
}

/**
 * Compare all that is on screen.
 *
 * @param {OnScreen} screen
 * @param {RotorOrigin} origin
 * @returns {Promise<Omit<Reading, "figure" | "token">>}
 */
export async function readRotor(screen, origin) {
  const expected = await expectedOf(origin);
  const [m, n] = positionsOn(screen.root);
  const errors = [
    errorOfHands(screen.root, expected, m, n),
    errorOfFacts(screen, expected, m, n),
    errorOfChart(screen, expected, m - n),
    errorOfActual(screen.root, expected),
  ];
  const found = errors.map(({ error }) => error);
  const error = Math.max(...found);
  const address = error <= origin.allowed_error ? "" : addressOf(origin, "score", m, n, 0);
  return { error, n: errors.reduce((total, one) => total + one.n, 0), address };
}

/**
 * @param {RotorOrigin} origin
 * @returns {Promise<Expected>}
 */
async function expectedOf({ run, site, head, kv_head, query, key }) {
  if (!site) {
    const speeds = Array.from((await independent(run, "positions.speeds")).values);
    const upright = speeds.map(() => ({ length: 1, angle: 0 }));
    return { first: upright, second: upright, speeds, divisor: 1, score: null };
  }
  const names = [
    `${site}.unrotated_q[${head},${query}]`,
    `${site}.unrotated_k[${kv_head},${key}]`,
    `rope.speeds`,
    `${site}.scores[${head},${query},${key}]`,
  ];
  const [q, k, speeds, score] = await Promise.all(names.map((name) => independent(run, name)));
  return {
    first: polar(q),
    second: polar(k),
    speeds: Array.from(speeds.values),
    divisor: Math.sqrt(q.columns),
    score: score.values[0],
  };
}

/**
 * Dimensions i and i + half as a pair.
 *
 * @param {Matrix} vector one row
 * @returns {Polar[]}
 */
function polar(vector) {
  const row = rowOf(vector, 0);
  const half = row.length / 2;
  return Array.from({ length: half }, (_, i) => ({
    length: Math.hypot(row[i], row[i + half]),
    angle: Math.atan2(row[i + half], row[i]),
  }));
}

/**
 * What each pair adds to the score at a distance.
 *
 * @param {Expected} expected
 * @param {number} distance
 */
function sharesAt({ first, second, speeds, divisor }, distance) {
  return speeds.map((speed, i) => {
    const angle = first[i].angle - second[i].angle + distance * speed;
    return (first[i].length * second[i].length * Math.cos(angle)) / divisor;
  });
}

/** @param {number[]} shares */
function sum(shares) {
  return shares.reduceRight((total, share) => total + share, 0);
}

/**
 * The two positions, as their sliders say.
 *
 * @param {HTMLElement} root
 */
function positionsOn(root) {
  return ["first", "second"].map((name) => {
    const said = root.querySelector(`[data-side=${name}] .hl-value`)?.textContent ?? "";
    return /^\d+$/.test(said) ? Number(said) : NaN;
  });
}

/** @param {string} text */
function unsigned(text) {
  return text.replace(/^\+/, "");
}

/** @param {Element | null | undefined} node */
function textOf(node) {
  return node?.textContent ?? "";
}

// --- the circles --------------------------------------------------------------------------------

/**
 * Hands, shares and wavelengths of the pairs that are drawn.
 *
 * @param {HTMLElement} root
 * @param {Expected} expected
 * @param {number} m
 * @param {number} n
 */
function errorOfHands(root, expected, m, n) {
  const { first, second, speeds, divisor } = expected;
  const nodes = Array.from(root.querySelectorAll(".hl-hand"));
  const pairs = nodes.map((node) => Number(node.getAttribute("data-pair")));
  const longest = Math.max(...[...first, ...second].map(({ length }) => length)) || 1;
  /** @param {number} i */
  const reach = (i) => (first[i].length * second[i].length) / divisor;
  const top = Math.max(...pairs.map(reach)) || 1;
  const shares = sharesAt(expected, m - n);
  const errors = nodes.map((node, at) => {
    const i = pairs[at];
    const [a, b] = [".hl-hand-first", ".hl-hand-second"].map((name) => node.querySelector(name));
    return Math.max(
      errorOfHand(a, first[i], m * speeds[i], longest),
      errorOfHand(b, second[i], n * speeds[i], longest),
      errorOfBar(node.querySelector(".hl-share"), shares[i] / top),
      errorOfNumber(unsigned(textOf(node.querySelector("[data-share]"))), shares[i]),
      errorOfWavelength(textOf(node), speeds[i]),
    );
  });
  return { error: Math.max(pairs.length ? 0 : NaN, ...errors), n: 7 * pairs.length };
}

/**
 * How far the end of a hand is from where it should be, as a share of the circle.
 *
 * @param {Element | null} line
 * @param {Polar} pair
 * @param {number} turn
 * @param {number} longest
 */
function errorOfHand(line, { length, angle }, turn, longest) {
  const [x, y] = ["x2", "y2"].map((name) => Number(line?.getAttribute(name) ?? NaN));
  const reach = (RADIUS * length) / longest;
  const off = Math.max(
    Math.abs(x - reach * Math.cos(angle + turn)),
    Math.abs(y + reach * Math.sin(angle + turn)),
  );
  return Math.max(0, off - HAND_ROUNDING) / RADIUS;
}

/**
 * @param {Element | null} bar
 * @param {number} share of the longest
 */
function errorOfBar(bar, share) {
  const [x, width] = ["x", "width"].map((name) => Number(bar?.getAttribute(name) ?? NaN));
  return Math.max(
    Math.abs(width / SHARE - Math.abs(share)),
    Math.abs(x / SHARE - Math.min(0, share)),
  );
}

/**
 * Positions for a full turn, as they stand in a circle's caption.
 *
 * @param {string} text
 * @param {number} speed
 */
function errorOfWavelength(text, speed) {
  const said = /λ ([\d,]+(?:\.\d)?)/.exec(text)?.[1].replaceAll(",", "") ?? "";
  const length = (2 * Math.PI) / speed;
  // The share's number follows without a space, so only one digit after the point is read.
  return errorOfNumber(length < 99.95 ? said : said.split(".")[0], length) / length;
}

// --- numbers ------------------------------------------------------------------------------------

/**
 * @param {OnScreen} screen
 * @param {Expected} expected
 * @param {number} m
 * @param {number} n
 */
function errorOfFacts({ root, before, picked }, expected, m, n) {
  /** @param {string} name */
  const said = (name) => textOf(root.querySelector(`dd[data-number=${name}]`));
  const shares = sharesAt(expected, m - n);
  const score = sum(shares);
  const then = before ? sum(sharesAt(expected, before.m - before.n)) : NaN;
  const turns = ((m - n) * expected.speeds[picked]) / (2 * Math.PI);
  const angle = 360 * (turns - Math.round(turns));
  const shown = said("angle").replace("°", "");
  // Half a turn is as far one way as the other.
  const isHalf = Math.abs(Math.abs(angle) - 180) < 0.1;
  const error = Math.max(
    errorOfNumber(said("score"), score),
    errorOfNumber(said("distance"), m - n),
    errorOfNumber(isHalf ? shown.replace("−", "") : shown, isHalf ? Math.abs(angle) : angle) / 180,
    errorOfNumber(unsigned(said("share")), shares[picked]),
    before ? errorOfNumber(said("before"), then) : 0,
    before ? Math.abs(Number(said("drift").replaceAll("−", "-"))) : 0,
  );
  return { error, n: before ? 6 : 4 };
}

/**
 * The model's own score where the query and the key stand in the sentence.
 *
 * @param {HTMLElement} root
 * @param {Expected} expected
 */
function errorOfActual(root, { score }) {
  if (score === null) return { error: 0, n: 0 };
  const numbers = ["actual", "here"].map((name) =>
    textOf(root.querySelector(`[data-actual] [data-number=${name}]`)),
  );
  return { error: Math.max(...numbers.map((text) => errorOfNumber(text, score))), n: 2 };
}

// --- the chart ----------------------------------------------------------------------------------

/**
 * The line of the score over the distance, that of one pair, and the dot, by the numbers of the axes.
 *
 * @param {OnScreen} screen
 * @param {Expected} expected
 * @param {number} distance
 */
function errorOfChart({ root, picked }, expected, distance) {
  const chart = root.querySelector(".hl-distances");
  const places = chart && placesOf(chart);
  if (!places) return { error: NaN, n: 0 };
  const dot = chart.querySelector(".hl-now-dot");
  const at = ["cx", "cy"].map((name) => Number(dot?.getAttribute(name) ?? NaN));
  /** @type {[string, (by: number) => number][]} */
  const lines = [
    [".hl-score-line", (by) => sum(sharesAt(expected, by))],
    [".hl-wave", (by) => sharesAt(expected, by)[picked]],
  ];
  const drawn = lines.map(([name, value]) => ({
    points: pointsOf(chart.querySelector(name)),
    value,
  }));
  const values = drawn.flatMap(({ points, value }) => points.map(([x]) => value(places.x(x))));
  const size = Math.max(1e-9, ...values.map(Math.abs));
  const room = LINE_ROUNDING * Math.abs(places.y(1) - places.y(0));
  /** @type {(point: number[], value: (by: number) => number) => number} */
  const errorOf = ([x, y], value) =>
    Math.max(0, Math.abs(places.y(y) - value(places.x(x))) - room) / size;
  const errors = drawn.flatMap(({ points, value }) => points.map((point) => errorOf(point, value)));
  const isDotThere = Math.abs(places.x(at[0]) - distance) < 1e-6 || NaN;
  const isWhole = drawn[0].points.length > 0 || NaN;
  return {
    error: Math.max(Number(!isDotThere), Number(!isWhole), errorOf(at, lines[0][1]), ...errors),
    n: errors.length + 1,
  };
}

/**
 * The points of a line.
 *
 * @param {Element | null} path
 */
function pointsOf(path) {
  const text = path?.getAttribute("d")?.slice(1) ?? "";
  return text
    ? text.split("L").map((point) => {
        const [x, y] = point.split(" ").map(Number);
        return [x, y];
      })
    : [];
}

/**
 * What places in the chart stand for, from the numbers on its axes; null where there are too few.
 *
 * Distances are whole, which the rounding of a point's place must not hide.
 *
 * @param {Element} chart
 */
function placesOf(chart) {
  const texts = Array.from(chart.querySelectorAll("text"));
  /** @type {(anchor: string, name: string) => number[][]} */
  const axis = (anchor, name) =>
    texts
      .filter((text) => text.getAttribute("text-anchor") === anchor)
      .map((text) => [Number(text.getAttribute(name)), Number(textOf(text).replace("−", "-"))])
      .filter(([, value]) => !Number.isNaN(value));
  const across = linear(axis("middle", "x"));
  const up = linear(axis("end", "y").map(([at, value]) => [at - LABEL_DROP, value]));
  if (!across || !up) return null;
  return { x: (/** @type {number} */ at) => Math.round(across(at)), y: up };
}

/**
 * The straight line through the first and the last of some points; null where others lie beside it.
 *
 * @param {number[][]} points
 */
function linear(points) {
  if (points.length < 2) return null;
  const [[x, a], [y, b]] = [points[0], points[points.length - 1]];
  /** @param {number} at */
  const value = (at) => a + ((at - x) * (b - a)) / (y - x);
  const isStraight = points.every(
    ([at, said]) => Math.abs(value(at) - said) <= 1e-4 * Math.abs(b - a),
  );
  return isStraight ? value : null;
}
