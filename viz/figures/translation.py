"""What translations show beside their instrument: losses, an alignment, the parts of a cache."""

from collections.abc import Collection, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER, digits
from viz.figures.build import Extras, Sheet, TickLabels, build
from viz.figures.cache import bytes_text
from viz.figures.heatmap import Axis, Look, Scale, heat_map, weights
from viz.figures.lines import frame
from viz.labels import axis_labels, clipped, escape, unique
from viz.theme import Palette

LOSSES_HEIGHT, CACHE_HEIGHT = 320, 330
OWN_CHARACTERS = 10
INSET = 0.06  # by which frames around links keep off each other, in cells


def loss_bars(
    tokens: Sequence[str],
    losses: np.ndarray,
    own: Sequence[str | None],
    colors: Palette,
    title: str,
) -> go.Figure:
    """−ln p of each token that was fed in, (T,); where the model would have written another, that.

    own: labels of those others, None where the model agrees.
    """
    labels = axis_labels(tokens)
    bars = go.Bar(
        x=labels,
        y=losses,
        marker={"color": [colors.muted if word is None else colors.accent for word in own]},
        text=["" if word is None else escape(clipped(word, OWN_CHARACTERS)) for word in own],
        textposition="outside",
        textfont={"color": colors.accent},
        hovertext=[
            "the most likely token" if word is None else f"most likely: <b>{escape(word)}</b>"
            for word in own
        ],
        hovertemplate=f"<b>%{{x}}</b><br>−ln p <b>%{{y:{HOVER}}}</b> nats<br>%{{hovertext}}"
        "<extra></extra>",
        cliponaxis=False,
    )
    return build(
        [bars],
        colors,
        Sheet(LOSSES_HEIGHT, title, top=64),
        x={
            "type": "category",
            "title": "German token fed in",
            "tickangle": -50,
            "showgrid": False,
        },
        y={"title": "−ln p (nats)", "rangemode": "tozero"},
        labels=TickLabels(columns=labels),
    )


def damage_map(
    words: Sequence[str], losses: dict[str, np.ndarray], colors: Palette, title: str
) -> go.Figure:
    """Loss of each word, (words,), under each damage by its name, with the sum beside the name."""
    names = [f"{name}: {digits(float(values.sum()), 1)}" for name, values in losses.items()]
    values = np.stack(list(losses.values()))
    return heat_map(
        values,
        (Axis("source", names), Axis("German word", unique(words))),
        Scale("nats", 0.0, float(values.max()) or 1.0),
        colors,
        title=title,
        look=Look(square=False, height=190 + 34 * len(names)),
    )


def alignment_map(
    pattern: np.ndarray,
    words: tuple[Sequence[str], Sequence[str]],
    sure: Collection[tuple[int, int]],
    colors: Palette,
    title: str,
) -> go.Figure:
    """Weights between words, (target, source), with the links made by hand framed.

    words: of the source and of the target. A dot is where a row's largest weight is.
    """
    source, target = (unique(side) for side in words)
    best = pattern.argmax(axis=1)
    dots = go.Scatter(
        x=[source[i] for i in best],
        y=target,
        mode="markers",
        marker={"size": 9, "color": colors.frame, "line": {"color": colors.background, "width": 1}},
        hoverinfo="skip",
        showlegend=False,
    )
    line = {"color": colors.frame, "width": 2}
    frames = [frame((j + INSET, j - INSET), (i + INSET, i - INSET), line) for i, j in sorted(sure)]
    return heat_map(
        pattern,
        (Axis("German word", target), Axis("English word", source)),
        weights(),
        colors,
        title=title,
        look=Look(square=False, above=[dots], height=170 + 28 * len(target), shapes=frames),
    )


def error_rate_map(rates: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """Alignment error rate of each head of each layer, and of the mean of a layer. (L, H + 1)."""
    n_layers, n_heads = rates.shape[0], rates.shape[1] - 1
    return heat_map(
        rates,
        (
            Axis("layer", [f"L{layer}" for layer in range(n_layers)]),
            Axis("head", [*(f"H{head}" for head in range(n_heads)), "mean"]),
        ),
        Scale("error rate", 0.0, 1.0),
        colors,
        title=title,
        look=Look(square=False, turned=0, height=150 + 40 * n_layers),
    )


def cache_growth(
    own: Sequence[int], of_source: Sequence[int], colors: Palette, title: str
) -> go.Figure:
    """Bytes of both parts of a cache by how many tokens of the target it holds, stacked."""
    parts = (
        ("cross-attention: of the English", of_source, colors.series[0]),
        ("self-attention: of the German", own, colors.series[1]),
    )
    bars = [
        go.Bar(
            x=list(range(len(values))),
            y=np.array(values, dtype=float),
            name=name,
            marker={"color": color},
            hovertext=[bytes_text(value) for value in values],
            hovertemplate=f"{name}<br>%{{x}} German tokens: <b>%{{hovertext}}</b><extra></extra>",
        )
        for name, values, color in parts
    ]
    return build(
        bars,
        colors,
        Sheet(CACHE_HEIGHT, title, top=84),
        x={"title": "German tokens in the cache", "showgrid": False},
        y={"title": "bytes", "rangemode": "tozero", "tickformat": "~s"},
        extras=Extras(layout={"barmode": "stack"}),
    )
