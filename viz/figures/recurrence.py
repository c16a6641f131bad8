"""Charts of the lesson on recurrence: right by length, and what is attended to."""

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
    return Chart(title, source, written, [Cells(pattern, weights()), framed])
