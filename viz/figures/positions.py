"""Positional encodings as pictures: the wave, single dimensions, similarity, and the sum."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.figures.heatmap import Scale, color_bar, signed
from viz.figures.labels import axis_labels
from viz.figures.lines import mark_line
from viz.figures.margins import make_room
from viz.theme import Palette, color_scale, template

CURVES_HEIGHT = 340
MAP_HEIGHT = 560
FIRST_VIEW = 80  # positions on screen before a person zooms out


def wave_map(
    table: np.ndarray,
    colors: Palette,
    *,
    n_used: int,
    title: str = "One row a position, one column a dimension",
) -> go.Figure:
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
    place = "top right" if n_used > len(table) / 8 else "bottom right"
    mark_line(figure, "y", n_used - 0.5, "the sentence ends here", colors, place=place)
    figure.update_layout(
        template=template(colors),
        title=title,
        height=MAP_HEIGHT,
    )
    figure.update_xaxes(title="dimension", showgrid=False)
    figure.update_yaxes(title="position", autorange="reversed", showgrid=False)
    make_room(figure)
    return figure


def wave_surface(table: np.ndarray, colors: Palette) -> go.Figure:
    """The sine of each pair, every other column of (T, D), as a surface to be turned."""
    figure = go.Figure(
        go.Surface(
            z=table[:, 0::2].astype(np.float32),
            cmin=-1,
            cmax=1,
            colorscale=color_scale(colors.diverging),
            showscale=False,
            lighting={"ambient": 0.85, "diffuse": 0.35, "specular": 0.02},
            hovertemplate=(
                "position <b>%{y}</b><br>pair <b>%{x}</b><br>sine <b>%{z:.5f}</b><extra></extra>"
            ),
        )
    )
    axis = {"color": colors.muted, "gridcolor": colors.line, "showbackground": False}
    figure.update_layout(
        template=template(colors),
        title="The sines over position and pair of dimensions (drag to turn)",
        height=MAP_HEIGHT,
        scene={
            "xaxis": axis | {"title": "pair i"},
            "yaxis": axis | {"title": "position"},
            "zaxis": axis | {"title": "", "range": [-3, 3], "tickvals": [-1, 0, 1]},
            "aspectratio": {"x": 1.3, "y": 1.6, "z": 0.5},
            "camera": {"eye": {"x": 1.5, "y": -1.9, "z": 1.2}, "center": {"z": -0.15}},
        },
    )
    return figure


def wavelength_curve(
    frequencies: np.ndarray, colors: Palette, *, context: int, pair_name: str
) -> go.Figure:
    """After how many positions each pair of dimensions has turned once, on a growing scale.

    frequencies: (D/2,), radians a position. A line marks the model's context.
    """
    pairs, wavelengths = np.arange(len(frequencies)), 2 * np.pi / frequencies
    figure = go.Figure(
        go.Scatter(
            x=pairs,
            y=wavelengths,
            mode="lines+markers",
            line={"color": colors.series[0], "width": 2},
            marker={"size": 5},
            hovertemplate="pair %{x}: one turn in <b>%{y:,.2f}</b> positions<extra></extra>",
        )
    )
    words = f"context: {context} positions"
    mark_line(figure, "y", context, words, colors, place="top left", is_log=True)
    figure.update_layout(
        template=template(colors),
        title="Wavelength of each pair",
        height=CURVES_HEIGHT,
        showlegend=False,
    )
    figure.update_xaxes(title=pair_name, showgrid=False)
    figure.update_yaxes(title="positions for one turn", type="log", dtick=1)
    make_room(figure)
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
        margin={"t": 84},
    )
    last = min(max(FIRST_VIEW, n_used), len(table)) - 1
    figure.update_xaxes(title="position", showgrid=False, range=[-0.5, last + 0.5])
    figure.update_yaxes(title="value", fixedrange=True)
    make_room(figure)
    return figure


def similarity_map(
    similarity: np.ndarray, colors: Palette, title: str = "Similarity between positions"
) -> go.Figure:
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
    figure.update_layout(template=template(colors), title=title, height=MAP_HEIGHT)
    figure.update_xaxes(title="position", constrain="domain", constraintoward="left")
    figure.update_yaxes(
        title="position",
        autorange="reversed",
        scaleanchor="x",
        constrain="domain",
        constraintoward="top",
    )
    make_room(figure)
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
    make_room(figure, rows=labels)
    return figure


def _colors(scale: Scale, colors: Palette) -> dict[str, object]:
    return {
        "zmin": scale.low,
        "zmax": scale.high,
        "colorscale": color_scale(colors.diverging),
        "colorbar": color_bar(scale, colors),
    }
