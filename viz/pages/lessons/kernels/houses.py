"""A table of houses and what one more would cost: each weight with its kernel's height."""

import numpy as np

from model.analysis.kernels import HOUSES, KERNELS, estimate, kernel_weights
from viz.digits import digits
from viz.frame import controls, layout, words
from viz.frame.lessons import HOUSE_SIZE, HOUSE_WIDTH, SMOOTHING
from viz.frame.numbers import Said, number
from viz.frame.view import View

PLACES = 3


def section(view: View, kind: str) -> None:
    """Draw it, with the kernel that is chosen above."""
    with layout.section(
        "What is a house worth?",
        "Sizes are keys, prices are values, and the house that is for sale is the query.",
        "One source works this example with a Gaussian kernel and prints 103.753, beside 120.0 "
        "for the plain mean. Its houses are not at hand: these five were chosen so that both come "
        "out, to the digit, at 70 m² and a width of 15.",
    ):
        size = controls.slider(HOUSE_SIZE)
        width = controls.slider(HOUSE_WIDTH)
    weights = kernel_weights(np.array([float(size)]), HOUSES.x, kind, width)[0]
    at = f"{list(KERNELS).index(kind)}.{round(width)}.{round(size)}"
    rows = range(len(weights))
    columns: dict[str, list[Said]] = {
        "size, m²": [
            number(view.run, f"house.sizes[{i}]", x, digits(x, 0)) for i, x in enumerate(HOUSES.x)
        ],
        "price, thousand": [
            number(view.run, f"house.prices[{i}]", y, digits(y, 0)) for i, y in enumerate(HOUSES.y)
        ],
        "distance in widths": [
            number(view.run, f"house.distances.{at}[{i}]", (size - HOUSES.x[i]) / width)
            for i in rows
        ],
        "weight": [number(view.run, f"house.weights.{at}[{i}]", weights[i]) for i in rows],
        "weight · price": [
            number(view.run, f"house.parts.{at}[{i}]", weights[i] * HOUSES.y[i]) for i in rows
        ],
    }
    words.table(columns)
    _price(view, kind, float(size), float(width))


def _price(view: View, kind: str, size: float, width: float) -> None:
    """The answer of the kernel, beside the plain mean."""
    shown = []
    for name in dict.fromkeys((kind, "constant")):
        price = float(estimate(np.array([size]), HOUSES, name, width)[0])
        at = f"{list(KERNELS).index(name)}.{round(width)}.{round(size)}"
        what = f"thousand: {digits(size, 0)} m² by a {SMOOTHING.words(name)} kernel"
        if np.isnan(price):
            words.notice(
                f"No house is within {digits(width, 0)} m² of {digits(size, 0)}: nothing to answer."
            )
        else:
            text = digits(price, PLACES)
            shown.append((number(view.run, f"house.price.{at}", price, text), what))
    words.facts(shown)
