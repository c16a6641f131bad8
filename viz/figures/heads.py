"""Heads as points, by any two of their measures, a third as colour."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.charts.chart import Axis, Chart, Line, Pen, Scale

POINTS = Pen(dash=None, size=13)
RING = Pen("frame", None, 3, "circle-open", 17)
ROOM = 0.06  # of an axis on each side, so that no point is cut
ALIKE = 0.02  # of the largest value: an axis spans no less, or its numbers would be too long


@dataclass(frozen=True, eq=False)
class Measured:
    """One measure of all heads, (N,), NaN where there is none, and what it is called."""

    name: str
    values: np.ndarray
    is_signed: bool = False

    @property
    def axis(self) -> Axis:
        """It along an axis."""
        return Axis(self.name, ends=_ends(self.values))


def head_scatter(
    names: Sequence[str], across: Measured, up: Measured, colour: Measured, chosen: int
) -> Chart:
    """A point for each head; the chosen one is ringed and named. What has no value is not drawn."""
    shades = colour.values, _scale(colour)
    more = {colour.name: colour.values}
    points = Line(across.values, up.values, pen=POINTS, names=names, more=more, shades=shades)
    x, y = float(across.values[chosen]), float(up.values[chosen])
    is_right = x > sum(across.axis.ends or ()) / 2  # the other side has more room
    side = "middle left" if is_right else "middle right"
    ring = Line([x], [y], "chosen", RING, names=[names[chosen]], written=side, quiet=True,
                in_legend=False)  # fmt: skip
    marks = [points, ring] if np.isfinite(x + y) else [points]
    title = f"{up.name} by {across.name}"
    return Chart(title, across.axis, up.axis, marks, height=440)


def _scale(colour: Measured) -> Scale:
    finite = colour.values[np.isfinite(colour.values)]
    if colour.is_signed:
        return Scale(colour.name, -1.0, 1.0, "signed")
    return Scale(colour.name, 0.0, float(finite.max(initial=0.0)) or 1.0)


def _ends(values: np.ndarray) -> tuple[float, float] | None:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    span = max(high - low, ALIKE * max(abs(low), abs(high))) or 1.0
    middle, half = (low + high) / 2, (0.5 + ROOM) * span
    return middle - half, middle + half
