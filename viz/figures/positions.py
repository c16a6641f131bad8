"""Positional encodings as pictures: the wave, single dimensions, similarity, and the sum."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.figures.heatmap import Scale, color_bar, signed
from viz.figures.labels import axis_labels
from viz.theme import Palette, color_scale, template

CURVES_HEIGHT = 340
MAP_HEIGHT = 560
FIRST_VIEW = 80  # positions on screen before a person zooms out


def wave_map(table: np.ndarray, colors: Palette, *, n_used: int) -> go.Figure:
    """The vectors added at each position, (T, D): positions down, dimensions across.

    A line marks the `n_used` positions the sentence takes.
    """
    figure = go.Figure(
        go.Heatmap(
            z=table.astype(np.float32),
            **_colors(signed("value", table), colors),
            hovertemplate=(
                "position <b>%{y}</b><br>dimension <b>%{x}</b><br>value <b>%{z:.5f}</b>"
                "<extra></extra>"
            ),
        )
    )
    figure.add_hline(
        y=n_used - 0.5,
        line={"color": colors.frame, "width": 2, "dash": "dot"},
        annotation={
            "text": "the sentence ends here",
            "font": {"color": colors.frame},
            "bgcolor": colors.background,
        },
        annotation_position="top right" if n_used > len(table) / 8 else "bottom right",
    )
    figure.update_layout(
        template=template(colors),
        title="One row a position, one column a dimension",
        height=MAP_HEIGHT,
    )
    figure.update_xaxes(title="dimension", showgrid=False)
    figure.update_yaxes(title="position", autorange="reversed", showgrid=False)
    return figure


def dimension_curves(
    table: np.ndarray, dimensions: Sequence[int], colors: Palette, *, n_used: int
) -> go.Figure:
    """Chosen dimensions over position; points mark the positions of the sentence."""
    figure = go.Figure()
    positions = np.arange(len(table))
    for number, dimension in enumerate(dimensions):
        color = colors.series[number % len(colors.series)]
        figure.add_trace(
            go.Scatter(
                x=positions,
                y=table[:, dimension].astype(np.float32),
                mode="lines",
                name=f"dimension {dimension}",
                line={"color": color, "width": 2},
                hovertemplate=f"dimension {dimension}, position %{{x}}: <b>%{{y:.5f}}</b>"
                "<extra></extra>",
            )
        )
        figure.add_trace(
            go.Scatter(
                x=positions[:n_used],
                y=table[:n_used, dimension].astype(np.float32),
                mode="markers",
                marker={"color": color, "size": 5},
                hoverinfo="skip",
                showlegend=False,
            )
        )
    figure.update_layout(
        template=template(colors),
        title="Single dimensions (double-click for all positions)",
        height=CURVES_HEIGHT,
    )
    last = min(max(FIRST_VIEW, n_used), len(table)) - 1
    figure.update_xaxes(title="position", showgrid=False, range=[-0.5, last + 0.5])
    figure.update_yaxes(title="value", fixedrange=True)
    return figure


def similarity_map(similarity: np.ndarray, colors: Palette) -> go.Figure:
    """How alike the vectors of every two positions are, (T, T), cosine from −1 to 1."""
    scale = Scale("cosine", -1.0, 1.0, signed=True)
    figure = go.Figure(
        go.Heatmap(
            z=similarity.astype(np.float32),
            **_colors(scale, colors),
            hovertemplate="position <b>%{y}</b> and <b>%{x}</b><br>cosine <b>%{z:.5f}</b>"
            "<extra></extra>",
        )
    )
    figure.update_layout(
        template=template(colors), title="Similarity between positions", height=MAP_HEIGHT
    )
    figure.update_xaxes(title="position", constrain="domain", constraintoward="left")
    figure.update_yaxes(
        title="position",
        autorange="reversed",
        scaleanchor="x",
        constrain="domain",
        constraintoward="top",
    )
    return figure


def sum_maps(
    embed: np.ndarray,
    positions: np.ndarray,
    total: np.ndarray,
    tokens: Sequence[str],
    colors: Palette,
) -> go.Figure:
    """Embedding + position = input, each (T, D), in one colour scale."""
    parts = (("embedding", embed), ("+ position", positions), ("= input", total))
    labels = axis_labels(tokens)
    figure = make_subplots(
        cols=3,
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[name for name, _ in parts],
    )
    reach = np.concatenate([values for _, values in parts])
    for column, (name, values) in enumerate(parts, start=1):
        figure.add_trace(
            go.Heatmap(
                z=values.astype(np.float32),
                y=labels,
                coloraxis="coloraxis",
                hovertemplate=f"<b>%{{y}}</b><br>dimension %{{x}}<br>{name} <b>%{{z:.5f}}</b>"
                "<extra></extra>",
            ),
            row=1,
            col=column,
        )
    scale = signed("value", reach)
    figure.update_layout(
        template=template(colors),
        height=int(np.clip(150 + 22 * len(tokens), 260, 620)),
        coloraxis={
            "colorscale": color_scale(colors.diverging),
            "cmin": scale.low,
            "cmax": scale.high,
            "colorbar": color_bar(scale, colors, y=1.1),
        },
        margin={"t": 84},
    )
    figure.update_xaxes(title="dimension", showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return figure


def _colors(scale: Scale, colors: Palette) -> dict[str, object]:
    return {
        "zmin": scale.low,
        "zmax": scale.high,
        "colorscale": color_scale(colors.diverging),
        "colorbar": color_bar(scale, colors),
    }
