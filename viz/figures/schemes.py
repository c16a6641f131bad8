"""Position schemes as pictures: angles, slopes, other orders, and five models side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.figures.heatmap import Axis, Scale, color_bar, heat_map, signed, weights
from viz.figures.labels import axis_labels
from viz.figures.lines import mark_line
from viz.figures.margins import make_room
from viz.theme import Palette, color_scale, template

CURVES_HEIGHT = 380
MAP_HEIGHT = 420
TURN = 2 * np.pi


def angle_map(frequencies: np.ndarray, n_positions: int, colors: Palette) -> go.Figure:
    """How far each pair has turned at each position, in turns from 0 to 1, where 1 is 0 again.

    frequencies: (Dh/2,), radians a position.
    """
    turns = np.outer(np.arange(n_positions), frequencies) / TURN % 1
    figure = go.Figure(
        go.Heatmap(
            z=turns.astype(np.float32),
            zmin=0,
            zmax=1,
            colorscale=color_scale(colors.cyclic),
            colorbar=color_bar(Scale("turn", 0, 1), colors),
            hovertemplate="position <b>%{y}</b><br>pair <b>%{x}</b><br>angle <b>%{z:.4f}</b> of a "
            "turn<extra></extra>",
        )
    )
    figure.update_layout(
        template=template(colors), title="Angle by position and pair", height=MAP_HEIGHT
    )
    figure.update_xaxes(title="pair", showgrid=False)
    figure.update_yaxes(title="position", autorange="reversed", showgrid=False)
    make_room(figure)
    return figure


def bias_map(
    bias: np.ndarray, mask: np.ndarray, tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """What is added to one head's scores, (T, T); masked cells hatched."""
    return _signed_map("bias", bias, mask, tokens, colors, title)


def difference_map(
    difference: np.ndarray, mask: np.ndarray, tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """One pattern less another, (T, T); masked cells hatched."""
    return _signed_map("difference", difference, mask, tokens, colors, title)


def _signed_map(
    name: str,
    values: np.ndarray,
    mask: np.ndarray,
    tokens: Sequence[str],
    colors: Palette,
    title: str,
) -> go.Figure:
    labels = axis_labels(tokens)
    return heat_map(
        values,
        Axis("query", labels),
        Axis("key", labels),
        signed(name, values[mask]),
        colors,
        title=title,
        hidden=~mask,
    )


def slope_bars(slopes: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """The slope of each head, (H,), on a scale where equal ratios are equal steps."""
    heads = [f"H{head}" for head in range(len(slopes))]
    figure = go.Figure(
        go.Bar(
            x=heads,
            y=slopes,
            text=[f"{slope:.4g}" for slope in slopes] if len(slopes) <= 16 else None,
            textposition="outside",
            marker={"color": colors.series[0]},
            hovertemplate="%{x}: <b>%{y:.6g}</b><extra></extra>",
        )
    )
    figure.update_layout(template=template(colors), title=title, height=CURVES_HEIGHT)
    figure.update_xaxes(title="head", type="category", showgrid=False)
    low, high = np.log10(slopes.min() / 2), np.log10(slopes.max() * 2)
    figure.update_yaxes(title="slope", type="log", range=[low, high], dtick=1)
    make_room(figure)
    return figure


@dataclass(frozen=True, eq=False)
class Part:
    """One of several matrices side by side: its title, rows and values (rows, columns)."""

    title: str
    tokens: Sequence[str]
    values: np.ndarray


def output_maps(parts: Sequence[Part], colors: Palette) -> go.Figure:
    """Outputs of two orders and their difference, each (T, D), all in one colour scale."""
    scale = signed("value", np.concatenate([part.values for part in parts[:2]]))
    figure = _side_by_side([part.title for part in parts], spacing=0.1)
    for column, part in enumerate(parts, start=1):
        trace = go.Heatmap(
            z=part.values.astype(np.float32),
            y=axis_labels(part.tokens),
            coloraxis="coloraxis",
            hovertemplate="<b>%{y}</b><br>dimension %{x}<br>value <b>%{z:.6f}</b><extra></extra>",
        )
        figure.add_trace(trace, row=1, col=column)
    _lay_out_side_by_side(figure, scale, colors, colors.diverging)
    figure.update_layout(height=int(np.clip(170 + 22 * len(parts[0].tokens), 260, 620)))
    figure.update_xaxes(title="dimension")
    make_room(figure, rows=axis_labels(parts[0].tokens))
    return figure


def pattern_row(parts: Sequence[Part], masks: Sequence[np.ndarray], colors: Palette) -> go.Figure:
    """The same head of several models on one sentence, patterns (T, T) in one colour scale."""
    figure = _side_by_side([part.title for part in parts], spacing=0.015, shared_yaxes=True)
    for column, (part, mask) in enumerate(zip(parts, masks, strict=True), start=1):
        labels = axis_labels(part.tokens)
        hidden = go.Heatmap(
            z=np.where(mask, np.nan, 1.0).astype(np.float32),
            x=labels,
            y=labels,
            colorscale=[[0, colors.masked], [1, colors.masked]],
            showscale=False,
            hoverinfo="skip",
        )
        shown = go.Heatmap(
            z=np.where(mask, part.values, np.nan).astype(np.float32),
            x=labels,
            y=labels,
            coloraxis="coloraxis",
            hoverongaps=False,
            hovertemplate="query <b>%{y}</b><br>key <b>%{x}</b><br>weight <b>%{z:.5f}</b>"
            "<extra></extra>",
        )
        figure.add_trace(shown, row=1, col=column)
        figure.add_trace(hidden, row=1, col=column)
    _lay_out_side_by_side(figure, weights(), colors, colors.sequential)
    longest = max((part.tokens for part in parts), key=len)
    ends = [-0.5, len(longest) - 0.5]  # a shorter one keeps its scale, and ends where it ends
    figure.update_layout(height=MAP_HEIGHT)
    figure.update_xaxes(tickangle=-90, range=ends, **_ticks(longest, 13))
    figure.update_yaxes(autorange=False, range=ends[::-1], **_ticks(longest, 20))
    labels = axis_labels(longest)
    make_room(figure, rows=labels, columns=labels, turned=math.pi / 2)
    return figure


@dataclass(frozen=True, eq=False)
class LossCurve:
    """Mean losses (N,) of one model, each over `bin_size` positions."""

    name: str
    losses: np.ndarray
    bin_size: int


def loss_curves(curves: Sequence[LossCurve], colors: Palette, *, n_trained: int) -> go.Figure:
    """Loss by position for several models; a line marks where training ended."""
    figure = go.Figure()
    for curve, color in zip(curves, colors.series, strict=False):
        starts = np.arange(len(curve.losses)) * curve.bin_size
        figure.add_trace(
            go.Scatter(
                x=starts + curve.bin_size / 2,
                y=curve.losses,
                name=curve.name,
                mode="lines+markers",
                line={"color": color, "width": 2},
                marker={"size": 4},
                customdata=np.stack([starts, starts + curve.bin_size - 1], axis=1),
                hovertemplate=f"{curve.name}, positions %{{customdata[0]}} to %{{customdata[1]}}: "
                "<b>%{y:.3f}</b> nats<extra></extra>",
            )
        )
    mark_line(figure, "x", n_trained, "training ended here", colors)
    figure.update_layout(
        template=template(colors),
        title="Loss by position on held-out text",
        height=CURVES_HEIGHT,
        margin={"t": 84},
    )
    figure.update_xaxes(title="position in the window", showgrid=False)
    figure.update_yaxes(title="loss, nats per token")
    make_room(figure)
    return figure


def _side_by_side(titles: Sequence[str], spacing: float, shared_yaxes: bool = False) -> go.Figure:
    return make_subplots(
        cols=len(titles),
        subplot_titles=list(titles),
        horizontal_spacing=spacing,
        shared_yaxes=shared_yaxes,
    )


def _lay_out_side_by_side(
    figure: go.Figure, scale: Scale, colors: Palette, ramp: Sequence[str]
) -> None:
    figure.update_layout(
        template=template(colors),
        coloraxis={
            "colorscale": color_scale(ramp),
            "cmin": scale.low,
            "cmax": scale.high,
            "colorbar": color_bar(scale, colors, y=1.12),
        },
        margin={"t": 96},
    )
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")


def _ticks(tokens: Sequence[str], most: int) -> dict[str, object]:
    """At most so many of the tokens as labels of an axis."""
    shown = axis_labels(tokens)[:: -(-len(tokens) // most)]
    return {"type": "category", "tickmode": "array", "tickvals": shown, "ticktext": shown}
