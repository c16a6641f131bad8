"""Protects the error function that the independent run has: it is that of the standard library."""

import math

import numpy as np

from model.verify.erf import FAR, NEAR, erf


def test_each_value_is_that_of_the_standard_library() -> None:
    edges = [edge * (1 + step * 1e-15) for edge in (NEAR, FAR) for step in (-3, 0, 3)]
    x = np.concatenate([np.linspace(-9, 9, 20011), edges, [0.0, -0.0, 1e-300, 40.0, -700.0]])
    expected = np.array([math.erf(value) for value in x])
    np.testing.assert_allclose(erf(x), expected, rtol=1e-15, atol=0)


def test_shapes_stay() -> None:
    x = np.random.default_rng(0).normal(size=(3, 5, 7))
    np.testing.assert_array_equal(erf(x)[1, 4], erf(x[1, 4]))
