"""Several matrices side by side in one colour scale: the same rows, each with its own columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import room
from viz.figures.heatmap import Scale, bar_traces, color_bar, scale_colors, ticks
from viz.labels import axis_labels
from viz.theme import Palette, template

TOP = 96  # pixels above the maps, for the colour bar and the titles
TITLES = 36  # pixels of them for the titles


@dataclass(frozen=True, eq=False)
class Part:
    """One of several matrices: its title, the tokens of its rows, and values (rows, columns).

    Cells that are `hidden` are grey.
    """

    title: str
    tokens: Sequence[str]
    values: np.ndarray
    hidden: np.ndarray | None = None


@dataclass(frozen=True)
class Row:
    """How the matrices stand in their row. `x` and `y` are for all axes, in Plotly's words.

    With `columns`, labels for which there must be room, the columns are each part's tokens, else
    numbers. `is_labelled_once` leaves the row labels to the first part; `gap` is a share of the
    width.
    """

    height: int
    x: dict[str, Any]
    y: dict[str, Any] = field(default_factory=dict)
    column_name: str = "dimension"
    columns: Sequence[str] | None = None
    is_labelled_once: bool = False
    gap: float = 0.02


def maps_side_by_side(parts: Sequence[Part], scale: Scale, colors: Palette, row: Row) -> go.Figure:
    """Parts from left to right in one colour scale."""
    labels = [axis_labels(part.tokens) for part in parts]
    data, axes, titles = [], {}, []
    for number, part in enumerate(parts):
        left, right = _domain(number, len(parts), row.gap)
        name = str(number + 1) if number else ""
        place = {"y": labels[number], "xaxis": f"x{name}", "yaxis": f"y{name}"}
        if row.columns is not None:
            place["x"] = labels[number]
        data += _cells(part, place, row.column_name, colors)
        axes[f"xaxis{name}"] = _axis(row.x, anchor=f"y{name}", domain=[left, right])
        has_labels = number == 0 or not row.is_labelled_once
        own = {"showticklabels": has_labels, **ticks(labels[number], 28), **row.y}
        axes[f"yaxis{name}"] = _axis({"autorange": "reversed"} | own, anchor=f"x{name}")
        titles.append(_title(part.title, (left + right) / 2, colors))
    margin = {"t": TOP, **room(max(labels, key=len), row.columns, turned=90)}
    y = 1 + TITLES / (row.height - margin["t"] - margin["b"])
    return go.Figure(
        data=[*data, *bar_traces(scale, colors, y=y)],
        layout={
            "template": template(colors),
            "height": row.height,
            "margin": margin,
            "annotations": titles,
            "coloraxis": {
                "colorscale": scale_colors(scale, colors),
                "cmin": scale.low,
                "cmax": scale.high,
                "colorbar": color_bar(scale, colors) | {"y": y},
                "showscale": not scale.is_weight,
            },
            **axes,
        },
    )


def _domain(number: int, n_parts: int, gap: float) -> tuple[float, float]:
    """From where to where a part stands, as shares of the figure's width."""
    width = (1 - gap * (n_parts - 1)) / n_parts
    left = number * (width + gap)
    return left, left + width


def _cells(
    part: Part,
    place: dict[str, Any],
    column_name: str,
    colors: Palette,
) -> list[go.Heatmap]:
    values, hidden = part.values.astype(np.float32), part.hidden
    shown = go.Heatmap(
        z=values if hidden is None else np.where(hidden, np.nan, values),
        coloraxis="coloraxis",
        hoverongaps=False,
        hovertemplate=f"<b>%{{y}}</b><br>{column_name} <b>%{{x}}</b><br>{part.title} "
        f"<b>%{{z:{HOVER}}}</b><extra></extra>",
        **place,
    )
    if hidden is None:
        return [shown]
    grey = go.Heatmap(
        z=np.where(hidden, 1.0, np.nan).astype(np.float32),
        colorscale=[[0, colors.masked], [1, colors.masked]],
        showscale=False,
        hoverinfo="skip",
        **place,
    )
    return [shown, grey]


def _axis(more: dict[str, Any], **own: object) -> dict[str, Any]:
    return {"automargin": False, "showgrid": False, **own, **more}


def _title(text: str, middle: float, colors: Palette) -> dict[str, Any]:
    return {
        "text": text,
        "x": middle,
        "xref": "paper",
        "xanchor": "center",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 15, "color": colors.text},
    }
