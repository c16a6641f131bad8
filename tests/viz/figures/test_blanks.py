"""Protects the pairs of bars: each token has its own, also where one of the two predicts none."""

import numpy as np

from viz.figures.blanks import Predicted, paired_bars
from viz.figures.labels import axis_labels
from viz.theme import LIGHT

TOKENS = (" the", " cat", " the", " mat")


def test_bars_stand_at_their_tokens_and_equal_tokens_stay_apart() -> None:
    all_of_them = np.array([1.0, 2.0, 3.0, 4.0])
    but_the_first = np.array([5.0, 6.0, 7.0])
    pair = Predicted("both", all_of_them), Predicted("before", but_the_first, 1)
    figure = paired_bars(TOKENS, pair, LIGHT, "Losses")
    first, second = figure.data
    labels = axis_labels(TOKENS)
    assert len(set(labels)) == len(labels)
    assert (list(first.x), list(first.y)) == (labels, all_of_them.tolist())
    assert (list(second.x), list(second.y)) == (labels[1:], but_the_first.tolist())
    assert list(figure.layout.xaxis.categoryarray) == labels
    assert [first.name, second.name] == ["both", "before"]
    assert first.marker.color != second.marker.color


def test_a_token_is_no_markup() -> None:
    pair = Predicted("a", np.ones(1)), Predicted("b", np.ones(1))
    figure = paired_bars(("<b>%{x}</b>",), pair, LIGHT, "Losses")
    assert "<" not in figure.data[0].x[0]
