"""Losses of the same tokens, predicted in two ways, side by side."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, tokens


class Predicted(NamedTuple):
    """What the tokens from `first` on cost in nats, (n,), and what they were predicted by."""

    name: str
    losses: np.ndarray
    first: int = 0


def paired_bars(text: Sequence[str], pair: tuple[Predicted, Predicted], title: str) -> Chart:
    """−ln p of each token, two bars beside each other; one alone where the other predicts none."""
    bars = [
        Bars(one.losses, one.name, range(one.first, one.first + len(one.losses))) for one in pair
    ]
    loss = Axis("−ln p", "nats", from_zero=True)
    return Chart(title, tokens("", text), loss, bars)
