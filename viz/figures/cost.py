"""Where the weights and the operations of a model are, and how long a pass takes by its length."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, Ink, Line, Pen

ROW, FRAME = 26, 120  # pixels of a model's bar, and of the rest
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


def pass_times(
    rounds: Mapping[int, Sequence[float]],
    places: Sequence[int],
    curves: Mapping[str, np.ndarray],
    predicted: np.ndarray,
) -> Chart:
    """Milliseconds of a pass by length. rounds: by length, the one that was left out last.

    curves: fits at the places with the quartiles of fits to single rounds, low and high, (3, G);
    predicted: those of the length that was left out, (2, 3).
    """
    singles = [(n, i, t) for n, times in rounds.items() for i, t in enumerate(times)]
    lengths, numbers, times = zip(*singles, strict=True)
    medians = [float(np.median(times)) for times in rounds.values()]
    *fitted, asked = rounds
    middle, low, high = predicted.T
    fits = [
        Line(places, fit, name, Pen(ink, dash, symbol=None), (lower, higher), is_band=True)
        for ink, dash, (name, (fit, lower, higher)) in zip(
            (1, 2), ("solid", "dot"), curves.items(), strict=True
        )
    ]
    small = Pen(0, None, size=4, opacity=0.5)
    return Chart(
        f"Time of one pass; {asked:,} tokens left out of the fits",
        Axis("tokens", kind="count", from_zero=True),
        Axis("time", "ms", from_zero=True),
        [
            *fits,
            Line(lengths, times, "each round", small, more={"round": numbers}),
            Line(fitted, medians[:-1], "median", Pen(0, None, size=9)),
            Line(
                [asked] * 2, middle, "predicted", Pen(3, None, 2, "diamond-open", 12), (low, high)
            ),
            Line([asked], medians[-1:], "then measured", Pen(2, None, 2, "square", 11)),
        ],
    )
