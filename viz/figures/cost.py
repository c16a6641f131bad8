"""Where the weights and the operations of a model are."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, Ink, Line, Pen

ROW, FRAME = 30, 120  # pixels of a model's bar, and of the rest
INKS: tuple[Ink, ...] = (*range(6), "muted")  # a part more than there are colours of series


def share_bars(parts: Mapping[str, Sequence[int]], models: Sequence[str]) -> Chart:
    """The share of each part in the weights of each model, in their order; a row for each model."""
    totals = np.sum(list(parts.values()), axis=0, dtype=float)
    bars = [
        Bars(np.array(counts) / totals, part, ink=ink, is_stacked=True, more={"weights": counts})
        for (part, counts), ink in zip(parts.items(), INKS, strict=False)
    ]
    shares = Axis("share of all weights", kind="share", ends=(0, 1))
    return Chart("Share of each part in the weights", shares, Axis("", names=models), bars,
                 height=FRAME + ROW * len(models))  # fmt: skip


def operation_lines(
    lengths: Sequence[int], parts: Mapping[str, Sequence[int]], model: str
) -> Chart:
    """Operations of one token by the number of tokens it attends to, a line for each part."""
    lines = [Line(lengths, counts, part, Pen(size=6)) for part, counts in parts.items()]
    return Chart(
        "Operations for one token, by the length of its context",
        Axis("tokens attended to", kind="count", is_log=True),
        Axis("operations", kind="count", is_log=True),
        lines,
        f"The model: {model}.",
    )
