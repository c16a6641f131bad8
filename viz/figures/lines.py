"""Dotted lines with words, and frames around cells: the same on every figure."""

import math
from typing import Any, NamedTuple

from viz.theme import Palette


class Mark(NamedTuple):
    """A line and its words as Plotly's layout takes them."""

    shape: dict[str, Any]
    annotation: dict[str, Any]


def mark_line(
    axis: str,
    at: float,
    text: str,
    colors: Palette,
    *,
    place: tuple[str, str] = ("right", "top"),
    is_log: bool = False,
) -> Mark:
    """A dotted line across the figure where x or y is `at`, with words beside it.

    `place` says at which side and height the words stand, of the line or of the figure. On a
    logarithmic axis Plotly places lines by value but words by their logarithm.
    """
    other = {"x": "y", "y": "x"}[axis]
    side, height = place
    words = {
        axis: math.log10(at) if is_log else at,
        f"{axis}ref": axis,
        f"{other}ref": f"{other} domain",
        "text": text,
        "showarrow": False,
        "font": {"color": colors.frame},
        "bgcolor": colors.background,
    }
    if axis == "x":  # beside the line, at the top or the bottom of the figure
        words |= {"y": 1 if height == "top" else 0, "yanchor": height}
        words |= {"xanchor": {"right": "left", "left": "right"}[side]}
    else:  # above or below the line, at one side of the figure
        words |= {"x": 1 if side == "right" else 0, "xanchor": side}
        words |= {"yanchor": {"top": "bottom", "bottom": "top"}[height]}
    shape = {
        "type": "line",
        f"{axis}0": at,
        f"{axis}1": at,
        f"{axis}ref": axis,
        f"{other}0": 0,
        f"{other}1": 1,
        f"{other}ref": f"{other} domain",
        "line": {"color": colors.frame, "width": 2, "dash": "dot"},
    }
    return Mark(shape, words)


def frame(
    rows: tuple[float, float], columns: tuple[float, float], line: dict[str, Any]
) -> dict[str, Any]:
    """A rectangle around cells, from the first to the last row and column of them.

    `line` is Plotly's: colour, width, dash.
    """
    (top, bottom), (left, right) = rows, columns
    corners = {"y0": top - 0.5, "y1": bottom + 0.5, "x0": left - 0.5, "x1": right + 0.5}
    return {"type": "rect", **corners, "line": line}
