"""Grids of activation patching, and how well the estimate foretells them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER, digits
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, TickLabels, build
from viz.figures.heatmap import Scale, colored, dots
from viz.figures.lines import frame
from viz.labels import clipped, escape, thinned
from viz.theme import Palette

ROW_PIXELS, LEAST_HEIGHT = 26, 250
LABEL_CHARACTERS = 14
WHOLE = Scale("recovered (1 = all)", -1.0, 1.0, signed=True)
SCATTER_HEIGHT = 380


@dataclass(frozen=True, eq=False)
class Grid:
    """Shares put back (L, C), the metrics they are of, and which of them are estimates.

    `labels` are those of the columns, plain text; `chosen` is the layer and the column to frame.
    """

    title: str
    shares: np.ndarray
    values: np.ndarray
    estimated: np.ndarray
    labels: Sequence[str]
    column_title: str
    chosen: tuple[int, int] | None = None


def patch_map(grid: Grid, colors: Palette) -> go.Figure:
    """Layers downward, positions or heads across; a dot on what is an estimate."""
    n_layers, n_columns = grid.shares.shape
    labels = [escape(clipped(label, LABEL_CHARACTERS)) for label in grid.labels]
    shown = thinned(n_columns, 40, each=1)
    cells = go.Heatmap(
        z=grid.shares,
        x=list(range(n_columns)),
        y=list(range(n_layers)),
        **colored(WHOLE, colors),
        xgap=1,
        ygap=1,
        hoverongaps=False,
        hovertext=_said(grid, labels),
        hovertemplate="%{hovertext}<extra></extra>",
    )
    framed = {"color": colors.frame, "width": 3}
    chosen = [] if grid.chosen is None else [grid.chosen]
    return build(
        [cells, *dots(grid.estimated, range(n_layers), range(n_columns), colors)],
        colors,
        Sheet(max(LEAST_HEIGHT, 160 + ROW_PIXELS * n_layers), grid.title, top=84),
        x={
            "title": grid.column_title,
            "tickvals": list(shown),
            "ticktext": [labels[i] for i in shown],
            "tickangle": -50 if max(map(len, labels)) > 3 else 0,
            "range": [-0.5, n_columns - 0.5],
            "showgrid": False,
            "zeroline": False,
        },
        y={
            "title": "layer",
            "tickvals": list(range(n_layers)),
            "ticktext": [f"L{i}" for i in range(n_layers)],
            "range": [n_layers - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        labels=TickLabels([f"L{i}" for i in range(n_layers)], labels),
        extras=Extras(shapes=[frame((i, i), (j, j), framed) for i, j in chosen]),
    )


def _said(grid: Grid, labels: Sequence[str]) -> list[list[str]]:
    return [
        [
            f"L{layer}, {grid.column_title} <b>{labels[column]}</b><br>"
            f"recovered <b>{digits(grid.shares[layer, column], 3)}</b><br>"
            f"metric {digits(grid.values[layer, column], 4)}<br>"
            f"{'estimate' if grid.estimated[layer, column] else 'exact'}"
            for column in range(grid.shares.shape[1])
        ]
        for layer in range(len(grid.shares))
    ]


def estimate_scatter(
    exact: dict[str, np.ndarray], estimate: dict[str, np.ndarray], colors: Palette
) -> go.Figure:
    """Each cell's exact share against its estimate, one colour for each grid by its title."""
    dots = [
        go.Scatter(
            x=estimate[name].ravel(),
            y=shares.ravel(),
            mode="markers",
            name=name,
            marker={"color": color, "size": 7, "opacity": 0.75},
            hovertemplate=f"{name}<br>estimate <b>%{{x:{HOVER}}}</b><br>"
            f"exact <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for (name, shares), color in zip(exact.items(), colors.series, strict=False)
    ]
    everything = np.concatenate([x.ravel() for x in (*exact.values(), *estimate.values())])
    ends = [float(everything.min()), float(everything.max())]
    line = go.Scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": colors.muted, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    return build(
        [*dots, line],
        colors,
        Sheet(SCATTER_HEIGHT, "Every cell: estimate and exact"),
        x={"title": "estimate: gradient × difference"},
        y={"title": "exact, recovered"},
        extras=Extras(layout=LEGEND_BELOW),
    )
