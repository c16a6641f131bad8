"""Charts of a training: its schedule before it begins, and how it goes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from viz.charts.chart import PLAIN, Axis, Cells, Chart, Hidden, Line, Pen, Row, Rule, weights
from viz.labels import visible

STEP = Axis("step", kind="whole", from_zero=True)
FORCED, FREE = "held out, teacher forcing", "held out, free running"
DASHES = {"held out": "dash", FORCED: "dash", FREE: "dot"}
POINTS = 60  # from so many on a line has no points
HEIGHT, HEADS = 300, 340


class Curve(NamedTuple):
    """One line over steps: whose it is (the number of its colour), what it is, and its points."""

    number: int
    name: str
    of: str  # a name in DASHES, or anything else
    steps: Sequence[int]
    values: Sequence[float]


def schedule(steps: np.ndarray, shares: np.ndarray, rates: Mapping[str, float]) -> Chart:
    """Learning rates before anything runs: at `steps` (S,) these shares of each peak in `rates`."""
    lines = [Line(steps, shares * rate, name, PLAIN) for name, rate in rates.items()]
    return Chart("Learning rate", STEP, Axis("learning rate", from_zero=True), lines, height=HEIGHT)


def curves(title: str, y: Axis, given: Sequence[Curve], marked: Mapping[str, int]) -> Chart:
    """Lines over steps, of one training or of several; at `marked` steps stands what happened."""
    rules = [Rule("x", step, text, ("right", "top")) for text, step in marked.items()]
    return Chart(title, STEP, y, [*map(_line, given), *rules], height=HEIGHT)


def _line(curve: Curve) -> Line:
    n = len(curve.steps)
    symbol = "circle" if n < POINTS else None
    pen = Pen(curve.number, DASHES.get(curve.of, "solid"), symbol=symbol, size=5)
    return Line(curve.steps, curve.values, curve.name, pen)


def heads(
    patterns: np.ndarray, mask: np.ndarray, texts: Sequence[str], layer: int, step: int
) -> Row:
    """What the heads of one layer attend to at a step: patterns (H, T, T), mask (T, T)."""
    names = [visible(text) for text in texts]
    key, query = (Axis(title, names=names, numbered=True) for title in ("key", "query"))
    charts = [
        Chart(
            f"L{layer} H{head} · step {step:,}",
            key,
            query,
            [Cells(pattern, weights(), Hidden(~mask))],
        )
        for head, pattern in enumerate(patterns)
    ]
    return Row(charts, tallest=HEADS, says=f"At step {step:,} of the training.")
