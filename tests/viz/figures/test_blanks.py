"""Protects the pairs of bars: each token has its own, also where one of the two predicts none."""

import numpy as np

from viz.figures.blanks import Predicted, paired_bars
from viz.theme import LIGHT


def test_a_token_is_no_markup() -> None:
    pair = Predicted("a", np.ones(1)), Predicted("b", np.ones(1))
    figure = paired_bars(("<b>%{x}</b>",), pair, LIGHT, "Losses")
    assert "<" not in figure.data[0].x[0]
