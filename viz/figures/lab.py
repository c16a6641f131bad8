"""Charts of a training: its schedule before it begins, and how it goes."""

from collections.abc import Mapping, Sequence
from math import gcd
from typing import NamedTuple

import numpy as np

from model.analysis.circle import Circle
from viz.charts.chart import (
    DOTS,
    FAINT,
    GUIDE,
    PLAIN,
    Axis,
    Chart,
    Line,
    Pen,
    Rule,
)

STEP = Axis("step", kind="whole", from_zero=True)
FORCED, FREE = "held out, teacher forcing", "held out, free running"
DASHES = {"held out": "dash", FORCED: "dash", FREE: "dot"}
POINTS = 60  # from so many on a line has no points
HEIGHT, CIRCLE = 320, 420


class Curve(NamedTuple):
    """One line over steps: whose it is, what it is, and its points.

    `number` is that of its colour; None for one of many, which is pale and not in the legend.
    """

    number: int | None
    name: str
    of: str  # a name in DASHES, or anything else
    steps: Sequence[int]
    values: Sequence[float]


def schedule(steps: np.ndarray, shares: np.ndarray, rates: Mapping[str, float]) -> Chart:
    """Learning rates before anything runs: at `steps` (S,) these shares of each peak in `rates`."""
    lines = [Line(steps, shares * rate, name, PLAIN) for name, rate in rates.items()]
    return Chart("Learning rate", STEP, Axis("learning rate", from_zero=True), lines, height=HEIGHT)


def curves(title: str, y: Axis, given: Sequence[Curve], marked: int | None) -> Chart:
    """Lines over steps, of one training or of several; one step may be marked."""
    rules = [] if marked is None else [Rule("x", marked)]
    return Chart(title, STEP, y, [*map(_line, given), *rules], height=HEIGHT)


def _line(curve: Curve) -> Line:
    if curve.number is None:
        return Line(curve.steps, curve.values, curve.name, FAINT, in_legend=False)
    n = len(curve.steps)
    symbol = "circle" if n < POINTS else None
    pen = Pen(curve.number, DASHES.get(curve.of, "solid"), symbol=symbol, size=5)
    return Line(curve.steps, curve.values, curve.name, pen)


def circle(names: Sequence[str], found: Circle, step: int) -> Chart:
    """Where numbers lie in the plane that they turn in, joined as it goes around."""
    n, points = len(names), found.points
    # Number j · k⁻¹ comes j-th on the way around; where k has no inverse, as they are counted.
    inverse = pow(found.frequency, -1, n) if gcd(found.frequency, n) == 1 else 1
    way = points[np.arange(n + 1) * inverse % n]
    marks = [
        Line(way[:, 0], way[:, 1], pen=GUIDE, quiet=True, in_legend=False),
        Line(points[:, 0], points[:, 1], pen=DOTS, names=names, written="top center",
             in_legend=False),
    ]  # fmt: skip
    share = f"{100 * found.share:.0f} % of their variance"
    title = f"Embeddings of 0 to {n - 1} at step {step:,}: {share}, {found.frequency} × around"
    return Chart(title, Axis("cosine"), Axis("sine"), marks, height=CIRCLE, is_square=True)
