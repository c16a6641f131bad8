"""Position schemes as pictures: angles, slopes, other orders, and models side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import Extras, Sheet, build
from viz.figures.heatmap import Scale, colored, signed, ticks, token_map, weights
from viz.figures.lines import mark_line
from viz.figures.sides import Part, Row, maps_side_by_side
from viz.labels import axis_labels
from viz.theme import Palette, color_scale

CURVES_HEIGHT = 380
MAP_HEIGHT = 420
TURN = 2 * np.pi


def angle_map(frequencies: np.ndarray, n_positions: int, colors: Palette) -> go.Figure:
    """How far each pair is rotated at each position, in turns from 0 to 1, where 1 is 0 again.

    frequencies: (Dh/2,), radians per position.
    """
    turns = np.outer(np.arange(n_positions), frequencies) / TURN % 1
    cells = go.Heatmap(
        z=turns.astype(np.float32),
        **colored(Scale("turn", 0, 1), colors) | {"colorscale": color_scale(colors.cyclic)},
        hovertemplate="position <b>%{y}</b><br>pair <b>%{x}</b><br>angle "
        f"<b>%{{z:{HOVER}}}</b> of a turn<extra></extra>",
    )
    return build(
        [cells],
        colors,
        Sheet(MAP_HEIGHT, "Angle by position and pair", top=72),
        x={"title": "pair", "showgrid": False},
        y={"title": "position", "autorange": "reversed", "showgrid": False},
    )


def bias_map(
    bias: np.ndarray, mask: np.ndarray, tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """What is added to one head's scores, (T, T); masked cells hatched."""
    return token_map(bias, tokens, signed("bias", bias[mask]), colors, title=title, hidden=~mask)


def difference_map(
    difference: np.ndarray, mask: np.ndarray, tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """One pattern less another, (T, T); masked cells hatched."""
    scale = signed("difference", difference[mask])
    return token_map(difference, tokens, scale, colors, title=title, hidden=~mask)


def slope_bars(slopes: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """The slope of each head, (H,), on a scale where equal ratios are equal steps."""
    bars = go.Bar(
        x=[f"H{head}" for head in range(len(slopes))],
        y=slopes,
        text=[f"{slope:.4g}" for slope in slopes] if len(slopes) <= 16 else None,
        textposition="outside",
        marker={"color": colors.series[0]},
        hovertemplate="%{x}: <b>%{y:.6g}</b><extra></extra>",
    )
    low, high = np.log10(slopes.min() / 2), np.log10(slopes.max() * 2)
    return build(
        [bars],
        colors,
        Sheet(CURVES_HEIGHT, title),
        x={"title": "head", "type": "category", "showgrid": False},
        y={"title": "slope", "type": "log", "range": [low, high], "dtick": 1},
    )


def output_maps(parts: Sequence[Part], colors: Palette, *, share: float = 1.0) -> go.Figure:
    """Outputs of two orders and their difference, each (T, D), all in one colour scale.

    It ends where this `share` of the outputs lies; what is larger has the colour of the end.
    """
    reach = np.concatenate([part.values for part in parts[:2]])
    if share < 1:
        reach = np.quantile(np.abs(reach), [share])
    height = int(np.clip(170 + 22 * len(parts[0].tokens), 280, 640))
    row = Row(height, x={"title": "dimension"}, gap=0.1)
    return maps_side_by_side(parts, signed("value", reach), colors, row)


def pattern_row(parts: Sequence[Part], colors: Palette) -> go.Figure:
    """The same head of several models on one sentence, patterns (T, T) in one colour scale."""
    longest = max((axis_labels(part.tokens) for part in parts), key=len)
    ends = [-0.5, len(longest) - 0.5]  # a shorter one keeps its scale, and ends where it ends
    row = Row(
        MAP_HEIGHT,
        x={"tickangle": -90, "range": ends, **ticks(longest, 13)},
        y={"autorange": False, "range": ends[::-1], **ticks(longest, 20)},
        column_name="attends to",
        columns=longest,
        is_labelled_once=True,
        gap=0.015,
    )
    return maps_side_by_side(parts, weights(), colors, row)


@dataclass(frozen=True, eq=False)
class LossCurve:
    """Mean losses (N,) of one model, each over `bin_size` positions."""

    name: str
    losses: np.ndarray
    bin_size: int


def loss_curves(
    curves: Sequence[LossCurve], colors: Palette, *, n_trained: int | None
) -> go.Figure:
    """Loss by position for several models; a line marks where training ended, the same for all."""
    drawn = []
    for curve, color in zip(curves, colors.series, strict=False):
        starts = np.arange(len(curve.losses)) * curve.bin_size
        drawn.append(
            go.Scatter(
                x=starts + curve.bin_size / 2,
                y=curve.losses,
                name=curve.name,
                mode="lines+markers",
                line={"color": color, "width": 2},
                marker={"size": 4},
                customdata=np.stack([starts, starts + curve.bin_size - 1], axis=1),
                hovertemplate=f"{curve.name}, positions %{{customdata[0]}} to %{{customdata[1]}}: "
                f"<b>%{{y:{HOVER}}}</b> nats<extra></extra>",
            )
        )
    return build(
        drawn,
        colors,
        Sheet(CURVES_HEIGHT, "Loss by position on held-out text", top=84),
        x={"title": "position in the window", "showgrid": False},
        y={"title": "loss, nats per token"},
        extras=Extras(
            marks=[mark_line("x", n, "training ended here", colors) for n in (n_trained,) if n]
        ),
    )
