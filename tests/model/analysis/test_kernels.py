"""Protects the lesson on kernels: weighted means, and distance as a dot product."""

import numpy as np
import pytest

from model.analysis.kernels import (
    Points,
    estimate,
    gaussian_attention,
    kernel_weights,
    moved_weight,
)
from model.attention import attention_pattern, attention_scores


def test_three_points_by_hand() -> None:
    """Triangular, width 2, at 1: heights 1/2, 1 and 1/2, so weights 1/4, 1/2 and 1/4."""
    points = Points(np.array([0.0, 1.0, 2.0]), np.array([4.0, 8.0, 0.0]))
    assert estimate(np.array([1.0]), points, "triangular", 2.0)[0] == 5.0
    assert kernel_weights(np.array([1.0]), points.x, "epanechnikov", 2.0).tolist() == [
        [0.3, 0.4, 0.3]
    ]


def test_where_nothing_is_in_reach_there_is_no_answer() -> None:
    points = Points(np.array([0.0]), np.array([4.0]))
    assert np.isnan(estimate(np.array([3.0]), points, "boxcar", 1.0)[0])


def test_distance_is_a_dot_product_where_keys_are_of_one_length() -> None:
    torch = pytest.importorskip("torch")
    angles = np.array([0.1, 1.0, 2.5, 4.0])
    keys = 2 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    queries = np.array([[0.3, -1.0], [2.0, 0.5], [0.0, 0.0], [1.0, 1.0]])
    mask = np.tril(np.ones((4, 4), bool))
    by_distance = gaussian_attention(queries, keys, mask)
    q, k = (torch.tensor(x)[None, None] for x in (queries, keys))
    by_product = attention_pattern(attention_scores(q, k), torch.tensor(mask))[0, 0].numpy()
    np.testing.assert_allclose(by_distance, by_product, atol=1e-12)
    assert moved_weight(by_distance, by_product) < 1e-12
    assert moved_weight(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])) == 1
