"""Protects what is said of one head: how sharp it is, and its strongest pair."""

import numpy as np
import pytest

from model.analysis.heads import sharpness, strongest_pair


def test_sharpness_by_hand() -> None:
    """The first row left out, the mean of the rows' largest weights."""
    patterns = np.array(
        [
            [[1, 0, 0], [1, 0, 0], [0, 1, 0]],
            [[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]],
            [[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]],
        ]
    )
    assert sharpness(patterns).tolist() == [1, 0.5, 0.625]
    assert sharpness(patterns[None]).shape == (1, 3)
    assert sharpness(np.ones((2, 1, 1))).tolist() == [1, 1], "a single token has no choice"


@pytest.mark.parametrize(
    ("pattern", "pair"),
    [
        ([[1, 0, 0], [0.9, 0.1, 0], [0.5, 0.2, 0.3]], (2, 1)),  # neither the sink nor itself
        ([[1, 0, 0], [1, 0, 0], [1, 0, 0]], (0, 0)),  # nothing but the sink
        ([[1, 0], [0.2, 0.8]], (0, 0)),  # only sink and itself: the largest of all
        ([[1]], (0, 0)),
        ([[0.1, 0.2, 0.7], [0.1, 0.6, 0.3]], (0, 2)),  # more keys than queries
    ],
)
def test_strongest_pair(pattern: list[list[float]], pair: tuple[int, int]) -> None:
    array = np.array(pattern)
    array.flags.writeable = False
    assert strongest_pair(array) == pair
