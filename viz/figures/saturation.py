"""Figures of the lesson on √d: variance, sharpness and gradient by dimension, and one row."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import Extras, Sheet, build
from viz.theme import Palette

HEIGHT, LEGEND = 330, 84  # pixels; the second above a figure with a title and a legend


def by_dimension(
    dimensions: Sequence[int],
    values: Mapping[str, np.ndarray],
    colors: Palette,
    *,
    title: str,
    y: str,
    is_log: bool,
    line: np.ndarray | None = None,
) -> go.Figure:
    """One number for each dimension, measured without and with √d; `line` is what is expected."""
    curves = [
        go.Scatter(
            x=list(dimensions),
            y=measured,
            name=name,
            mode="lines+markers" if line is None else "markers",
            line={"color": colors.series[number]},
            marker={"color": colors.series[number], "size": 9},
            hovertemplate=f"d = %{{x}}, {name}: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, (name, measured) in enumerate(values.items())
    ]
    if line is not None:
        expected = go.Scatter(
            x=list(dimensions),
            y=line,
            name="d",
            mode="lines",
            line={"color": colors.muted, "dash": "dot"},
            hovertemplate="d = %{x}: %{y}<extra></extra>",
        )
        curves.append(expected)
    return build(
        curves,
        colors,
        Sheet(HEIGHT, title, top=LEGEND),
        x={"title": "d, numbers of a query", "type": "log", "dtick": 1, "showgrid": False},
        y={"title": y, **({"type": "log", "dtick": 1} if is_log else {"rangemode": "tozero"})},
    )


def weight_bars(weights: Mapping[str, np.ndarray], colors: Palette, title: str) -> go.Figure:
    """The weights of one query over its keys, (n,), without and with √d."""
    bars = [
        go.Bar(
            x=[f"k{key}" for key in range(1, len(values) + 1)],
            y=values,
            name=name,
            marker={"color": colors.series[number]},
            hovertemplate=f"%{{x}}, {name}: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, (name, values) in enumerate(weights.items())
    ]
    return build(
        bars,
        colors,
        Sheet(HEIGHT, title, top=LEGEND),
        x={"title": "key", "type": "category", "showgrid": False},
        y={"title": "weight", "range": [0, 1.02]},
        extras=Extras(layout={"barmode": "group"}),
    )
