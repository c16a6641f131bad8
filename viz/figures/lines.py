"""Dotted lines with words, the same on every figure."""

import plotly.graph_objects as go

from viz.theme import Palette


def mark_line(
    figure: go.Figure, axis: str, at: float, text: str, colors: Palette, place: str = "top right"
) -> None:
    """A dotted line across the figure where x or y is `at`, with words beside it."""
    add = {"x": figure.add_vline, "y": figure.add_hline}[axis]
    add(
        at,
        line={"color": colors.frame, "width": 2, "dash": "dot"},
        annotation={
            "text": text,
            "font": {"color": colors.frame},
            "bgcolor": colors.background,
        },
        annotation_position=place,
    )
