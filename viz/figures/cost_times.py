"""How long a pass takes by its length: every round, two fits with their spread, and a forecast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viz.charts.chart import Axis, Chart, Line, Pen

BY_LENGTH, BY_WORK = "a + b·n + c·n²", "start + operations / rate"


@dataclass(frozen=True, eq=False)
class Curve:
    """A fit at its places, (G,), with the quartiles of fits to single rounds, in milliseconds."""

    name: str
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray


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
    curves: Sequence[Curve],
    forecast: Forecast,
) -> Chart:
    """Milliseconds of a pass by length. rounds: seconds by length; medians: (N,), as they are."""
    n = forecast.n_tokens
    singles = [(n, i, 1000 * t) for n, times in rounds.items() for i, t in enumerate(times)]
    singles += [(n, i, t) for i, t in enumerate(forecast.rounds)]
    lengths, numbers, times = zip(*singles, strict=True)
    middle, low, high = forecast.predicted.T
    fits = [
        Line(places, x.values, x.name, Pen(ink, dash, symbol=None), (x.low, x.high), is_band=True)
        for ink, (x, dash) in enumerate(zip(curves, ("solid", "dot"), strict=True), start=1)
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
