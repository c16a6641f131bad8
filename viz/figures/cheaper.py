"""Figures of the lesson on cheaper attention: error by size, softmax over tiles, and memory."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import LEGEND_BELOW, TILT, Extras, Sheet, TickLabels, build
from viz.labels import axis_labels
from viz.theme import Palette

HEIGHT = 380  # pixels
BELOW = {**LEGEND_BELOW, "margin": {**LEGEND_BELOW["margin"], "b": 104}}
STYLES = ("solid", "dash", "dot", "dashdot")


def error_lines(
    sizes: Sequence[int], errors: Mapping[str, np.ndarray], chosen: str, colors: Palette
) -> go.Figure:
    """The error of z of each way at each size, (n,) each; the chosen way is strong."""
    curves = [
        go.Scatter(
            x=list(sizes),
            y=values,
            name=name,
            mode="lines+markers",
            opacity=1.0 if name == chosen else 0.6,
            line={"color": color, "dash": style, "width": 4 if name == chosen else 2},
            hovertemplate=f"{name}, size %{{x}}: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for (name, values), color, style in zip(errors.items(), colors.series, STYLES, strict=False)
    ]
    return build(
        curves,
        colors,
        Sheet(HEIGHT, "Error of z by size"),
        x={"title": "size: window w or rank r", "type": "log", "showgrid": False,
           "tickvals": list(sizes), "ticktext": list(map(str, sizes))},
        y={"title": "‖z′ − z‖ / ‖z‖", "rangemode": "tozero"},
        extras=Extras(layout=BELOW),
    )  # fmt: skip


def tile_bars(
    scores: np.ndarray,
    tokens: Sequence[str],
    maxima: np.ndarray,
    size: int,
    colors: Palette,
) -> go.Figure:
    """One query's scores, (n,), and the running maximum after each tile that is done, (tiles,)."""
    labels = axis_labels(tokens)
    n_done = min(len(maxima) * size, len(scores))
    bars = go.Bar(
        x=labels,
        y=scores,
        name="score",
        marker={"color": colors.series[0],
                "opacity": [1.0] * n_done + [0.3] * len(labels[n_done:])},
        hovertemplate=f"key <b>%{{x}}</b>: score <b>%{{y:{HOVER}}}</b><extra></extra>",
    )  # fmt: skip
    ends = [min((tile + 1) * size, len(scores)) - 1 for tile in range(len(maxima))]
    largest = go.Scatter(
        x=[labels[end] for end in ends],
        y=maxima,
        name="largest so far",
        mode="lines+markers",
        line={"color": colors.series[1], "width": 3, "shape": "vh"},
        marker={"size": 9, "symbol": "diamond"},
        hovertemplate=f"largest up to <b>%{{x}}</b>: <b>%{{y:{HOVER}}}</b><extra></extra>",
    )
    borders = [
        {"type": "line", "x0": at - 0.5, "x1": at - 0.5, "yref": "paper", "y0": 0, "y1": 1,
         "line": {"color": colors.muted, "dash": "dot", "width": 1}}
        for at in range(size, len(scores), size)
    ]  # fmt: skip
    return build(
        [bars, largest],
        colors,
        Sheet(HEIGHT, "Scores of one query, cut into tiles", top=84),
        x={"title": "key", "type": "category", "tickangle": -TILT, "showgrid": False},
        y={"title": "score", "zeroline": True},
        labels=TickLabels(columns=labels),
        extras=Extras(shapes=borders),
    )


def output_bars(output: np.ndarray, exact: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """The output so far beside the exact one, number by number, (Dh,) each."""
    numbers = list(range(len(exact)))
    bars = go.Bar(
        x=numbers,
        y=output,
        name="so far",
        marker={"color": colors.series[0]},
        hovertemplate=f"number %{{x}}, so far: <b>%{{y:{HOVER}}}</b><extra></extra>",
    )
    marks = go.Scatter(
        x=numbers,
        y=exact,
        name="exact z",
        mode="markers",
        marker={"color": colors.series[1], "size": 9, "symbol": "line-ew-open",
                "line": {"width": 3}},
        hovertemplate=f"number %{{x}}, exact: <b>%{{y:{HOVER}}}</b><extra></extra>",
    )  # fmt: skip
    return build(
        [bars, marks],
        colors,
        Sheet(HEIGHT, title, top=84),
        x={"title": "number of z", "showgrid": False},
        y={"title": "value"},
    )


def memory_lines(
    lengths: Sequence[int], sizes: Mapping[str, np.ndarray], n_tokens: int, colors: Palette
) -> go.Figure:
    """Bytes of one layer at each length, (n,) each, both scales logarithmic."""
    curves = [
        go.Scatter(
            x=list(lengths),
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": color, "dash": style, "width": 2},
            hovertemplate=f"{name}, %{{x:,}} tokens: <b>%{{y:,}}</b> bytes<extra></extra>",
        )
        for (name, values), color, style in zip(sizes.items(), colors.series, STYLES, strict=False)
    ]
    powers = range(3, 13, 3)
    line = {"type": "line", "x0": n_tokens, "x1": n_tokens, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": colors.muted, "dash": "dot"}}  # fmt: skip
    return build(
        curves,
        colors,
        Sheet(HEIGHT, "Bytes of one layer by length; dotted: this model’s context"),
        x={"title": "tokens", "type": "log", "showgrid": False, "dtick": 1},
        y={"title": "bytes", "type": "log", "tickvals": [10.0**power for power in powers],
           "ticktext": ["1 kB", "1 MB", "1 GB", "1 TB"]},
        extras=Extras(shapes=[line], layout=BELOW),
    )  # fmt: skip
