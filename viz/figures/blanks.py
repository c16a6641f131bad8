"""Losses of the same tokens, predicted in two ways, side by side."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, tokens


def paired_bars(text: Sequence[str], losses: Mapping[str, np.ndarray], title: str) -> Chart:
    """−ln p of each token, bars beside each other; one has fewer where it predicts none at first.

    losses: in nats, of the last tokens of the text.
    """
    bars = [Bars(x, name, range(len(text) - len(x), len(text))) for name, x in losses.items()]
    loss = Axis("−ln p", "nats", from_zero=True)
    return Chart(title, tokens("", text), loss, bars)
