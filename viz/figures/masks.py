"""Masks as pictures: matrix, scores, patterns, receptive field, cost, and what leaks without."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.charts.ink import ink
from viz.digits import HOVER, digits
from viz.figures.build import TILT, Extras, Sheet, TickLabels, build
from viz.figures.heatmap import (
    Axis,
    Hidden,
    Look,
    Scale,
    heat_map,
    signed,
    token_map,
    weights,
)
from viz.figures.lines import mark_line
from viz.labels import axis_labels, escape
from viz.theme import Palette, weight_shares

CURVES_HEIGHT = 360
LEGEND = 84  # pixels above a figure that has a title and a legend
EVERY_PAIR = "all pairs, n²"


def mask_map(
    mask: np.ndarray, tokens: Sequence[str], colors: Palette, title: str = "The mask"
) -> go.Figure:
    """The mask (T, T): which keys each query may attend to, and which are masked."""
    return token_map(
        mask.astype(np.float32),
        tokens,
        Scale("", 0.0, 2.5, note="<b>may attend</b>, M = 0"),
        colors,
        title=title,
        hidden=~mask,
    )


def score_map(
    scores: np.ndarray,
    mask: np.ndarray | None,
    tokens: Sequence[str],
    colors: Palette,
    title: str,
    *,
    scale_of: np.ndarray,
) -> go.Figure:
    """Scores (T, T), signed; with a mask, masked cells are hatched and stand for −∞.

    The colours reach as far as the numbers in `scale_of`, so that two maps can be compared.
    """
    return token_map(
        scores,
        tokens,
        signed("score", scale_of),
        colors,
        title=title,
        hidden=None if mask is None else ~mask,
    )


def pattern_map(
    pattern: np.ndarray, mask: np.ndarray, tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """Weights (T, T) with masked cells hatched."""
    return token_map(pattern, tokens, weights(), colors, title=title, hidden=~mask)


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
    styles = zip(colors.series, ("solid", "dash", "dot"), strict=False)
    curves = [
        go.Scatter(
            x=labels,
            y=visible_sums[key],
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 2, "dash": dash},
            hovertemplate=f"{name}<br>query <b>%{{x}}</b>: visible cells sum to "
            f"<b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for (key, name), (color, dash) in zip(names.items(), styles, strict=True)
    ]
    return build(
        curves,
        colors,
        Sheet(CURVES_HEIGHT, "Weight left for the tokens a query may attend to", top=LEGEND),
        x=_tokens("query"),
        y={"title": "sum over visible cells", "range": [0, 1.06]},
        labels=TickLabels(columns=labels),
    )


def receptive_field_map(
    layers: np.ndarray, tokens: Sequence[str], n_layers: int, colors: Palette
) -> go.Figure:
    """Layers until a token can be influenced by another, (T, T), −1 where never, which is hatched.

    The colours end at the number of layers the model has: beyond it nothing arrives either.
    """
    labels = axis_labels(tokens)
    most = max(n_layers, int(layers.max(initial=1)))
    return heat_map(
        layers,
        (Axis("token", labels), Axis("influenced by", labels)),
        Scale("layers", 0.0, float(most)),
        colors,
        title=f"Layers until the column's token can influence the row's (this model: {n_layers})",
        hidden=Hidden(layers < 0, "<b>never</b>: no path through the mask"),
    )


def receptive_field_curve(
    sizes: Sequence[int], n_layers: int, n_tokens: int, colors: Palette
) -> go.Figure:
    """How many tokens can influence the last one after 0, 1, 2, … layers."""
    curve = go.Scatter(
        x=list(range(len(sizes))),
        y=list(sizes),
        mode="lines+markers",
        line={"color": colors.series[0], "width": 2, "shape": "hv"},
        marker={"size": 7},
        hovertemplate="after %{x} layers: <b>%{y}</b> tokens<extra></extra>",
    )
    words = f"this model: {n_layers} layers"
    return build(
        [curve],
        colors,
        Sheet(CURVES_HEIGHT, "Receptive field of the last token"),
        x={"title": "layers", "showgrid": False, "dtick": max(1, len(sizes) // 12)},
        y={"title": "tokens", "range": [0, 1.08 * n_tokens]},
        extras=Extras(
            marks=[mark_line("x", n_layers, words, colors, place=("left", "bottom"))],
            layout={"showlegend": False},
        ),
    )


def cost_curves(
    lengths: Sequence[int], pairs: Mapping[str, Sequence[int]], chosen: str, colors: Palette
) -> go.Figure:
    """Attended pairs over the length of the text for each kind of mask; the chosen is strong."""
    curves = [
        go.Scatter(
            x=list(lengths),
            y=list(counts),
            name=name,
            mode="lines",
            opacity=1.0 if name == chosen else 0.55,
            line={
                "color": colors.series[number % len(colors.series)],
                "width": 4 if name == chosen else 1.5,
                "dash": "dot" if name == EVERY_PAIR else "solid",
            },
            hovertemplate=f"{name}, %{{x}} tokens: <b>%{{y:,}}</b> pairs<extra></extra>",
        )
        for number, (name, counts) in enumerate(pairs.items())
    ]
    return build(
        curves,
        colors,
        Sheet(CURVES_HEIGHT, "Cost: attended pairs by length", top=LEGEND + 16),
        x={"title": "tokens", "type": "log", "showgrid": False, "dtick": 1},
        y={"title": "pairs", "type": "log", "dtick": 1},
    )


def loss_bars(losses: dict[str, np.ndarray], tokens: Sequence[str], colors: Palette) -> go.Figure:
    """The loss of each token but the first, (T − 1,), under each mask, side by side."""
    return _token_bars(
        losses,
        axis_labels(tokens)[1:],
        colors,
        title="Loss of each token: −ln of its predicted probability",
        x="token predicted",
        y="nats",
        hover=f"predicting <b>%{{x}}</b>: <b>%{{y:{HOVER}}}</b> nats",
    )


def change_bars(
    changes: dict[str, np.ndarray], tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """The largest change of a next-token probability at each position, (T,), under each mask."""
    return _token_bars(
        changes,
        axis_labels(tokens),
        colors,
        title=title,
        x="after token",
        y="change of a probability",
        hover=f"after <b>%{{x}}</b>: up to <b>%{{y:{HOVER}}}</b>",
    )


def share_map(shares: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """A share between 0 and 1 for every layer and head, (L, H), each written in its cell."""
    layers = [f"L{layer}" for layer in range(len(shares))]
    heads = [f"H{head}" for head in range(shares.shape[1])]
    written = go.Scatter(
        x=heads * len(layers),
        y=np.repeat(layers, len(heads)),
        text=[escape(digits(share, 3)) for share in shares.ravel()],
        mode="text",
        textfont={
            "size": 12,
            "color": [ink(at, colors) for at in weight_shares(shares, colors).ravel()],
        },
        hoverinfo="skip",
        showlegend=False,
    )
    return heat_map(
        shares,
        (Axis("layer", layers), Axis("head", heads)),
        weights("share"),
        colors,
        title=title,
        look=Look(square=False, turned=0, height=CURVES_HEIGHT, above=[written]),
    )


def _token_bars(
    values: dict[str, np.ndarray],
    labels: Sequence[str],
    colors: Palette,
    *,
    title: str,
    x: str,
    y: str,
    hover: str,
) -> go.Figure:
    """A group of bars for each token, one bar for each name."""
    bars = [
        go.Bar(
            x=list(labels),
            y=heights,
            name=name,
            marker={"color": color},
            hovertemplate=f"{name}<br>{hover}<extra></extra>",
        )
        for (name, heights), color in zip(values.items(), colors.series, strict=False)
    ]
    return build(
        bars,
        colors,
        Sheet(CURVES_HEIGHT, title, top=LEGEND),
        x=_tokens(x),
        y={"title": y, "rangemode": "tozero"},
        labels=TickLabels(columns=labels),
        extras=Extras(layout={"bargap": 0.25}),
    )


def _tokens(title: str) -> dict[str, object]:
    """An axis of tokens below a figure."""
    return {"title": title, "type": "category", "tickangle": -TILT, "showgrid": False}
