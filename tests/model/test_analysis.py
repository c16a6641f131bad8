"""Protects what is asked of a finished trace: masking in three ways, similarity of positions."""

import math

import numpy as np
import pytest

from model.analysis import cosine_similarity, masking_alternatives
from tests.model.builders import tiny_model, tiny_trace

LOG3 = math.log(3)


def test_masking_in_three_ways_by_hand() -> None:
    """Weights 3, 1, 4 of which the last is hidden; −inf, a score of 0, and a zero after."""
    scores = np.array([[LOG3, 0.0, math.log(4)]], dtype=np.float32)
    ways = masking_alternatives(scores, np.array([[True, True, False]]))
    np.testing.assert_allclose(ways["before"], [[3 / 4, 1 / 4, 0]], atol=1e-6)
    np.testing.assert_allclose(ways["score_zero"], [[3 / 5, 1 / 5, 1 / 5]], atol=1e-6)
    np.testing.assert_allclose(ways["after"], [[3 / 8, 1 / 8, 0]], atol=1e-6)
    assert ways.keys() == {"before", "score_zero", "after"}


def test_masking_before_is_what_the_model_does() -> None:
    record = tiny_trace(tiny_model(position="alibi")).attention[1]
    for head in range(3):
        ways = masking_alternatives(record.scores[head], record.mask)
        np.testing.assert_allclose(ways["before"], record.pattern[head], atol=1e-6)
        assert (ways["after"].sum(axis=-1)[:-1] < 1).all()
        np.testing.assert_allclose(ways["score_zero"].sum(axis=-1), 1, atol=1e-6)


def test_similarity_by_hand() -> None:
    similarity = cosine_similarity(np.array([[1.0, 0], [3, 3], [0, -2], [0, 0]]))
    root = math.sqrt(0.5)
    expected = [[1, root, 0, 0], [root, 1, -root, 0], [0, -root, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(similarity, expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_similarity_knows_no_length(scale: float) -> None:
    x = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    scaled = cosine_similarity(x * np.float32(scale))
    np.testing.assert_allclose(scaled, cosine_similarity(x), atol=1e-6)
