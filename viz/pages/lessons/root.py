"""Why √d: random dot products grow with the dimension, softmax saturates, its gradient vanishes."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from model.analysis.saturation import DIMENSIONS, sharpness, variance
from model.worked_out import softmax
from viz.charts.chart import Axis
from viz.digits import digits
from viz.figures.saturation import by_dimension, weight_bars
from viz.figures.token_maps import pattern_map
from viz.formulas import lessons as formulas
from viz.frame import controls, inspector, layout, scenes
from viz.frame.page import Numbers, Page
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
    return {"at 64": digits(found[64], 0), "at 4096": digits(found[4096], 0)}


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


def _in_the_model(view: View) -> Numbers:
    """The head above as it is, and with its scores not divided."""
    record, mask = view.record, view.record.mask_of(view.head)
    undivided = replace(record, scale=1.0).pattern_of(view.head)
    maps = {"as it is": view.pattern, "not divided": undivided}
    layout.show_charts(
        {
            f"root-{name.replace(' ', '-')}": pattern_map(
                pattern, mask, view.tokens, f"{view.head_name} {name}"
            )
            for name, pattern in maps.items()
        }
    )
    inspector.attention(record)
    before, after = map(sharpness, maps.values())
    is_divided = record.scale != 1  # else both maps are one
    return {
        "head": view.head_name,
        "how": f"divides by √{record.q.shape[-1]}"
        if record.has_usual_scale
        else f"multiplies by {record.scale:.4g}",
        "largest": digits(float(before.largest), 2) if is_divided else None,
        "undivided": digits(float(after.largest), 2),
        "gradient": digits(float(before.gradient), 2),
        "undivided gradient": digits(float(after.gradient), 2),
    }


PAGE = Page(
    "Why √d?",
    ":material/square_foot:",
    "Why are scores divided by the square root of d?",
    needs=("decoder",),
    scenes={
        "variance": _variances,
        "query": _one_query,
        "largest": partial(_by_dimension, "largest"),
        "gradient": partial(_by_dimension, "gradient"),
        "model": _in_the_model,
    },
    wide=("model",),
    needs_two=("model",),
    source=(
        "model.analysis.saturation.random_products",
        "model.analysis.saturation.sharpness",
        "model.worked_out.Attending",
    ),
)
