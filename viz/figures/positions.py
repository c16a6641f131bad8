"""Positional encodings as pictures: the table, single dimensions, similarity, and the sum."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import Extras, Sheet, build
from viz.figures.heatmap import Scale, colored, signed
from viz.figures.lines import mark_line
from viz.figures.sides import Part, Row, maps_side_by_side
from viz.theme import Palette, color_scale, template

CURVES_HEIGHT = 340
MAP_HEIGHT = 560
FIRST_VIEW = 80  # positions on screen before a person zooms out


def wave_map(
    table: np.ndarray,
    colors: Palette,
    *,
    n_used: int,
    title: str = "Rows: positions, columns: dimensions",
) -> go.Figure:
    """The vectors added at each position, (T, D): positions down, dimensions across.

    A line marks the `n_used` positions the sentence takes.
    """
    cells = go.Heatmap(
        z=table.astype(np.float32),
        **colored(signed("value", table), colors),
        hovertemplate=(
            "position <b>%{y}</b><br>dimension <b>%{x}</b><br>value "
            f"<b>%{{z:{HOVER}}}</b><extra></extra>"
        ),
    )
    place = ("right", "top" if n_used > len(table) / 8 else "bottom")
    return build(
        [cells],
        colors,
        Sheet(MAP_HEIGHT, title, top=72),
        x={"title": "dimension", "showgrid": False},
        y={"title": "position", "autorange": "reversed", "showgrid": False},
        extras=Extras(
            marks=[mark_line("y", n_used - 0.5, "the sentence ends here", colors, place=place)]
        ),
    )


def wave_surface(table: np.ndarray, colors: Palette) -> go.Figure:
    """The sine of each pair, every other column of (T, D), as a surface to be rotated."""
    surface = go.Surface(
        z=table[:, 0::2].astype(np.float32),
        cmin=-1,
        cmax=1,
        colorscale=color_scale(colors.diverging),
        showscale=False,
        lighting={"ambient": 0.85, "diffuse": 0.35, "specular": 0.02},
        hovertemplate=(
            "position <b>%{y}</b><br>pair <b>%{x}</b><br>sine "
            f"<b>%{{z:{HOVER}}}</b><extra></extra>"
        ),
    )
    axis = {"color": colors.muted, "gridcolor": colors.line, "showbackground": False}
    return go.Figure(
        data=[surface],
        layout={
            "template": template(colors),
            "title": {"text": "The sines over position and pair of dimensions (drag to rotate)"},
            "height": MAP_HEIGHT,
            "scene": {
                "xaxis": axis | {"title": "pair i"},
                "yaxis": axis | {"title": "position"},
                "zaxis": axis | {"title": "sine", "range": [-3, 3], "tickvals": [-1, 0, 1]},
                "aspectratio": {"x": 1.3, "y": 1.6, "z": 0.5},
                "camera": {"eye": {"x": 1.5, "y": -1.9, "z": 1.2}, "center": {"z": -0.15}},
            },
        },
    )


def wavelength_curve(
    frequencies: np.ndarray, colors: Palette, *, context: int, pair_name: str
) -> go.Figure:
    """After how many positions each pair of dimensions has rotated once, on a logarithmic scale.

    frequencies: (D/2,), radians per position. A line marks the model's context.
    """
    curve = go.Scatter(
        x=np.arange(len(frequencies)),
        y=2 * np.pi / frequencies,
        mode="lines+markers",
        line={"color": colors.series[0], "width": 2},
        marker={"size": 5},
        hovertemplate="pair %{x}: one turn in <b>%{y:,.7~r}</b> positions<extra></extra>",
    )
    words = f"context: {context} positions"
    return build(
        [curve],
        colors,
        Sheet(CURVES_HEIGHT, "Wavelength of each pair"),
        x={"title": pair_name, "showgrid": False},
        y={"title": "positions for one turn", "type": "log", "dtick": 1},
        extras=Extras(
            marks=[mark_line("y", context, words, colors, place=("left", "top"), is_log=True)],
            layout={"showlegend": False},
        ),
    )


def dimension_curves(
    table: np.ndarray, dimensions: Sequence[int], colors: Palette, *, n_used: int
) -> go.Figure:
    """Chosen dimensions over position; points mark the positions of the sentence."""
    positions, curves = np.arange(len(table)), []
    for number, dimension in enumerate(dimensions):
        color = colors.series[number % len(colors.series)]
        values = table[:, dimension].astype(np.float32)
        curves += [
            go.Scatter(
                x=positions,
                y=values,
                mode="lines",
                name=f"dimension {dimension}",
                line={"color": color, "width": 2},
                hovertemplate=f"dimension {dimension}, position %{{x}}: <b>%{{y:{HOVER}}}</b>"
                "<extra></extra>",
            ),
            go.Scatter(
                x=positions[:n_used],
                y=values[:n_used],
                mode="markers",
                marker={"color": color, "size": 5},
                hoverinfo="skip",
                showlegend=False,
            ),
        ]
    last = min(max(FIRST_VIEW, n_used), len(table)) - 1
    return build(
        curves,
        colors,
        Sheet(CURVES_HEIGHT, "Single dimensions (double-click for all positions)", top=84),
        x={"title": "position", "showgrid": False, "range": [-0.5, last + 0.5]},
        y={"title": "value", "fixedrange": True},
    )


def similarity_map(
    similarity: np.ndarray, colors: Palette, title: str = "Similarity between positions"
) -> go.Figure:
    """How similar the vectors of every two positions are, (T, T), cosine from −1 to 1."""
    cells = go.Heatmap(
        z=similarity.astype(np.float32),
        **colored(Scale("cosine", -1.0, 1.0, signed=True), colors),
        hovertemplate="position <b>%{y}</b> and <b>%{x}</b><br>cosine "
        f"<b>%{{z:{HOVER}}}</b><extra></extra>",
    )
    return build(
        [cells],
        colors,
        Sheet(MAP_HEIGHT, title, top=72),
        x={"title": "position", "constrain": "domain", "constraintoward": "left"},
        y={
            "title": "position",
            "autorange": "reversed",
            "scaleanchor": "x",
            "constrain": "domain",
            "constraintoward": "top",
        },
    )


def sum_maps(
    embed: np.ndarray,
    positions: np.ndarray,
    total: np.ndarray,
    tokens: Sequence[str],
    colors: Palette,
) -> go.Figure:
    """Embedding + position = input, each (T, D), in one colour scale."""
    named = (("embedding", embed), ("+ position", positions), ("= input", total))
    reach = np.concatenate([values for _, values in named])
    height = int(np.clip(170 + 22 * len(tokens), 280, 640))
    return maps_side_by_side(
        [Part(name, tokens, values) for name, values in named],
        signed("value", reach),
        colors,
        Row(height, x={"title": "dimension"}, is_labelled_once=True),
    )
