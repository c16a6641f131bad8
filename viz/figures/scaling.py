"""Figures of the lesson on scaling: the best sizes, equal compute, our own runs and their logs."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, build
from viz.theme import Palette

HEIGHT, LOW = 450, 154  # pixels; the second below the axes of a figure with a long legend
_POWERS = {"type": "log", "dtick": 2, "exponentformat": "power", "showgrid": False}
_TOKENS = {"type": "log", "dtick": 1, "exponentformat": "SI", "showgrid": False}
_BELOW = {**LEGEND_BELOW, "margin": {**LEGEND_BELOW["margin"], "b": LOW}}
DASHES = ("solid", "dot", "dashdot", "dash", "solid")


def best_sizes(
    computes: np.ndarray,
    laws: Mapping[str, np.ndarray],
    known: tuple[Sequence[str], np.ndarray, np.ndarray],
    here: tuple[float, float],
    colors: Palette,
) -> go.Figure:
    """The best size for each compute by each law; published models; where the page stands.

    known: names, compute and parameters of each. here: compute and size.
    """
    lines = [
        go.Scatter(
            x=computes,
            y=sizes,
            name=name,
            mode="lines",
            line={"color": colors.series[number], "dash": DASHES[number % len(DASHES)]},
            hovertemplate=f"{name}: %{{x:.2~e}} operations, <b>%{{y:{HOVER}}}</b> "
            "parameters<extra></extra>",
        )
        for number, (name, sizes) in enumerate(laws.items())
    ]
    names, compute, sizes = known
    points = go.Scatter(
        x=compute,
        y=sizes,
        text=list(names),
        name="published models",
        showlegend=False,
        mode="markers+text",
        textposition=["bottom left", "middle right", "bottom right"],
        marker={"color": colors.muted, "size": 10, "symbol": "diamond"},
        hovertemplate="%{text}: <b>%{y:.3s}</b> parameters, %{x:.3e} operations<extra></extra>",
    )
    chosen = _here(*here, colors)
    return build(
        [*lines, points, chosen],
        colors,
        Sheet(HEIGHT, "The best size by compute"),
        x={"title": "compute, operations", **_POWERS, "range": [18, 26]},
        y={"title": "parameters", **_POWERS},
        extras=Extras(layout=_BELOW),
    )


def _here(x: float, y: float, colors: Palette) -> go.Scatter:
    return go.Scatter(
        x=[x],
        y=[y],
        name="chosen above",
        showlegend=False,
        mode="markers",
        marker={"color": colors.text, "size": 13, "symbol": "circle-open", "line": {"width": 3}},
        hovertemplate=f"<b>%{{y:{HOVER}}}</b><extra>chosen above</extra>",
    )


def equal_compute(
    curves: Sequence[tuple[str, np.ndarray, np.ndarray]],
    best: tuple[np.ndarray, np.ndarray],
    here: tuple[float, float],
    colors: Palette,
    title: str,
) -> go.Figure:
    """Loss by size where the compute is the same, a curve each: name, sizes, losses.

    best: size and loss that the law calls best on each curve. here: size and loss.
    """
    lines = [
        go.Scatter(
            x=sizes,
            y=losses,
            name=name,
            mode="lines",
            line={"color": colors.series[number]},
            hovertemplate=f"{name}: %{{x:.3s}} parameters, <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, (name, sizes, losses) in enumerate(curves)
    ]
    marks = go.Scatter(
        x=best[0],
        y=best[1],
        name="the law’s best size",
        mode="markers",
        marker={"color": colors.muted, "size": 9, "symbol": "diamond"},
        hovertemplate=f"best: %{{x:.3s}} parameters, <b>%{{y:{HOVER}}}</b><extra></extra>",
    )
    return build(
        [*lines, marks, _here(*here, colors)],
        colors,
        Sheet(HEIGHT, title),
        x={"title": "parameters", **_TOKENS},
        y={"title": "loss, nats per token"},
        extras=Extras(layout=_BELOW),
    )


def own_runs(
    grid: np.ndarray,
    sizes: Sequence[tuple[str, np.ndarray, np.ndarray, np.ndarray]],
    beside: tuple[str, float, float, np.ndarray],
    colors: Palette,
) -> go.Figure:
    """Measured loss by tokens, a colour for each size, and the fitted law as lines.

    sizes: name, tokens, losses, the law over `grid`. beside: a model that the law was not fitted
    to, its tokens and loss, and the law at its size.
    """
    lines = [
        go.Scatter(
            x=grid,
            y=law,
            name=f"fit, {name}",
            mode="lines",
            showlegend=False,
            line={"color": colors.series[number], "width": 1.5},
            hovertemplate=f"fit, {name}, %{{x:.3s}} tokens: %{{y:{HOVER}}}<extra></extra>",
        )
        for number, (name, _, _, law) in enumerate(sizes)
    ]
    points = [
        go.Scatter(
            x=tokens,
            y=losses,
            name=name,
            mode="markers",
            marker={"color": colors.series[number], "size": 10},
            hovertemplate=f"{name}, %{{x:,}} tokens: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, (name, tokens, losses, _) in enumerate(sizes)
    ]
    return build(
        [*lines, *points, *_beside(grid, beside, colors.series[len(sizes)])],
        colors,
        Sheet(HEIGHT, "Held-out loss, measured (points) and fitted (lines)"),
        x={"title": "tokens of training", **_TOKENS},
        y={"title": "loss, nats per token"},
        extras=Extras(layout=_BELOW),
    )


def _beside(
    grid: np.ndarray, beside: tuple[str, float, float, np.ndarray], color: str
) -> list[go.Scatter]:
    """A model that the law was not fitted to, and the law at its size."""
    name, tokens, loss, law = beside
    return [
        go.Scatter(
            x=grid,
            y=law,
            name=f"fit at the size of {name}",
            mode="lines",
            showlegend=False,
            line={"color": color, "dash": "dot", "width": 1.5},
            hovertemplate=f"fit at the size of {name}, %{{x:.3s}} tokens: "
            f"%{{y:{HOVER}}}<extra></extra>",
        ),
        go.Scatter(
            x=[tokens],
            y=[loss],
            name=f"{name}, not fitted",
            mode="markers",
            marker={"color": color, "size": 13, "symbol": "star"},
            hovertemplate=f"{name}, %{{x:,}} tokens: <b>%{{y:{HOVER}}}</b><extra></extra>",
        ),
    ]


def training_curves(curves: Sequence[tuple[str, int, np.ndarray]], colors: Palette) -> go.Figure:
    """Loss in training by tokens: a name, the number of its colour, and (2, lines) of each run."""
    lines = [
        go.Scatter(
            x=curve[0],
            y=curve[1],
            name=name,
            mode="lines",
            showlegend=False,
            line={"color": colors.series[number], "width": 1.5},
            hovertemplate=f"{name}: %{{x:.3s}} tokens, <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for name, number, curve in curves
    ]
    return build(
        lines,
        colors,
        Sheet(HEIGHT, "Loss in training, every run with a schedule of its own"),
        x={"title": "tokens so far", **_TOKENS},
        y={"title": "loss, nats per token"},
        extras=Extras(layout={"margin": {**_BELOW["margin"], "b": 64}}),
    )
