"""Dotted lines with words, the same on every figure."""

import math

import plotly.graph_objects as go

from viz.theme import Palette


def mark_line(
    figure: go.Figure,
    axis: str,
    at: float,
    text: str,
    colors: Palette,
    *,
    place: str = "top right",
    is_log: bool = False,
) -> None:
    """A dotted line across the figure where x or y is `at`, with words beside it.

    On a logarithmic axis Plotly places lines by value but words by their logarithm.
    """
    add = {"x": figure.add_vline, "y": figure.add_hline}[axis]
    words = {"text": text, "font": {"color": colors.frame}, "bgcolor": colors.background}
    if is_log:
        words[axis] = math.log10(at)
    add(
        at,
        line={"color": colors.frame, "width": 2, "dash": "dot"},
        annotation=words,
        annotation_position=place,
    )
