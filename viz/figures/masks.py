"""Masks as pictures: the matrix, scores before and after it, and what the wrong order does."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.heatmap import Axis, heat_map, signed, weights
from viz.figures.labels import axis_labels
from viz.theme import Palette, template


def mask_map(mask: np.ndarray, tokens: Sequence[str], colors: Palette) -> go.Figure:
    """The mask (T, T): what each token may read, and what is hidden from it."""
    figure = _token_map(
        0.4 * mask.astype(np.float32), mask, tokens, colors, title="The mask in use"
    )
    figure.data[0].showscale = False
    figure.data[
        0
    ].hovertemplate = (
        "query <b>%{y}</b><br>key <b>%{x}</b><br><b>may read</b>, M = 0<extra></extra>"
    )
    return figure


def score_map(
    scores: np.ndarray, mask: np.ndarray | None, tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """Scores (T, T), signed; with a mask, hidden cells are hatched and stand for −∞."""
    labels = axis_labels(tokens)
    return heat_map(
        scores,
        Axis("query", labels),
        Axis("key", labels),
        signed("score", scores),
        colors,
        title=title,
        hidden=None if mask is None else ~mask,
    )


def pattern_map(
    pattern: np.ndarray, mask: np.ndarray, tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """Weights (T, T) with hidden cells hatched."""
    return _token_map(pattern, mask, tokens, colors, title=title)


def leak_curves(
    visible_sums: dict[str, np.ndarray], tokens: Sequence[str], colors: Palette
) -> go.Figure:
    """What each query's visible cells sum to, (T,), under each order of mask and softmax."""
    labels = axis_labels(tokens)
    names = {
        "before": "−∞ before softmax (this model)",
        "score_zero": "score 0 before softmax",
        "after": "zero after softmax",
    }
    figure = go.Figure()
    for (key, name), color, dash in zip(
        names.items(), colors.series, ("solid", "dash", "dot"), strict=False
    ):
        figure.add_trace(
            go.Scatter(
                x=labels,
                y=visible_sums[key],
                name=name,
                mode="lines+markers",
                line={"color": color, "width": 2, "dash": dash},
                hovertemplate=f"{name}<br>query <b>%{{x}}</b>: visible cells sum to "
                "<b>%{y:.6f}</b><extra></extra>",
            )
        )
    figure.update_layout(
        template=template(colors),
        title="Weight left for the tokens a query may read",
        height=360,
        margin={"t": 84},
    )
    figure.update_xaxes(title="query", type="category", tickangle=-50, showgrid=False)
    figure.update_yaxes(title="sum over visible cells", range=[0, 1.06])
    return figure


def _token_map(
    values: np.ndarray, mask: np.ndarray, tokens: Sequence[str], colors: Palette, *, title: str
) -> go.Figure:
    labels = axis_labels(tokens)
    return heat_map(
        values,
        Axis("query", labels),
        Axis("key", labels),
        weights(),
        colors,
        title=title,
        hidden=~mask,
    )
