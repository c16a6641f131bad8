"""Charts of the lesson on kernels: the curve through points, and the weights of one query."""

import numpy as np

from viz.charts.chart import DOTS, GUIDE, Axis, Bars, Chart, Line, Pen, Rule


def fitted_curve(
    points: tuple[np.ndarray, np.ndarray],
    curves: tuple[np.ndarray, np.ndarray, np.ndarray],
    query: tuple[float, float],
) -> Chart:
    """What was measured, the truth behind it and the estimate, with the query's answer marked.

    curves: places, truth and estimate, (m,) each, NaN where nothing is in reach.
    """
    places, truth, found = curves
    marks = [
        Line(places, truth, "truth", GUIDE),
        Line(places, found, "mean", Pen(1, width=3, symbol=None)),
        Line(*points, "measured", DOTS),
        Line([query[0]], [query[1]], "answer", Pen(1, dash=None, symbol="diamond", size=14)),
    ]
    return Chart("Weighted mean of 50 measurements", Axis("x"), Axis("y"), marks)


def weights_by_place(places: np.ndarray, weights: np.ndarray, query: float) -> Chart:
    """How much each point counts for the query, (n,), where it stands."""
    marks = [Bars(weights, at=places, width=0.05), Rule("x", query, ink=1)]
    return Chart("Weights for the query (dotted)", Axis("x"), Axis("weight", from_zero=True), marks)
