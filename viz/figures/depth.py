"""Figures of the lesson on the residual: lengths of gradients by depth and by layer."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, build
from viz.theme import Palette

HEIGHT = 420  # pixels
WIDE = 100  # two decades


def gradient_lines(
    places: Sequence[int],
    lengths: Mapping[str, np.ndarray],
    colors: Palette,
    *,
    title: str,
    x: str,
) -> go.Figure:
    """Lengths of gradients of kinds of networks, (n,) each, where equal ratios are equal steps.

    So they are of one kind alone, too, once its lengths differ by more than `WIDE`.
    The second half of the kinds, those without the sum, is dashed.
    """
    n_with = -(-len(lengths) // 2)
    lines = [
        go.Scatter(
            x=list(places),
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": colors.series[number % n_with],
                  "dash": "solid" if number < n_with else "dot"},
            marker={"size": 7, "symbol": "circle" if number < n_with else "diamond-open"},
            hovertemplate=f"{name}, {x} %{{x}}: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, (name, values) in enumerate(lengths.items())
    ]  # fmt: skip
    is_alone = len(lengths) == 1
    is_log = not is_alone or any(x.max() > WIDE * x.min() for x in lengths.values())
    layout = {"showlegend": not is_alone, **({} if is_alone else LEGEND_BELOW)}
    scale = {"type": "log", "dtick": 1, "exponentformat": "power"}
    if not any(np.isfinite(values).any() for values in lengths.values()):
        scale["range"] = [-4, 1]  # of what is not yet measured
    room = 0.04 * (max(places) - min(places))
    return build(
        lines,
        colors,
        Sheet(HEIGHT, title),
        x={"title": x, "range": [min(places) - room, max(places) + room], "zeroline": False},
        y={"title": "length of the gradient", **(scale if is_log else {"rangemode": "tozero"})},
        extras=Extras(layout=layout),
    )
