"""Protects the lesson on √d: variance d, and what softmax makes of it."""

import numpy as np
import pytest

from model.analysis.saturation import (
    DIMENSIONS,
    N_KEYS,
    N_QUERIES,
    random_products,
    sharpness,
    variance,
)
from model.worked_out import softmax


@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_variance_of_a_dot_product_is_the_dimension(d: int) -> None:
    """To five standard deviations of the mean of so many products that share a query."""
    found = variance(random_products(d, seed=1))
    deviation = d * np.sqrt(2 / N_QUERIES * (1 / N_KEYS + (2 + 1 / N_KEYS) / d))
    assert abs(found - d) < 5 * deviation


def test_the_gradient_is_the_size_of_the_jacobian_by_differences() -> None:
    scores = np.array([[0.3, -1.0, 2.0, 0.1]])
    step = 1e-6
    columns = [
        (softmax(scores + step * row) - softmax(scores - step * row))[0] / (2 * step)
        for row in np.eye(4)
    ]
    assert sharpness(softmax(scores)).gradient == pytest.approx(np.linalg.norm(columns), rel=1e-6)
