"""The next token's distribution as bars: before, after, and what was removed."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.labels import axis_labels
from viz.theme import Palette, template


def distribution_bars(
    before: np.ndarray,
    after: np.ndarray,
    kept: np.ndarray,
    vocabulary: Sequence[str],
    colors: Palette,
    *,
    n_bars: int,
) -> go.Figure:
    """The likeliest tokens, and one bar for the sum of all others.

    before, after, kept: (V,). `before` is the wide pale bar, `after` the narrow bright one;
    a removed token has the pale bar alone.
    """
    top, rest = leading_tokens(before, n_bars)
    labels = [*axis_labels_of(vocabulary, top), f"all {len(rest):,} others"]
    figure = go.Figure()
    bars = (
        ("the model says", before, {"color": colors.line, "line": {"width": 0}}, 0.86),
        ("sampled from", after, {"color": colors.accent}, 0.42),
    )
    for name, probs, style, width in bars:
        values = [*probs[top], probs[rest].sum(dtype=np.float64)]
        fates = ["kept" if kept[i] else "removed" for i in top]
        fates.append(f"{int(kept[rest].sum()):,} of {len(rest):,} kept")
        figure.add_trace(
            go.Bar(
                y=labels,
                x=values,
                orientation="h",
                name=name,
                width=width,
                marker=style,
                customdata=fates,
                hovertemplate=f"<b>%{{y}}</b><br>{name} <b>%{{x:.5f}}</b><br>%{{customdata}}"
                "<extra></extra>",
            )
        )
    figure.update_layout(
        template=template(colors),
        title="Next token",
        height=int(120 + 24 * len(labels)),
        barmode="overlay",
    )
    figure.update_xaxes(title="probability", rangemode="tozero", side="bottom")
    figure.update_yaxes(
        autorange="reversed", type="category", showgrid=False, ticks="outside", ticklen=4
    )
    return figure


def leading_tokens(probs: np.ndarray, n_bars: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids of the `n_bars` likeliest tokens in order, and ids of all others."""
    order = np.argsort(-probs, kind="stable")
    return order[:n_bars], order[n_bars:]


def axis_labels_of(vocabulary: Sequence[str], ids: np.ndarray) -> list[str]:
    """Labels of vocabulary entries, each on its own: none continues the one before."""
    return [axis_labels([vocabulary[i]])[0] + "\u200b" * rank for rank, i in enumerate(ids)]
