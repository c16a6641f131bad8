"""Figures of the lesson on similarity: two arrows to be dragged, and the nearest tokens."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.charts.chart import Axis, Bars, Chart
from viz.charts.room import columns_room, rows_room
from viz.digits import HOVER
from viz.labels import NO_SPACE, told_apart, visible
from viz.theme import Palette, template

HEIGHT, ROW_PIXELS = 400, 26
HANDLE = 14  # pixels from its middle to its edge
LEAST_REACH = 6.0


def arrows(a: np.ndarray, b: np.ndarray, foot: np.ndarray, colors: Palette) -> go.Figure:
    """Two vectors from 0, (2,) each, and from b a line at a right angle onto a's line.

    The shapes are handles at their ends, which can be dragged.
    """
    reach = max(LEAST_REACH, 1.1 * float(np.abs([a, b, foot]).max()))
    axis = {
        "automargin": False,
        "range": [-reach, reach],
        "dtick": 2 if reach == LEAST_REACH else 5,
        "zeroline": True,
        "zerolinecolor": colors.muted,
        "constrain": "domain",
    }
    dropped = go.Scatter(
        x=[b[0], foot[0]],
        y=[b[1], foot[1]],
        name="b onto a’s line",
        mode="lines",
        line={"color": colors.muted, "dash": "dot"},
        hovertemplate=f"%{{x:{HOVER}}}, %{{y:{HOVER}}}<extra></extra>",
    )
    shadow = go.Scatter(
        x=[0, foot[0]],
        y=[0, foot[1]],
        mode="lines",
        line={"color": colors.frame, "width": 6},
        opacity=0.35,
        hoverinfo="skip",
    )
    return go.Figure(
        [_arrow("a", a, colors.series[0]), _arrow("b", b, colors.series[1]), dropped, shadow],
        {
            "template": template(colors),
            "title": {"text": "Two vectors, and the projection of b onto a"},
            "height": HEIGHT,
            "margin": {"t": 44, "l": rows_room(None), "b": columns_room(None, 0)},
            "xaxis": {"title": "x", **axis},
            "yaxis": {"title": "y", **axis, "scaleanchor": "x"},
            "shapes": [_handle(end, colors) for end in (a, b)],
            "showlegend": False,
        },
    )


def _handle(end: np.ndarray, colors: Palette) -> dict[str, Any]:
    """A ring around the end of an arrow, by which it is dragged."""
    return {
        "type": "circle",
        "xsizemode": "pixel",
        "ysizemode": "pixel",
        "xanchor": float(end[0]),
        "yanchor": float(end[1]),
        "x0": -HANDLE,
        "x1": HANDLE,
        "y0": -HANDLE,
        "y1": HANDLE,
        "line": {"color": colors.muted, "width": 1, "dash": "dot"},
        "fillcolor": "rgba(0,0,0,0)",
        "editable": True,
    }


def _arrow(name: str, end: np.ndarray, color: str) -> go.Scatter:
    return go.Scatter(
        x=[0, end[0]],
        y=[0, end[1]],
        name=name,
        mode="lines+markers+text",
        line={"color": color, "width": 3},
        marker={"color": color, "size": [0, 16], "symbol": "arrow", "angleref": "previous"},
        text=["", f"<b> {name} </b>"],
        textposition="middle right" if end[0] >= 0 else "middle left",
        textfont={"color": color, "size": 16},
        hovertemplate=f"{name} <b>%{{x:{HOVER}}}, %{{y:{HOVER}}}</b><extra></extra>",
    )


def token_names(tokens: Sequence[str]) -> list[str]:
    """Tokens of a vocabulary as people can read and tell them apart.

    Where words carry the space before them, an ellipsis marks letters that have none.
    """
    carry_spaces = any(len(token) > 1 and token[0] == " " for token in tokens)

    def name(token: str) -> str:
        return f"{NO_SPACE if carry_spaces and token[:1].isalnum() else ''}{visible(token)}"

    return list(told_apart(tokens, range(len(tokens)), name).values())


def nearest_bars(
    labels: Sequence[str],
    found: tuple[np.ndarray, np.ndarray, np.ndarray],
    token: int,
    words: tuple[str, str],
) -> Chart:
    """The nearest tokens below each other: labels, and ids, values and lengths, (k,) each.

    The bar of `token` itself has another colour. `words`: what the values are, the title.
    """
    (ids, values, lengths), (name, title) = found, words
    more = {"id": list(map(str, ids)), "length": lengths}
    inks = ["muted" if i == token else 0 for i in ids]
    bars = Bars(values, ink=inks, is_written=True, more=more)
    height = 104 + ROW_PIXELS * len(labels)
    return Chart(title, Axis(name), Axis("token", names=labels), [bars], height=height)
