"""Why √d: random dot products grow with the dimension, softmax saturates, its gradient vanishes.

These are scenes of Attention by hand.
"""

import math
from functools import partial

import numpy as np

from model.analysis.saturation import DIMENSIONS, sharpness, variance
from model.worked_out import softmax
from viz.charts.chart import Axis
from viz.digits import digits
from viz.figures.saturation import by_dimension, weight_bars
from viz.formulas import lessons as formulas
from viz.frame import controls, inspector, layout, scenes
from viz.frame.page import Numbers
from viz.frame.settings import ROOT_DIMENSION, SEED
from viz.frame.view import View
from viz.runs import drawing

WITHOUT, WITH = "q · k", "q · k / √d"
MEASURES = {"largest": "Largest weight", "gradient": "Gradient through softmax"}


def _drawn() -> dict[int, np.ndarray]:
    """Products of random queries and keys at each dimension."""
    with scenes.to_set():
        return drawing.products(controls.number(SEED))


def _variances(_: View) -> Numbers:
    """The variance of the products against d, on a scale where equal ratios are equal steps."""
    found = {d: variance(products) for d, products in _drawn().items()}
    d, measured = np.array(DIMENSIONS, float), np.array(list(found.values()))
    y, values = Axis("variance", is_log=True), {WITHOUT: measured, WITH: measured / d}
    chart = by_dimension(DIMENSIONS, values, y, "Variance of the dot products", d)
    layout.show_chart(chart, key="variances")
    inspector.formula(
        "model.analysis.saturation.random_products",
        formulas.variance(DIMENSIONS[-1], found[DIMENSIONS[-1]]),
    )
    return {f"at {d}": f"{found[d]:,.0f}" for d in (64, 4096)}


def _one_query(_: View) -> Numbers:
    """The first query's weights over its keys."""
    with scenes.to_set():
        d = controls.select(ROOT_DIMENSION, width=130)
    found = {
        dimension: _weights(products[0], dimension) for dimension, products in _drawn().items()
    }
    charts = [
        weight_bars(weights, f"One query’s weights at d = {dimension:,}")
        for dimension, weights in found.items()
        if dimension <= d
    ]
    plays = [charts[i] for i in scenes.turns(len(charts))]
    layout.show_chart(charts[-1], key="one-row", plays=plays)
    largest = {name: digits(float(row.max()), 2) for name, row in found[d].items()}
    return {"d": f"{d:,}", "without": largest[WITHOUT], "with": largest[WITH]}


def _weights(scores: np.ndarray, d: int) -> dict[str, np.ndarray]:
    return {WITHOUT: softmax(scores), WITH: softmax(scores / math.sqrt(d))}


def _by_dimension(name: str, _: View) -> Numbers:
    """What softmax makes of the products at each dimension: one measure of its weights."""
    drawn = _drawn()
    roots = {WITHOUT: np.ones(len(DIMENSIONS)), WITH: np.sqrt(DIMENSIONS)}
    values = {
        label: np.array(
            [
                getattr(sharpness(softmax(x / r)), name)
                for x, r in zip(drawn.values(), root, strict=True)
            ]
        )
        for label, root in roots.items()
    }
    y = Axis(MEASURES[name].lower(), from_zero=True)
    title = f"{MEASURES[name]}, mean of 64 queries"
    layout.show_chart(by_dimension(DIMENSIONS, values, y, title), key=f"root-{name}")
    over = values[WITHOUT] > 0.9
    ends = {"without": digits(values[WITHOUT][-1], 2), "with": digits(values[WITH][-1], 2)}
    return {**ends, "first over": str(DIMENSIONS[int(over.argmax()) if over.any() else -1])}


SCENES = {
    "variance": _variances,
    "query": _one_query,
    "largest": partial(_by_dimension, "largest"),
    "gradient": partial(_by_dimension, "gradient"),
}
