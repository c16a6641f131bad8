"""Figures of the lesson on kernels: the curve through points, and the weights of one query."""

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, build
from viz.theme import Palette

HEIGHT = 400  # pixels


def fitted_curve(
    points: tuple[np.ndarray, np.ndarray],
    curves: tuple[np.ndarray, np.ndarray, np.ndarray],
    query: tuple[float, float],
    colors: Palette,
) -> go.Figure:
    """What was measured, the truth behind it and the estimate, with the query's answer marked.

    curves: places, truth and estimate, (m,) each, NaN where nothing is in reach.
    """
    places, truth, found = curves
    text = f"x %{{x:{HOVER}}}: <b>%{{y:{HOVER}}}</b><extra></extra>"
    lines = [
        go.Scatter(x=places, y=truth, name="truth", mode="lines",
                   line={"color": colors.muted, "dash": "dot"}, hovertemplate=text),
        go.Scatter(x=places, y=found, name="mean", mode="lines",
                   line={"color": colors.series[1], "width": 3}, hovertemplate=text),
        go.Scatter(x=points[0], y=points[1], name="measured", mode="markers",
                   marker={"color": colors.series[0], "size": 7}, hovertemplate=text),
        go.Scatter(x=[query[0]], y=[query[1]], name="answer", mode="markers",
                   marker={"color": colors.series[1], "size": 14, "symbol": "diamond"},
                   hovertemplate=text),
    ]  # fmt: skip
    return build(
        lines,
        colors,
        Sheet(HEIGHT, "Weighted mean of 50 measurements"),
        x={"title": "x"},
        y={"title": "y"},
        extras=Extras(layout=LEGEND_BELOW),
    )


def weights_by_place(
    places: np.ndarray, weights: np.ndarray, query: float, colors: Palette
) -> go.Figure:
    """How much each point counts for the query, (n,), where it stands."""
    bars = go.Bar(
        x=places,
        y=weights,
        width=0.05,
        marker={"color": colors.series[0]},
        hovertemplate=f"key at %{{x:{HOVER}}}: weight <b>%{{y:{HOVER}}}</b><extra></extra>",
    )
    line = {"type": "line", "x0": query, "x1": query, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": colors.series[1], "dash": "dot"}}  # fmt: skip
    return build(
        [bars],
        colors,
        Sheet(HEIGHT, "Weights for the query (dotted)"),
        x={"title": "x"},
        y={"title": "weight", "rangemode": "tozero"},
        extras=Extras(shapes=[line], layout={"showlegend": False}),
    )
