"""Losses of the same tokens, predicted in two ways, side by side."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import Extras, Sheet, TickLabels, build
from viz.labels import axis_labels
from viz.theme import Palette

HEIGHT = 360
SLOT = 1.0  # of the axis, that a token takes


class Predicted(NamedTuple):
    """What the tokens from `first` on cost in nats, (n,), and what they were predicted by."""

    name: str
    losses: np.ndarray
    first: int = 0


def paired_bars(
    tokens: Sequence[str], pair: tuple[Predicted, Predicted], colors: Palette, title: str
) -> go.Figure:
    """−ln p of each token, two bars beside each other; one alone where the other predicts none."""
    labels = axis_labels(tokens)
    bars = [
        go.Bar(
            x=labels[one.first : one.first + len(one.losses)],
            y=one.losses,
            name=one.name,
            marker={"color": color},
            hovertemplate=f"<b>%{{x}}</b><br>{one.name}: −ln p <b>%{{y:{HOVER}}}</b> nats"
            "<extra></extra>",
        )
        for one, color in zip(pair, colors.series, strict=False)
    ]
    return build(
        bars,
        colors,
        Sheet(HEIGHT, title, top=84),
        x={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": labels,
            "tickangle": -50,
            "showgrid": False,
            "range": [-SLOT / 2, len(labels) - SLOT / 2],
        },
        y={"title": "−ln p (nats)", "rangemode": "tozero"},
        labels=TickLabels(columns=labels),
        extras=Extras(layout={"barmode": "group", "bargap": 0.25}),
    )
