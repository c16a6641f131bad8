"""What grids of activation patching are of, and how well the estimate foretells them."""

from collections.abc import Mapping

import numpy as np

from viz.charts.chart import Axis, Chart, Line, Pen, Scale

RECOVERED = Scale("recovered (1 = all)", -1.0, 1.0, "signed")


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
