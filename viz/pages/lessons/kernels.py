"""Kernels before attention: a weighted mean of what was measured nearby, and the same in a head."""

import numpy as np

from model.analysis.additive import additive_scores, drawn_weights, n_multiplications, n_parameters
from model.analysis.kernels import (
    HOUSES,
    LAST,
    drawn_points,
    estimate,
    gaussian_attention,
    kernel_weights,
    moved_weight,
    truth,
)
from model.worked_out import softmax
from viz.digits import digits
from viz.figures.kernels import fitted_curve, weights_by_place
from viz.figures.token_maps import pattern_map
from viz.formulas import FORMULAS
from viz.formulas import lessons as formulas
from viz.frame import controls, inspector, layout, scenes, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Said
from viz.frame.settings import ASKED_AT, HOUSE, SEED, SMOOTHING, WIDTH
from viz.frame.view import View

PLACES = np.linspace(0, LAST, 101)


def _measured(_: View) -> Numbers:
    """The weighted mean of random measurements, and the weights that make it at one place."""
    with scenes.to_set():
        kind = controls.select(SMOOTHING, width=160)
        width = controls.slider(WIDTH)
        query = controls.slider(ASKED_AT)
        points = drawn_points(controls.number(SEED))
    *found, answer = estimate(np.append(PLACES, query), points, kind, width)
    weights = kernel_weights(np.array([query]), points.x, kind, width)[0]
    curves = PLACES, truth(PLACES), np.array(found)
    charts = {
        "kernel-curve": fitted_curve(points, curves, (query, float(answer))),
        "kernel-weights": weights_by_place(points.x, weights, query),
    }
    layout.show_charts(charts)
    inspector.formula("model.analysis.kernels.estimate", formulas.regression(kind))
    none = f"there is none, since no point is within a width of {digits(width, 2)}"
    return {"x": digits(query, 2), "it": none if np.isnan(answer) else f"it is {digits(answer)}"}


def _houses(_: View) -> Numbers:
    """What one more house would cost: each weight of the five, and the mean."""
    with scenes.to_set():
        kind = controls.select(SMOOTHING, width=160)
        size, width = controls.parts(HOUSE)
    query = np.array([float(size)])
    weights = kernel_weights(query, HOUSES.x, kind, width)[0]
    columns: dict[str, list[Said]] = {
        "size, m²": [digits(x, 0) for x in HOUSES.x],
        "price, thousand": [digits(y, 0) for y in HOUSES.y],
        "distance in widths": [digits(x) for x in (size - HOUSES.x) / width],
        "weight": [digits(x) for x in weights],
        "weight · price": [digits(x) for x in weights * HOUSES.y],
    }
    words.table(columns)
    price, mean = (float(estimate(query, HOUSES, name, width)[0]) for name in (kind, "constant"))
    none = f"nothing, since no house is within {digits(width, 0)} m²"
    return {
        "size": digits(size, 0),
        "kernel": SMOOTHING.words(kind),
        "price": none if np.isnan(price) else f"{digits(price, 3)} thousand",
        "mean": digits(mean, 3),
    }


def _beside(view: View, other: np.ndarray, whats: dict[str, str]) -> Numbers:
    """The head's weights beside others of the same queries and keys; `whats` by their keys."""
    record, mask = view.record, view.record.mask_of(view.head)
    titles = {name: f"{view.head_name} {what}" for name, what in whats.items()}
    patterns = zip(titles.items(), (view.pattern, other), strict=True)
    layout.show_charts(
        {key: pattern_map(p, mask, view.tokens, title) for (key, title), p in patterns}
    )
    has = {
        "this model’s own scale": not record.has_usual_scale,
        "the bias added to its scores": record.bias is not None,
        "its soft cap": record.softcap is not None,
        "its sink": record.sinks is not None,
    }
    without = " and ".join(text for text, is_there in has.items() if is_there)
    return {
        "head": view.head_name,
        "moved": digits(moved_weight(view.pattern, other)),
        "left out": f"; the right map goes without {without}" if without else "",
    }


def _in_the_model(view: View) -> Numbers:
    """The head above beside the same queries and keys weighted by distance."""
    record, head = view.record, view.head
    keys = record.k[record.kv_head(head)]
    inspector.formula(
        "model.analysis.kernels.gaussian_attention", FORMULAS["Distances as dot products"]
    )
    return _beside(
        view,
        gaussian_attention(record.q[head], keys, record.mask_of(head)),
        {
            "kernel-pattern": "by dot products, as it runs",
            "kernel-gaussian": "by distances: a Gaussian kernel",
        },
    )


def _additive(view: View) -> Numbers:
    """The same queries and keys under the score that came before the dot product."""
    with scenes.to_set():
        seed = controls.number(SEED)
    record, mask = view.record, view.record.mask_of(view.head)
    drawn = drawn_weights(record.q.shape[-1], seed)
    keys, pairs = record.k[record.kv_head(view.head)], int(mask.sum())
    other = softmax(additive_scores(record.q[view.head], keys, drawn), mask)
    inspector.formula(
        "model.analysis.additive.additive_scores", formulas.additive(record.q.shape[-1])
    )
    whats = {"additive-dot": "by scaled dot products", "additive-drawn": "by a drawn network"}
    return {
        **_beside(view, other, whats),
        "products": f"{pairs * len(drawn.v):,}",
        "multiplications": f"{n_multiplications(len(mask), pairs, drawn):,}",
        "parameters": f"{n_parameters(drawn):,}",
    }


PAGE = Page(
    "Kernels",
    ":material/ssid_chart:",
    "How did a mean of what was measured nearby become attention?",
    needs=("decoder",),
    scenes={
        "measured": _measured,
        "houses": _houses,
        "model": _in_the_model,
        "additive": _additive,
    },
    wide=("measured", "model", "additive"),
    needs_two=("model", "additive"),
    source=(
        "model.analysis.kernels.kernel_weights",
        "model.analysis.kernels.estimate",
        "model.analysis.kernels.gaussian_attention",
        "model.analysis.additive.additive_scores",
    ),
)
