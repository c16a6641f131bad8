"""Charts of the lesson on √d: variance, sharpness and gradient by dimension, and one row."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import GUIDE, Axis, Bars, Chart, Line, Pen


def by_dimension(
    dimensions: Sequence[int],
    values: Mapping[str, np.ndarray],
    y: Axis,
    title: str,
    line: np.ndarray | None = None,
) -> Chart:
    """One number for each dimension, measured without and with √d; `line` is what is expected."""
    pen = Pen(size=9, dash="solid" if line is None else None)
    measured = [Line(dimensions, found, name, pen) for name, found in values.items()]
    expected = [] if line is None else [Line(dimensions, line, "d", GUIDE)]
    d = Axis("d, numbers of a query", is_log=True)
    return Chart(title, d, y, [*measured, *expected])


def weight_bars(weights: Mapping[str, np.ndarray], title: str) -> Chart:
    """The weights of one query over its keys, (n,), without and with √d."""
    bars = [Bars(values, name) for name, values in weights.items()]
    keys = Axis("key", names=[f"k{key + 1}" for key in range(len(bars[0].values))])
    return Chart(title, keys, Axis("weight", ends=(0, 1.02)), bars)
