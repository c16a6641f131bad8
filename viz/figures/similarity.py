"""Figures of the lesson on similarity: two arrows to be dragged, and the nearest tokens."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.charts.chart import GUIDE, Axis, Bars, Chart, Line, Pen
from viz.charts.figure import figure
from viz.digits import digits
from viz.labels import NO_SPACE, told_apart, visible
from viz.theme import Palette

HANDLE = 14  # pixels from its middle to its edge
LEAST_REACH = 6.0
ROOM = 2 * "\u00a0"  # by which a name keeps clear of its handle
SHADOW = Pen("frame", width=6, symbol=None, opacity=0.35)


def arrows(a: np.ndarray, b: np.ndarray, foot: np.ndarray, colors: Palette) -> go.Figure:
    """Two vectors from 0, (2,) each, and from b a line at a right angle onto a's line.

    The shapes are handles at their ends, which can be dragged; turned, they stay within the axes.
    """
    reach = max(LEAST_REACH, 1.1 * float(np.linalg.norm([a, b], axis=-1).max()))
    x, y = (Axis(name, ends=(-reach, reach)) for name in ("x", "y"))
    (x0, y0), (x1, y1) = b, foot
    dropped = Line([x0, x1], [y0, y1], "b onto a’s line", GUIDE, in_legend=False)
    shadow = Line([0, x1], [0, y1], pen=SHADOW, quiet=True)
    marks = [_arrow("a", a, 0), _arrow("b", b, 1), dropped, shadow]
    title = "Two vectors, and the projection of b onto a"
    drawn = figure(Chart(title, x, y, marks, is_square=True), colors)
    for trace in drawn["data"][:2]:
        trace["marker"]["angleref"] = "previous"
        trace["textfont"]["size"] = 16
    layout = drawn["layout"] | {"shapes": [_handle(end, colors) for end in (a, b)]}
    for side in ("xaxis", "yaxis"):
        layout[side] |= {"dtick": 2 if reach == LEAST_REACH else 5, "showgrid": True}
        layout[side] |= {"zeroline": True, "zerolinecolor": colors.muted}
    return go.Figure(drawn["data"], layout)


def _arrow(name: str, end: np.ndarray, ink: int) -> Line:
    side = "middle right" if end[0] >= 0 else "middle left"
    pen = Pen(ink, width=3, symbol="arrow", size=(0, 16))
    texts = ["", f"{ROOM}{name}{ROOM}"]
    return Line([0, end[0]], [0, end[1]], name, pen, texts=texts, written=side, in_legend=False)


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
    named = [f"{x} ({digits(length, 1)})" for x, length in zip(labels, lengths, strict=True)]
    return Chart(title, Axis(name), Axis("token (length)", names=named), [bars])
