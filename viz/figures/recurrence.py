"""Charts of the lesson on recurrence: right by length, what is attended to, time by length."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import Axis, Cells, Chart, Frame, Line, Pen, Rule, weights

MODELS = Pen(0, "dot", symbol="diamond-open"), Pen(1, "dash", symbol="square-open"), Pen(2)
Lines = Mapping[str, tuple[Sequence[int], Sequence[float]]]  # x and y by name


def accuracy_lines(shares: Lines, trained: int, title: str) -> Chart:
    """Shares from 0 to 1 by length; `trained` is the longest length of the training."""
    lines = [
        Line(lengths, values, name, pen)
        for (name, (lengths, values)), pen in zip(shares.items(), MODELS, strict=False)
    ]
    longest = max(max(lengths) for lengths, _ in shares.values())
    x = Axis("letters", ends=(0, longest + 1))
    y = Axis("share that is right", kind="share", ends=(-0.03, 1.12))
    return Chart(title, x, y, [*lines, Rule("x", trained + 0.5, "longer than in training")])


def alignment_map(
    pattern: np.ndarray, labels: tuple[Sequence[str], Sequence[str]], row: int, title: str
) -> Chart:
    """Weights on the source of each token as it is written, (Tt, Ts), one row framed.

    labels: of what was written and of the source.
    """
    written, source = (
        Axis(name, names=own, numbered=True)
        for name, own in zip(("written", "source"), labels, strict=True)
    )
    framed = Frame((row, row), (0, pattern.shape[1] - 1), width=2)
    height = int(np.clip(190 + 22 * len(pattern), 330, 760))
    return Chart(title, source, written, [Cells(pattern, weights()), framed], height=height)


def time_lines(
    seconds: Mapping[str, Mapping[int, float]],
    quartiles: Mapping[str, Mapping[int, tuple[float, float]]],
) -> Chart:
    """Median milliseconds by letters, with bars from the first quartile to the third."""
    lines = []
    for (name, medians), pen in zip(seconds.items(), MODELS, strict=False):
        low, high = 1000 * np.array([quartiles[name][n] for n in medians]).T
        lines.append(Line([*medians], 1000 * np.array([*medians.values()]), name, pen, (low, high)))
    sizes = sorted({n for medians in seconds.values() for n in medians})
    marks = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
    x, y = Axis("letters", is_log=True, ticks=sizes), Axis("time", "ms", is_log=True, ticks=marks)
    return Chart("Time of one forward pass by length", x, y, lines)
