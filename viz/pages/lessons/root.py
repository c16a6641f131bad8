"""Why √d: random dot products grow with the dimension, softmax saturates, its gradient vanishes."""

import math
from dataclasses import replace

import numpy as np

from model.analysis.saturation import DIMENSIONS, Sharp, sharpness, variance
from model.worked_out import softmax
from viz import formulas_lessons as formulas
from viz.charts.chart import Axis
from viz.digits import digits
from viz.figures.saturation import by_dimension, weight_bars
from viz.figures.token_maps import pattern_map
from viz.frame import controls, inspector, layout, words
from viz.frame.page import Page
from viz.frame.settings import ROOT_DIMENSION, SEED
from viz.frame.view import View
from viz.runs import drawing

WITHOUT, WITH = "q · k", "q · k / √d"
MEASURES = {"largest": "largest weight", "gradient": "gradient through softmax"}


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("root"):
        dimension = controls.select(ROOT_DIMENSION, width=130)
        seed = controls.number(SEED)
    drawn = drawing.products(seed)
    left, right = layout.two_up("root")
    with left:
        _variances(drawn)
    with right:
        _row(drawn[dimension], dimension)
    left, right = layout.two_up("root-sharpness")
    for place, name in zip((left, right), MEASURES, strict=True):
        with place:
            _by_dimension(drawn, name)
    words.ask(
        "At which dimension does the largest of 16 weights first take more than 0.9 on average, "
        "without the division? Choose it above, and compare the two kinds of bars.",
        see="one-row",
        **{ROOT_DIMENSION.name: str(_saturated(drawn))},
    )
    _in_the_model(view)
    inspector.source(
        "model.analysis.saturation.random_products",
        "model.analysis.saturation.sharpness",
        "model.worked_out.Attending",
    )
    inspector.export(view, {})


def _variances(drawn: dict[int, np.ndarray]) -> None:
    """The variance of the products against d, on a scale where equal ratios are equal steps."""
    found = np.array([variance(products) for products in drawn.values()])
    values = {WITHOUT: found, WITH: found / np.array(DIMENSIONS)}
    y, d = Axis("variance", is_log=True), np.array(DIMENSIONS, float)
    chart = by_dimension(DIMENSIONS, values, y, "Variance of the dot products", d)
    layout.show_chart(chart, key="variances")
    formula = formulas.variance(DIMENSIONS[-1], float(found[-1]))
    inspector.formula("model.analysis.saturation.random_products", formula.latex, formula.reference)


def _row(products: np.ndarray, d: int) -> None:
    """The first query's weights over its keys."""
    scores = {WITHOUT: products[0], WITH: products[0] / math.sqrt(d)}
    weights = {name: softmax(row) for name, row in scores.items()}
    layout.show_chart(weight_bars(weights, f"One query’s weights at d = {d}"), key="one-row")


def _measured(drawn: dict[int, np.ndarray], *, is_divided: bool) -> list[Sharp]:
    return [
        sharpness(softmax(products / (math.sqrt(d) if is_divided else 1.0)))
        for d, products in drawn.items()
    ]


def _saturated(drawn: dict[int, np.ndarray]) -> int:
    """The first dimension at which the mean of the largest weights is over 0.9."""
    measured = zip(DIMENSIONS, _measured(drawn, is_divided=False), strict=True)
    return next((d for d, sharp in measured if sharp.largest > 0.9), DIMENSIONS[-1])


def _by_dimension(drawn: dict[int, np.ndarray], name: str) -> None:
    """What softmax makes of the products at each dimension."""
    values = {
        label: np.array([getattr(sharp, name) for sharp in _measured(drawn, is_divided=divided)])
        for label, divided in ((WITHOUT, False), (WITH, True))
    }
    y = Axis(MEASURES[name], from_zero=True)
    title = f"{y.title[0].upper()}{y.title[1:]}, mean of 64 queries"
    layout.show_chart(by_dimension(DIMENSIONS, values, y, title), key=f"root-{name}")


def _in_the_model(view: View) -> None:
    """The head above as it is, and with its scores not divided."""
    record, head = view.record, view.head
    mask, how = record.mask_of(head), f"divided by √{record.q.shape[-1]}"
    if not record.has_usual_scale:
        how = f"multiplied by {record.scale:.4g}, this model’s scale"
    other = replace(record, scale=1.0).pattern_of(head)
    layout.section("The same in the model", f"{view.head_name} as it is, and not {how}.")
    left, right = layout.two_up("root-model")
    shown = {"pattern": view.pattern, "undivided": other}
    titles = {"pattern": f"{view.head_name} as it is", "undivided": f"not {how}"}
    for place, (name, pattern) in zip((left, right), shown.items(), strict=True):
        with place:
            chart = pattern_map(pattern, mask, view.tokens, titles[name])
            layout.show_chart(chart, key=f"root-{name}")
    rows = {"as it is": view.pattern, "undivided": other}
    words.table(
        {
            view.head_name: list(rows),
            **{
                MEASURES[name]: [
                    digits(float(getattr(sharpness(pattern), name))) for pattern in rows.values()
                ]
                for name in MEASURES
            },
        }
    )
    words.caption("Means over all rows; the gradient is ‖diag(p) − p·pᵀ‖ of each row of weights p.")
    inspector.attention(record)


PAGE = Page(
    "Why √d?",
    ":material/square_foot:",
    "Dot products of random vectors spread as √d: undivided, softmax picks one key and stops "
    "learning.",
    "Queries and keys are drawn for each dimension: independent numbers with mean 0 and "
    "variance 1, 64 queries with 16 keys each. A sum of d such products has variance d. Large "
    "scores make softmax all but choose one key; then hardly any change of a score changes the "
    "weights, so hardly any gradient comes through. Division by √d undoes this at every d.",
    render,
    needs=("decoder",),
)
