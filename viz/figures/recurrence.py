"""Figures of the lesson on recurrence: right by length, what is attended to, time by length."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, build
from viz.figures.heatmap import Axis, Look, heat_map, weights
from viz.figures.lines import frame, mark_line
from viz.labels import unique
from viz.theme import Palette

HEIGHT = 400  # pixels
BELOW = {**LEGEND_BELOW, "margin": {**LEGEND_BELOW["margin"], "b": 104}}
STYLES = ("dot", "dash", "solid")  # of the three models
SYMBOLS = ("diamond-open", "square-open", "circle")
Lines = Mapping[str, tuple[Sequence[int], Sequence[float]]]  # x and y by name


def accuracy_lines(shares: Lines, trained: int, colors: Palette, title: str) -> go.Figure:
    """Shares from 0 to 1 by length; `trained` is the longest length of the training."""
    curves = [
        go.Scatter(
            x=list(lengths),
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": color, "dash": style, "width": 2},
            marker={"size": 7, "symbol": symbol},
            hovertemplate=f"{name}, %{{x}} letters: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for (name, (lengths, values)), color, style, symbol in zip(
            shares.items(), colors.series, STYLES, SYMBOLS, strict=False
        )
    ]
    longest = max(max(lengths) for lengths, _ in shares.values())
    mark = mark_line("x", trained + 0.5, "longer than in training", colors, place=("right", "top"))
    return build(
        curves,
        colors,
        Sheet(HEIGHT, title),
        x={"title": "letters", "range": [0, longest + 1], "zeroline": False, "showgrid": False},
        y={"title": "share that is right", "range": [-0.03, 1.12], "tickformat": ".0%"},
        extras=Extras(marks=[mark], layout=BELOW),
    )


def alignment_map(
    pattern: np.ndarray,
    labels: tuple[Sequence[str], Sequence[str]],
    row: int,
    colors: Palette,
    title: str,
) -> go.Figure:
    """Weights on the source of each token as it is written, (Tt, Ts), one row framed.

    labels: of what was written and of the source.
    """
    written, source = map(unique, labels)
    framed = frame((row, row), (0, len(source) - 1), {"color": colors.frame, "width": 2})
    height = int(np.clip(190 + 22 * len(written), 330, 760))
    return heat_map(
        pattern,
        (Axis("written", written), Axis("source", source)),
        weights(),
        colors,
        title=title,
        look=Look(square=False, height=height, shapes=[framed]),
    )


def time_lines(
    seconds: Mapping[str, Mapping[int, float]],
    quartiles: Mapping[str, Mapping[int, tuple[float, float]]],
    colors: Palette,
) -> go.Figure:
    """Median milliseconds by letters, with bars from the first quartile to the third."""
    curves = []
    for (name, medians), color, style, symbol in zip(
        seconds.items(), colors.series, STYLES, SYMBOLS, strict=False
    ):
        low, high = (np.array([quartiles[name][n][side] for n in medians]) for side in (0, 1))
        middle = np.array(list(medians.values()))
        curves.append(
            go.Scatter(
                x=list(medians),
                y=1000 * middle,
                name=name,
                mode="lines+markers",
                line={"color": color, "dash": style, "width": 2},
                marker={"size": 7, "symbol": symbol},
                error_y={"array": 1000 * (high - middle), "arrayminus": 1000 * (middle - low),
                         "thickness": 1.5, "width": 4, "color": color},
                hovertemplate=f"{name}, %{{x}} letters: <b>%{{y:.3~g}} ms</b><extra></extra>",
            )
        )  # fmt: skip
    sizes = sorted({n for medians in seconds.values() for n in medians})
    marks = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
    return build(
        curves,
        colors,
        Sheet(HEIGHT, "Time of one forward pass by length"),
        x={"title": "letters", "type": "log", "tickvals": sizes, "ticktext": list(map(str, sizes)),
           "showgrid": False},
        y={"title": "milliseconds", "type": "log", "tickvals": marks,
           "ticktext": [f"{mark:g}" for mark in marks]},
        extras=Extras(layout=BELOW),
    )  # fmt: skip
