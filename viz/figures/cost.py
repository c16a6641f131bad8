"""Where the weights and the operations of a model are."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from viz.figures.build import Extras, Sheet, TickLabels, build
from viz.theme import Palette

ROW, FRAME = 30, 120  # pixels of a model's bar, and of the rest
LINES_HEIGHT = 380


def share_bars(
    parts: Mapping[str, Sequence[int]], models: Sequence[str], colors: Palette
) -> go.Figure:
    """The share of each part in the weights of each model; a row of bars a model.

    parts: weights of each model by part, in the order of `models`.
    """
    totals = [sum(counts) for counts in zip(*parts.values(), strict=True)]
    bars = [
        go.Bar(
            x=[count / total for count, total in zip(counts, totals, strict=True)],
            y=list(models),
            orientation="h",
            name=part,
            marker={"color": color},
            customdata=list(counts),
            hovertemplate=f"<b>%{{y}}</b>, {part}: %{{customdata:,}} weights, <b>%{{x:.1%}}</b>"
            "<extra></extra>",
        )
        for (part, counts), color in zip(
            parts.items(), (*colors.series, colors.muted), strict=False
        )
    ]
    return build(
        bars,
        colors,
        Sheet(FRAME + ROW * len(models), "Share of each part in the weights", top=84),
        x={"title": "share of all weights", "range": [0, 1], "tickformat": ".0%"},
        y={"type": "category", "autorange": "reversed", "showgrid": False},
        labels=TickLabels(rows=models),
        extras=Extras(
            layout={"barmode": "stack", "bargap": 0.25, "legend": {"traceorder": "normal"}}
        ),
    )


def operation_lines(
    lengths: Sequence[int], parts: Mapping[str, Sequence[int]], colors: Palette
) -> go.Figure:
    """Operations of one token by the number of tokens it attends to, a line for each part."""
    lines = [
        go.Scatter(
            x=list(lengths),
            y=list(counts),
            name=part,
            mode="lines+markers",
            line={"color": color, "width": 2},
            marker={"size": 6},
            hovertemplate=f"{part}, %{{x:,}} tokens: <b>%{{y:.4s}}</b> operations<extra></extra>",
        )
        for (part, counts), color in zip(parts.items(), colors.series, strict=False)
    ]
    return build(
        lines,
        colors,
        Sheet(LINES_HEIGHT, "Operations for one token, by the length of its context", top=84),
        x={"title": "tokens attended to", "type": "log", "dtick": 1, "showgrid": False},
        y={"title": "operations", "type": "log", "dtick": 1, "exponentformat": "SI"},
    )
