"""Charts of the lesson on the residual: lengths of gradients by depth and by layer."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import Axis, Chart, Line, Pen

WIDE = 100  # two decades
UNMEASURED = (1e-4, 10.0)  # ends of the axis before anything is measured


def gradient_lines(
    places: Sequence[int], lengths: Mapping[str, np.ndarray], title: str, x: str
) -> Chart:
    """Lengths of gradients of kinds of networks, (n,) each, where equal ratios are equal steps.

    So they are of one kind alone, too, once its lengths differ by more than `WIDE`.
    The second half of the kinds, those without the sum, is dashed.
    """
    n_with = -(-len(lengths) // 2)
    lines = []
    for number, (name, values) in enumerate(lengths.items()):
        ink, has_sum = number % n_with, number < n_with
        pen = Pen(ink) if has_sum else Pen(ink, "dot", symbol="diamond-open")
        lines.append(Line(places, values, name, pen))
    is_log = len(lengths) > 1 or any(x.max() > WIDE * x.min() for x in lengths.values())
    is_measured = any(np.isfinite(values).any() for values in lengths.values())
    room = 0.04 * (max(places) - min(places))
    y = Axis(
        "length of the gradient",
        kind="power" if is_log else "plain",
        is_log=is_log,
        from_zero=not is_log,
        ends=None if is_measured else UNMEASURED,
    )
    ends = min(places) - room, max(places) + room
    return Chart(title, Axis(x, ends=ends), y, lines)
