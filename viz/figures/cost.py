"""Where the weights and the operations of a model are, and how long a pass takes by its length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, Ink, Line, Pen

ROW, FRAME = 30, 120  # pixels of a model's bar, and of the rest
INKS: tuple[Ink, ...] = (*range(6), "muted")  # a part more than there are colours of series
BY_LENGTH, BY_WORK = "a + b·n + c·n²", "start + operations / rate"


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


@dataclass(frozen=True, eq=False)
class Forecast:
    """The length that was left out: its tokens, what the fits say, and what was measured.

    predicted: (2, 3) by both fits, middle, low and high; measured: its median and all rounds, in
    milliseconds.
    """

    n_tokens: int
    predicted: np.ndarray
    median: float
    rounds: Sequence[float]


def pass_times(
    rounds: Mapping[int, Sequence[float]],
    medians: np.ndarray,
    places: Sequence[int],
    curves: Mapping[str, np.ndarray],
    forecast: Forecast,
) -> Chart:
    """Milliseconds of a pass by length. rounds: seconds by length; medians: (N,), as they are.

    curves: fits at the places with the quartiles of fits to single rounds, low and high, (3, G).
    """
    n = forecast.n_tokens
    singles = [(n, i, 1000 * t) for n, times in rounds.items() for i, t in enumerate(times)]
    singles += [(n, i, t) for i, t in enumerate(forecast.rounds)]
    lengths, numbers, times = zip(*singles, strict=True)
    middle, low, high = forecast.predicted.T
    fits = [
        Line(places, fit, name, Pen(ink, dash, symbol=None), (lower, higher), is_band=True)
        for ink, dash, (name, (fit, lower, higher)) in zip(
            (1, 2), ("solid", "dot"), curves.items(), strict=True
        )
    ]
    small = Pen(0, None, size=4, opacity=0.5)
    return Chart(
        f"Time of one pass; {n:,} tokens left out of the fits",
        Axis("tokens", kind="count", from_zero=True),
        Axis("time", "ms", from_zero=True),
        [
            *fits,
            Line(lengths, times, "each round", small, more={"round": numbers}),
            Line(list(rounds), medians, "median", Pen(0, None, size=9)),
            Line([n, n], middle, "predicted", Pen(3, None, 2, "diamond-open", 12), (low, high)),
            Line([n], [forecast.median], "then measured", Pen(2, None, 2, "square", 11)),
        ],
    )
