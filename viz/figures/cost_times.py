"""How long a pass takes by its length: every round, two fits with their spread, and a forecast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, build
from viz.theme import Palette

HEIGHT = 460  # pixels
BELOW = {**LEGEND_BELOW, "legend": {**LEGEND_BELOW["legend"], "traceorder": "normal"}}
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
    colors: Palette,
) -> go.Figure:
    """Milliseconds of a pass by length. rounds: by length; medians: (N,), in their order.

    Traces: low, high and middle of each curve, then the rounds, the medians, both forecasts and
    what was measured of the length left out.
    """
    traces: list[go.Scatter] = []
    for curve, color, dash in zip(curves, colors.series[1:], ("solid", "dot"), strict=False):
        traces += _curve(curve, places, color, dash)
    traces += _points(rounds, medians, forecast, colors)
    return build(
        traces,
        colors,
        Sheet(HEIGHT, f"Time of one pass; {forecast.n_tokens:,} tokens left out of the fits"),
        x={"title": "tokens", "rangemode": "tozero", "showgrid": False},
        y={"title": "milliseconds", "rangemode": "tozero"},
        extras=Extras(layout=BELOW),
    )


def _curve(curve: Curve, places: Sequence[int], color: str, dash: str) -> list[go.Scatter]:
    edge = {"color": color, "width": 0}
    shared = {"x": list(places), "mode": "lines", "hoverinfo": "skip", "showlegend": False}
    return [
        go.Scatter(y=curve.low, line=edge, **shared),
        go.Scatter(y=curve.high, line=edge, fill="tonexty", fillcolor=_faint(color), **shared),
        go.Scatter(
            x=list(places),
            y=curve.values,
            name=curve.name,
            mode="lines",
            line={"color": color, "width": 2, "dash": dash},
            hovertemplate=f"{curve.name}, %{{x}} tokens: <b>%{{y:{HOVER}}} ms</b><extra></extra>",
        ),
    ]


def _faint(color: str) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.2)"


def _points(
    rounds: Mapping[int, Sequence[float]],
    medians: np.ndarray,
    forecast: Forecast,
    colors: Palette,
) -> list[go.Scatter]:
    singles = [(n, 1000 * t) for n, times in rounds.items() for t in times]
    singles += [(forecast.n_tokens, t) for t in forecast.rounds]
    predicted = forecast.predicted
    middle, low, high = predicted.T
    ends = {"symmetric": False, "thickness": 2, "array": np.maximum(high - middle, 0),
            "arrayminus": np.maximum(middle - low, 0)}  # fmt: skip
    return [
        go.Scatter(
            x=[n for n, _ in singles],
            y=[t for _, t in singles],
            name="each round",
            mode="markers",
            marker={"color": colors.series[0], "size": 4, "opacity": 0.5},
            hoverinfo="skip",
        ),
        go.Scatter(
            x=list(rounds),
            y=medians,
            name="median",
            mode="markers",
            marker={"color": colors.series[0], "size": 9},
            hovertemplate=f"%{{x}} tokens, median: <b>%{{y:{HOVER}}} ms</b><extra></extra>",
        ),
        go.Scatter(
            x=[forecast.n_tokens] * len(middle),
            y=middle,
            error_y=ends,
            name="predicted",
            mode="markers",
            marker={"color": colors.series[3], "size": 12, "symbol": "diamond-open",
                    "line": {"width": 2}},
            hovertemplate=f"%{{x}} tokens, predicted: <b>%{{y:{HOVER}}} ms</b><extra></extra>",
        ),
        go.Scatter(
            x=[forecast.n_tokens],
            y=[forecast.median],
            name="then measured",
            mode="markers",
            marker={"color": colors.series[2], "size": 11, "symbol": "square"},
            hovertemplate=f"%{{x}} tokens, measured: <b>%{{y:{HOVER}}} ms</b><extra></extra>",
        ),
    ]  # fmt: skip
