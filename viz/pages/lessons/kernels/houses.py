"""A table of houses and what one more would cost: each weight with its kernel's height."""

import numpy as np

from model.analysis.kernels import HOUSES, estimate, kernel_weights
from viz.digits import digits
from viz.frame import controls, layout, words
from viz.frame.said import Said
from viz.frame.settings import HOUSE, SMOOTHING
from viz.frame.view import View

PLACES = 3


def draw(view: View) -> None:
    """Draw it; it is of no model."""
    layout.section(
        "What is a house worth?",
        "Sizes are keys, prices are values, and the house that is for sale is the query.",
        "One source works this example with a Gaussian kernel and prints 103.753, beside 120.0 "
        "for the plain mean. Its houses are not at hand: these five were chosen so that both come "
        "out, to the digit, at 70 m² and a width of 15.",
    )
    with layout.slim_row("houses"):
        kind = controls.select(SMOOTHING, width=160)
        size, width = controls.parts(HOUSE)
    weights = kernel_weights(np.array([float(size)]), HOUSES.x, kind, width)[0]
    rows = range(len(weights))
    columns: dict[str, list[Said]] = {
        "size, m²": [digits(x, 0) for x in HOUSES.x],
        "price, thousand": [digits(y, 0) for y in HOUSES.y],
        "distance in widths": [digits((size - HOUSES.x[i]) / width) for i in rows],
        "weight": [digits(weights[i]) for i in rows],
        "weight · price": [digits(weights[i] * HOUSES.y[i]) for i in rows],
    }
    words.table(columns)
    _price(kind, float(size), float(width))


def _price(kind: str, size: float, width: float) -> None:
    """The answer of the kernel, beside the plain mean."""
    shown = []
    for name in dict.fromkeys((kind, "constant")):
        price = float(estimate(np.array([size]), HOUSES, name, width)[0])
        what = f"thousand: {digits(size, 0)} m² by a {SMOOTHING.words(name)} kernel"
        if np.isnan(price):
            words.notice(
                f"No house is within {digits(width, 0)} m² of {digits(size, 0)}: nothing to answer."
            )
        else:
            shown.append((digits(price, PLACES), what))
    words.facts(shown)
