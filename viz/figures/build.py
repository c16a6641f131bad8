"""Figures in one piece: data and layout handed over together.

Plotly checks every later change of a figure against the whole of it, so a heat map put together by
updates takes 19 ms and one built at once 3. Room for labels is worked out here as well: Plotly's
automargin draws a figure two or three times.
"""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

from viz.figures.lines import Mark
from viz.theme import Palette, template

LETTER = 6.9  # pixels of an average letter of a tick label, with some to spare
WIDE_LETTER = 13
TITLE = 42  # an axis title with the space around it
NUMBERS = 30  # tick labels that are numbers
TILT = 50  # degrees by which token labels below a figure are turned
MOST = 220  # pixels; longer labels are rare and may be cut


@dataclass(frozen=True)
class Sheet:
    """What a figure is drawn on: its height and the room above the axes in pixels, its title."""

    height: int
    title: str | None = None
    top: int = 44


@dataclass(frozen=True)
class TickLabels:
    """Labels of the rows and of the columns; None where they are numbers."""

    rows: Sequence[str] | None = None
    columns: Sequence[str] | None = None


@dataclass(frozen=True)
class Extras:
    """What a figure has beside its traces, and further entries of Plotly's layout."""

    marks: Sequence[Mark] = ()
    shapes: Sequence[dict[str, Any]] = ()
    annotations: Sequence[dict[str, Any]] = ()
    layout: dict[str, Any] = field(default_factory=dict)


# Of a figure whose names would run into its title where a page is narrow.
LEGEND_BELOW: dict[str, Any] = {
    "legend": {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yref": "container",
        "yanchor": "bottom",
    },
    "margin": {"t": 44, "l": 72, "r": 12, "b": 136},
}
NUMBERED, NOTHING_MORE = TickLabels(), Extras()


def build(
    data: Sequence[BaseTraceType],
    colors: Palette,
    sheet: Sheet,
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    labels: TickLabels = NUMBERED,
    extras: Extras = NOTHING_MORE,
) -> go.Figure:
    """A figure of one pair of axes, `x` and `y` in Plotly's words, with room for its labels."""
    margins = room(labels.rows, labels.columns, turned=-x.get("tickangle", -TILT))
    return go.Figure(
        data=list(data),
        layout={
            "template": template(colors),
            "title": {"text": sheet.title},
            "height": sheet.height,
            "margin": {"t": sheet.top, **margins},
            "xaxis": {"automargin": False, **x},
            "yaxis": {"automargin": False, **y},
            "shapes": [*extras.shapes, *(mark.shape for mark in extras.marks)],
            "annotations": [*extras.annotations, *(mark.annotation for mark in extras.marks)],
            **extras.layout,
        },
    )


def room(
    rows: Sequence[str] | None, columns: Sequence[str] | None, turned: float = TILT
) -> dict[str, int]:
    """Margins for tick labels and axis titles; axes without labels have numbers.

    `columns` are turned by so many degrees.
    """
    left = TITLE + (NUMBERS if rows is None else widest(rows))
    tilt = math.sin(math.radians(turned))
    below = 12 if columns is None else 16 + widest(columns) * tilt
    return {"l": round(left), "b": round(TITLE + below)}


def widest(labels: Sequence[str]) -> float:
    """Pixels of the widest label."""
    return min(max(map(label_width, labels), default=0.0), MOST)


def label_width(label: str) -> float:
    """About how many pixels a label takes; marks that take no room count for none."""
    kinds = [(unicodedata.east_asian_width(x), unicodedata.category(x)) for x in unescape(label)]
    return sum(
        0 if kind in ("Mn", "Me", "Cf") else WIDE_LETTER if width in ("W", "F") else LETTER
        for width, kind in kinds
    )
