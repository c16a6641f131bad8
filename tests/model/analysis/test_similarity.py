"""Protects the lesson on similarity: two vectors by hand, and the order of tokens."""

import math

import numpy as np
import pytest

from model.analysis.similarity import (
    compare,
    foot,
    nearest,
)

torch = pytest.importorskip("torch")


def test_the_foot_stands_at_a_right_angle_and_holds_the_product() -> None:
    a, b = np.array([3.0, 1.5]), np.array([-2.0, 2.5])
    point = foot(a, b)
    assert a @ (b - point) == pytest.approx(0, abs=1e-12)
    assert point @ a == pytest.approx(a @ b)


def test_two_vectors_are_compared() -> None:
    found = compare(np.array([3.0, 0.0]), np.array([1.0, math.sqrt(3)]))
    assert (found.product, *found.lengths) == pytest.approx((3, 3, 2))
    assert (found.cosine, found.degrees) == pytest.approx((0.5, 60))


def test_nearest_by_cosine_and_by_product_are_other_ones() -> None:
    """Row 1 points almost as row 0 does; row 2 is long; rows 3 and 4 are the same."""
    table = np.array([[1.0, 0.0], [0.9, 0.1], [5.0, 5.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    every, without_2 = np.ones(6, bool), np.arange(6) != 2
    by_cosine, by_product = (
        nearest(table, every, 0, k, by) for k, by in ((4, "cosine"), (2, "product"))
    )
    assert by_cosine.ids.tolist() == [0, 1, 2, 3], "of equal ones the first"
    assert by_cosine.values == pytest.approx([1, 0.9 / math.hypot(0.9, 0.1), math.sqrt(0.5), 0])
    assert by_product.ids.tolist() == [2, 0], "another may be more like it than it is itself"
    assert by_product.values.tolist() == [5, 1]
    assert by_product.lengths == pytest.approx([math.hypot(5, 5), 1])
    assert nearest(table, without_2, 0, 2, "product").ids.tolist() == [0, 1]
    assert nearest(table, without_2, 2, 2, "product").ids.tolist() == [2, 0], "itself is there"
