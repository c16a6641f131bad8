// F over the number of edges, on a scale that grows.

import { digits, setAll, svg } from "../../dom.js";

/** @import { Palette } from "../../wire.js" */

const SIZE = { width: 300, height: 116, left: 30, right: 22, top: 12, bottom: 34 };
const TICKS = [1, 10, 100, 1000, 10_000];

/**
 * @param {SVGSVGElement} node
 * @param {{sizes: number[], shares: number[]}} curve
 * @param {number | null} k the number that is looked at
 * @param {Palette} palette
 */
export function drawShares(node, { sizes, shares }, k, palette) {
  const { width, height, left, right, top, bottom } = SIZE;
  const most = Math.log(Math.max(10, sizes.at(-1) ?? 1));
  const [low, high] = [Math.min(0, ...shares), Math.max(1, ...shares)];
  const x = (/** @type {number} */ n) => left + (Math.log(n) / most) * (width - left - right);
  const y = (/** @type {number} */ f) =>
    top + ((high - f) / (high - low)) * (height - top - bottom);
  const points = sizes.map((n, i) => `${x(n).toFixed(1)} ${y(shares[i]).toFixed(1)}`);
  const at = k === null ? -1 : sizes.indexOf(k);
  const small = { fill: palette.muted, "font-size": 12 };
  const rule = { x1: left, x2: width - right, stroke: palette.line };
  setAll(node, { viewBox: `0 0 ${width} ${height}`, width, height });
  node.setAttribute(
    "aria-label",
    `Share of the difference that the strongest edges keep: ${sizes
      .map((n, i) => `${n} edges ${digits(shares[i], 2)}`)
      .filter((_, i) => i % 4 === 0 || i === sizes.length - 1)
      .join(", ")}.`,
  );
  node.replaceChildren(
    ...[0, 1].flatMap((f) => [
      svg("line", { ...rule, y1: y(f), y2: y(f) }),
      svg("text", { x: left - 6, y: y(f) + 4, "text-anchor": "end", ...small }, f),
    ]),
    ...TICKS.filter((n) => Math.log(n) <= most).map((n) =>
      svg(
        "text",
        { x: x(n), y: height - bottom + 16, "text-anchor": "middle", ...small },
        n.toLocaleString("en"),
      ),
    ),
    svg("text", { x: left, y: height - 3, ...small }, "F by number of strongest edges"),
    svg("path", {
      d: points.length ? `M${points.join("L")}` : "",
      ...{ fill: "none", stroke: palette.text, "stroke-width": 1.6 },
    }),
    ...(at < 0
      ? []
      : [svg("circle", { cx: x(sizes[at]), cy: y(shares[at]), r: 4, fill: palette.accent })]),
  );
}
