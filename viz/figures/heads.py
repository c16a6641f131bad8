"""Heads as points, by any two of their measures, a third as colour."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.digits import digits
from viz.figures.build import Extras, Sheet, build
from viz.figures.heatmap import Scale, color_bar, scale_colors
from viz.theme import Palette

HEIGHT = 440
POINT = 13  # pixels
ROOM = 0.06  # of an axis on each side, so that no point is cut
ALIKE = 0.02  # of the largest value: an axis spans no less, or its numbers would be too long


@dataclass(frozen=True, eq=False)
class Measured:
    """One measure of all heads, (N,), NaN where there is none, and what it is called."""

    name: str
    values: np.ndarray
    is_signed: bool = False


def head_scatter(
    names: Sequence[str],
    across: Measured,
    up: Measured,
    colour: Measured,
    chosen: int,
    colors: Palette,
) -> go.Figure:
    """A point for each head; the chosen one is ringed and named. What has no value is not drawn."""
    scale = _scale(colour)
    is_chosen = np.arange(len(names)) == chosen
    points = go.Scatter(
        x=across.values,
        y=up.values,
        mode="markers",
        hovertext=[
            f"<b>{name}</b><br>" + "<br>".join(_said(one, i) for one in (across, up, colour))
            for i, name in enumerate(names)
        ],
        hoverinfo="text",
        marker={
            "size": np.where(is_chosen, POINT + 6, POINT),
            "color": colour.values,
            "cmin": scale.low,
            "cmax": scale.high,
            "colorscale": scale_colors(scale, colors),
            "colorbar": color_bar(scale, colors),
            "line": {
                "color": [colors.frame if one else colors.muted for one in is_chosen],
                "width": np.where(is_chosen, 3, 1),
            },
        },
    )
    return build(
        [points],
        colors,
        Sheet(HEIGHT, top=52),
        x={"title": across.name, "range": _range(across.values), "tickangle": 0},
        y={"title": up.name, "range": _range(up.values)},
        extras=Extras(annotations=_name(names, across, up, chosen, colors)),
    )


def _said(one: Measured, i: int) -> str:
    return f"{one.name} {digits(float(one.values[i])) if np.isfinite(one.values[i]) else '–'}"


def _scale(colour: Measured) -> Scale:
    finite = colour.values[np.isfinite(colour.values)]
    if colour.is_signed:
        return Scale(colour.name, -1.0, 1.0, signed=True)
    return Scale(colour.name, 0.0, float(finite.max(initial=0.0)) or 1.0)


def _range(values: np.ndarray) -> list[float] | None:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    span = max(high - low, ALIKE * max(abs(low), abs(high))) or 1.0
    middle, half = (low + high) / 2, (0.5 + ROOM) * span
    return [middle - half, middle + half]


def _name(
    names: Sequence[str], across: Measured, up: Measured, chosen: int, colors: Palette
) -> list[dict[str, object]]:
    """The chosen head's name beside its point, on the side that has more room."""
    x, y = float(across.values[chosen]), float(up.values[chosen])
    bounds = _range(across.values)
    if bounds is None or not np.isfinite(x + y):
        return []
    is_right = x > sum(bounds) / 2
    return [
        {
            "x": x,
            "y": y,
            "text": f"<b>{names[chosen]}</b>",
            "showarrow": False,
            "xanchor": "right" if is_right else "left",
            "xshift": -14 if is_right else 14,
            "font": {"color": colors.frame},
            "bgcolor": colors.background,
        }
    ]
