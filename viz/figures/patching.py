"""Grids of activation patching, and how well the estimate foretells them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viz.charts.chart import Axis, Cells, Chart, Hidden, Line, Pen, Scale, around, numbered
from viz.figures.attribution import Estimates

WHOLE = Scale("recovered (1 = all)", -1.0, 1.0, "signed")


@dataclass(frozen=True, eq=False)
class Grid:
    """Shares put back (L, C), the metrics they are of, and which of them are estimates.

    `labels` are those of the columns; `chosen` is the layer and the column to frame.
    """

    title: str
    shares: np.ndarray
    values: np.ndarray
    estimates: Estimates
    labels: Sequence[str]
    column_title: str
    chosen: tuple[int, int] | None = None


def patch_map(grid: Grid) -> Chart:
    """Layers downward, positions or heads across; a dot on what is an estimate."""
    shares, estimates = grid.shares, grid.estimates
    more = {"metric": grid.values, **estimates.more(shares)}
    cells = Cells(shares, WHOLE, Hidden(np.isnan(shares), estimates.missing), more=more, gap=1)
    framed = [] if grid.chosen is None else [around(grid.chosen)]
    return Chart(
        grid.title,
        Axis(grid.column_title, names=grid.labels, numbered=grid.column_title == "position"),
        numbered("layer", "L", len(shares)),
        [cells, *estimates.dots, *framed],
        estimates.says,
    )


def estimate_scatter(exact: Mapping[str, np.ndarray], estimate: Mapping[str, np.ndarray]) -> Chart:
    """Each cell's exact share against its estimate, one colour for each grid by its title."""
    points = [
        Line(estimate[name].ravel(), shares.ravel(), name, Pen(dash=None, opacity=0.75))
        for name, shares in exact.items()
    ]
    every = np.concatenate([x.ravel() for x in (*exact.values(), *estimate.values())])
    ends = [float(every.min()), float(every.max())]
    equal = Line(ends, ends, pen=Pen("muted", "dot", 1, None), quiet=True)
    x, y = Axis("estimate: gradient × difference"), Axis("exact, recovered")
    title = "Every cell: estimate and exact"
    return Chart(title, x, y, [*points, equal])
