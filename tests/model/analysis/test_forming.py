"""Protects when a head is said to have formed, and the scores that says it, one step at a time."""

import numpy as np
import pytest

from model.analysis.forming import Formed, formed, frame_induction

NAMED, NOT = 0.5, 0.1  # scores above and below what a head is named from


def test_a_step_has_the_weight_after_earlier_copies_of_each_head() -> None:
    weights = np.random.default_rng(0).random((2, 3, 5, 5)).astype(np.float16)
    scores = frame_induction(weights, np.tri(5, dtype=bool), [*"abcab"])
    after = np.float32(weights)[..., [3, 4], [1, 2]]  # a, b come again: b, c came after them
    assert scores == pytest.approx(after.mean(axis=-1))


def test_no_token_that_comes_again_has_no_score() -> None:
    scores = frame_induction(np.ones((1, 2, 3, 3)), np.tri(3, dtype=bool), [*"abc"])
    assert scores.shape == (1, 2) and np.isnan(scores).all()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([[NOT, NOT], [NOT, NAMED]], Formed(1, (0, 1))),
        ([[NAMED, NOT], [NOT, NOT], [NAMED, NOT]], Formed(2, (0, 0))),  # lost, and found for good
        ([[NAMED, NAMED], [NAMED, 0.9]], Formed(0, (0, 1))),  # of two the strongest at last
        ([[NOT, NAMED], [0.9, NAMED]], Formed(0, (0, 1))),  # not one that came later
        ([[NAMED, NAMED], [NOT, NOT]], None),
        ([[np.nan, NOT]], None),
    ],
)
def test_the_first_that_stays_named_has_formed(
    steps: list[list[float]], expected: Formed | None
) -> None:
    assert formed(np.array(steps)[:, None]) == expected
