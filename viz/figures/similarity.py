"""Figures of the lesson on similarity: two arrows, the nearest tokens, and a head's products."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER, digits
from viz.figures.build import Extras, Sheet, TickLabels, build
from viz.figures.heatmap import Axis, Hidden, Look, heat_map, signed
from viz.labels import NO_SPACE, axis_labels, clipped, escape, told_apart, visible
from viz.theme import Palette

HEIGHT, ROW_PIXELS = 400, 26
HANDLE = 14  # pixels from its middle to its edge
LEAST_REACH = 6.0
LETTERS = 16  # of a token beside its bar


def arrows(a: np.ndarray, b: np.ndarray, foot: np.ndarray, colors: Palette) -> go.Figure:
    """Two vectors from 0, (2,) each, and from b a line at a right angle onto a's line.

    The shapes are handles at their ends, which can be dragged.
    """
    reach = max(LEAST_REACH, 1.1 * float(np.abs([a, b, foot]).max()))
    axis = {
        "range": [-reach, reach],
        "dtick": 2 if reach == LEAST_REACH else 5,
        "zeroline": True,
        "zerolinecolor": colors.muted,
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
    handles = [_handle(end, colors) for end in (a, b)]
    return build(
        [_arrow("a", a, colors.series[0]), _arrow("b", b, colors.series[1]), dropped, shadow],
        colors,
        Sheet(HEIGHT, "Two vectors, and the projection of b onto a"),
        x={"title": "x", **axis, "constrain": "domain"},
        y={"title": "y", **axis, "scaleanchor": "x", "constrain": "domain"},
        extras=Extras(shapes=handles, layout={"showlegend": False}),
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
    found: tuple[Sequence[str], np.ndarray, np.ndarray],
    token: int,
    colors: Palette,
    words: tuple[str, str],
) -> go.Figure:
    """The nearest tokens below each other: labels, ids and values, (k,) each.

    The bar of `token` itself has another colour. `words`: what the values are, the title.
    """
    labels, ids, values = found
    name, title = words
    shown = [escape(clipped(label, LETTERS)) for label in labels]
    reach = 1.25 * (float(np.abs(values).max(initial=0.0)) or 1.0)
    bars = go.Bar(
        x=values,
        y=list(range(len(values))),
        orientation="h",
        marker={"color": [colors.muted if i == token else colors.series[0] for i in ids]},
        text=[escape(digits(float(value), 3)) for value in values],
        textposition="outside",
        cliponaxis=False,
        hovertext=[
            f"<b>{escape(label)}</b><br>id {i}<br>{name} {escape(digits(float(value)))}"
            for label, i, value in zip(labels, ids, values, strict=True)
        ],
        hoverinfo="text",
    )
    return build(
        [bars],
        colors,
        Sheet(96 + ROW_PIXELS * len(values), title),
        x={"title": name, "range": [-reach if (values < 0).any() else 0.0, reach]},
        y={
            "tickvals": list(range(len(values))),
            "ticktext": shown,
            "range": [len(values) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        labels=TickLabels(rows=shown),
    )


def compared_map(
    values: np.ndarray,
    mask: np.ndarray,
    tokens: tuple[Sequence[str], Sequence[str]],
    colors: Palette,
    words: tuple[str, str],
) -> go.Figure:
    """A signed number of each query and key, (Tq, Tk), hatched where masked; `words` as above."""
    name, title = words
    rows, columns = tokens
    return heat_map(
        values,
        (Axis("query", axis_labels(rows)), Axis("key", axis_labels(columns))),
        signed(name, values[mask]),
        colors,
        title=title,
        hidden=Hidden(~mask),
        look=Look(square=len(rows) == len(columns)),
    )
