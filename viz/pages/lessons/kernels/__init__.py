"""Kernels before attention: a weighted mean of what was measured nearby, and the same in a head."""

from collections.abc import Callable

import numpy as np

from model.analysis.additive import (
    Drawn,
    additive_scores,
    drawn_weights,
    n_multiplications,
    n_parameters,
)
from model.analysis.kernels import (
    LAST,
    drawn_points,
    estimate,
    gaussian_attention,
    kernel_weights,
    moved_weight,
    truth,
)
from model.trace import AttentionRecord
from model.worked_out import softmax
from viz import formulas_lessons as formulas
from viz.digits import digits
from viz.figures.kernels import fitted_curve, weights_by_place
from viz.figures.token_maps import pattern_map
from viz.frame import controls, inspector, layout, words
from viz.frame.page import Page
from viz.frame.settings import ASKED_AT, KERNEL_VIEW, SEED, SMOOTHING, WIDTH
from viz.frame.view import View
from viz.pages.lessons.kernels import houses

PLACES = np.linspace(0, LAST, 101)


def render(view: View) -> None:
    """Draw the page."""
    with layout.beside_heading():
        shown = controls.segments(KERNEL_VIEW)
    DRAW[shown](view)
    inspector.source(
        "model.analysis.kernels.kernel_weights",
        "model.analysis.kernels.estimate",
        "model.analysis.kernels.gaussian_attention",
        "model.analysis.additive.additive_scores",
    )
    inspector.export(view, {})


def _measured(_: View) -> None:
    with layout.slim_row("kernels"):
        kind = controls.select(SMOOTHING, width=160)
        width = controls.slider(WIDTH)
        query = controls.slider(ASKED_AT)
        seed = controls.number(SEED)
    points = drawn_points(seed)
    found = estimate(PLACES, points, kind, width)
    weights = kernel_weights(np.array([query]), points.x, kind, width)[0]
    answer = float(estimate(np.array([query]), points, kind, width)[0])
    left, right = layout.two_up("kernels", (3, 2))
    with left:
        chart = fitted_curve(points, (PLACES, truth(PLACES), found), (query, answer))
        layout.show_chart(chart, key="kernel-curve")
    with right:
        layout.show_chart(weights_by_place(points.x, weights, query), key="kernel-weights")
    if np.isnan(answer):
        words.notice(f"No point is within a width of {digits(width, 2)} of x: nothing to answer.")
    else:
        words.caption(f"At x = {digits(query, 2)} the answer is {digits(answer)}.")
    words.ask(
        "A width so large that every point counts alike answers the same everywhere. What?",
        see="kernel-curve",
        **{WIDTH.name: "3", SMOOTHING.name: "constant"},
    )
    formula = formulas.regression(kind)
    inspector.formula("model.analysis.kernels.estimate", formula.latex, formula.reference)


def _in_the_model(view: View) -> None:
    """The head above beside the same queries and keys weighted by distance."""
    record, head = view.record, view.head
    mask = record.mask_of(head)
    other = gaussian_attention(record.q[head], record.k[record.kv_head(head)], mask)
    layout.section(
        "The same in the model",
        f"{view.head_name}’s queries and keys, weighted by dot products and by distances.",
        "−‖q − k‖²/2 is q·k − ‖k‖²/2 − ‖q‖²/2, and softmax drops what is the same for every key. "
        "So a Gaussian kernel of distances and a softmax of dot products over √d differ by the "
        "keys’ lengths alone: a long key draws more attention by products than by distance.",
    )
    left, right = layout.two_up("kernel-model")
    patterns = (
        (left, "pattern", view.pattern, "by dot products, as it runs"),
        (right, "gaussian", other, "by distances: a Gaussian kernel"),
    )
    for place, name, pattern, what in patterns:
        with place:
            chart = pattern_map(pattern, mask, view.tokens, f"{view.head_name} {what}")
            layout.show_chart(chart, key=f"kernel-{name}")
    apart = moved_weight(view.pattern, other)
    words.caption(
        f"Weight that sits on other keys, mean over rows: {digits(apart)} of 1"
        f"{_left_out(view.record)}."
    )
    formula = formulas.distance_as_product()
    inspector.formula("model.analysis.kernels.gaussian_attention", formula.latex, formula.reference)


def _left_out(record: AttentionRecord) -> str:
    """What of the left map's weights the right one goes without, a part of the difference."""
    has = {
        "this model’s own scale": not record.has_usual_scale,
        "the bias added to its scores": record.bias is not None,
        "its soft cap": record.softcap is not None,
        "its sink": record.sinks is not None,
    }
    left_out = [text for text, is_there in has.items() if is_there]
    return f"; the right one goes without {' and '.join(left_out)}" if left_out else ""


def _additive(view: View) -> None:
    """The same queries and keys under the score that came before the dot product."""
    record, head = view.record, view.head
    layout.section(
        "Additive attention",
        "Bahdanau et al. 2015 scored a pair by a small network: v·tanh(W q + U k).",
        "W, U and v are drawn here from a seed, not trained: the map shows what such a "
        "score looks like, not what it would learn. Vaswani et al. 2017, §3.2.1, on the two: alike "
        "in theoretical complexity, but dot products are faster and take less space, since they "
        "are matrix products; for small d both do equally well, for larger d additive attention "
        "does better than dot products that are not divided by √d.",
    )
    with layout.slim_row("additive"):
        seed = controls.number(SEED)
    drawn = drawn_weights(record.q.shape[-1], seed)
    mask, keys = record.mask_of(head), record.k[record.kv_head(head)]
    other = softmax(additive_scores(record.q[head], keys, drawn), mask)
    left, right = layout.two_up("additive")
    for place, name, pattern, what in (
        (left, "dot", view.pattern, "by scaled dot products"),
        (right, "drawn", other, "by a drawn network"),
    ):
        with place:
            chart = pattern_map(pattern, mask, view.tokens, f"{view.head_name} {what}")
            layout.show_chart(chart, key=f"additive-{name}")
    _costs(drawn, mask)
    words.caption(
        "Weight that sits on other keys, mean over rows: "
        f"{digits(moved_weight(view.pattern, other))} of 1{_left_out(record)}. Parameters and "
        "operations are those of the scores of this head on this text; there are as many hidden "
        "units as a query has numbers."
    )
    formula = formulas.additive(record.q.shape[-1])
    inspector.formula("model.analysis.additive.additive_scores", formula.latex, formula.reference)


def _costs(drawn: Drawn, mask: np.ndarray) -> None:
    """What both scores have to learn and to compute; W and U are square, so all widths are one."""
    n, pairs = len(mask), int(mask.sum())
    per_pair = f"{pairs * len(drawn.v):,}"
    products = n_multiplications(n, pairs, drawn)
    words.table(
        {
            "score": ["scaled dot product", "additive"],
            "parameters": [
                "0", f"{n_parameters(drawn):,}",
            ],
            "multiplications": [
                per_pair,
                f"{products:,}",
            ],
            "tanh": ["0", per_pair],
        }
    )  # fmt: skip


DRAW: dict[str, Callable[[View], None]] = {
    "measured": _measured,
    "houses": houses.draw,
    "model": _in_the_model,
    "additive": _additive,
}
PAGE = Page(
    "Kernels",
    ":material/ssid_chart:",
    "At x, the mean of what was measured nearby.",
    "Attention, long before attention. A kernel says how much a measurement counts by its "
    "distance from the query. Weights are the kernel’s heights divided by their sum, so they add "
    "up to 1, and the answer is the mean of the values with these weights: attention, by distance "
    "instead of a dot product. 1 − |u| is called Epanechnikov’s in a widely used textbook; his is "
    "1 − u², and both are here.",
    render,
    needs=("decoder",),
)
