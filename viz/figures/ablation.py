"""A run with parts off beside the run as it was, and what is left when head after head goes."""

from collections.abc import Sequence

import numpy as np

from viz.charts.chart import Axis, Bars, Cells, Chart, Hidden, Line, Pen, Rule, weights

NAMES = ("as it was", "with parts off")
# With room for the numbers that stand at the ends of bars.
PROBABILITY = Axis("probability", ends=(0, 1.15), ticks=(0, 0.25, 0.5, 0.75, 1))


def weight_map(weights_of: np.ndarray, both: tuple[Sequence[str], Sequence[str]], mask: np.ndarray,
               title: str, says: str = "") -> Chart:  # fmt: skip
    """Weights (Tq, Tk), hatched where masked. both: the labels of queries and of keys."""
    queries, keys = (
        Axis(name, names=labels, numbered=True)
        for name, labels in zip(("query", "key"), both, strict=True)
    )
    cells = Cells(weights_of, weights(), Hidden(~mask))
    return Chart(title, keys, queries, [cells], says, is_square=len(both[0]) == len(both[1]))


def answer_bars(
    names: Sequence[str], probs: Sequence[np.ndarray], title: str, of: Sequence[str] = NAMES
) -> Chart:
    """Probabilities of the same answers in one run or two, a bar of each run for each name."""
    bars = [Bars(one, name, is_written=True) for name, one in zip(of, probs, strict=False)]
    return Chart(title, PROBABILITY, Axis("", names=names), bars)


def pruning_curve(losses: np.ndarray, names: Sequence[str], bound: float, title: str) -> Chart:
    """Mean loss by how many heads are off, (n + 1,); `names` say which went last."""
    curve = Line(range(len(losses)), losses, pen=Pen(size=6), more={"the last": names})
    rule = Rule("y", bound, "the whole model’s + 5%", ("left", "top"))
    off = Axis("heads off", kind="whole", from_zero=True)
    return Chart(title, off, Axis("mean loss", "nats"), [curve, rule])
