"""Protects the fits to measured times: least squares of relative errors, and their quartiles."""

import numpy as np
import pytest

from model.analysis.cost_fit import Measured, fit_rounds
from model.analysis.cost_timing import PASS
from model.analysis.sizes import pass_operations, shape_of
from model.analysis.timing import Timing
from tests.model.builders import tiny_config

LENGTHS = (32, 64, 96, 160, 192, 224)


@pytest.mark.parametrize("degree", [1, 2])
def test_fits_of_noisy_rounds_are_least_squares_of_relative_errors(degree: int) -> None:
    """A solver is off by N·p·κ² · 2⁻⁵³ of all numbers (Higham 2002, §20.1), and there are two.

    κ is that of columns of length 1, N times, p numbers.
    """
    n = np.array(LENGTHS, float)
    terms = n[:, None] ** np.arange(degree + 1)
    noise = np.random.default_rng(5).uniform(0.7, 1.6, (7, len(n)))
    rounds = noise * (2e-3 + 3e-5 * n + 4e-8 * n * n)
    found, medians, each = fit_rounds(LENGTHS, rounds, degree), np.sort(rounds, axis=0)[3], []
    for ours, seconds in zip((*found.each, found.coefficients), (*rounds, medians), strict=True):
        relative = terms / seconds[:, None]
        lengths = np.linalg.norm(relative, axis=0)
        expected = np.linalg.lstsq(relative / lengths, np.ones(len(n)), rcond=None)[0]
        exact = terms.size * np.linalg.cond(relative / lengths) ** 2 * 2**-52
        off = np.linalg.norm(ours * lengths - expected)
        assert off <= exact * np.linalg.norm(expected)
        each.append(expected / lengths)
    *each, whole = each
    drawn = sorted(sum(x * 50.0**power for power, x in enumerate(one)) for one in each)
    middle = sum(x * 50.0**power for power, x in enumerate(whole))
    quartiles = [(drawn[1] + drawn[2]) / 2, (drawn[4] + drawn[5]) / 2]  # between 7 values
    assert found.at([50])[:, 0] == pytest.approx([middle, *quartiles], rel=1e-9)
    off = medians - terms @ whole
    assert found.r_squared == pytest.approx(1 - off @ off / (len(n) * medians.var()), rel=1e-9)


def test_too_few_lengths_are_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match="2 lengths cannot fix 3 numbers"):
        fit_rounds([4, 8], np.ones((1, 2)), 2)


def test_times_of_a_constant_rate_are_predicted_from_the_operations() -> None:
    """Three rounds, the second twice as slow as the first; 128 tokens are left out."""
    shape, asked = shape_of(tiny_config()), 128
    work = {n: 1e-3 + 1e-9 * pass_operations(shape, n) for n in (*LENGTHS, asked)}
    timings = [Timing(PASS, n, k * s) for k in (1, 2, 3) for n, s in work.items()]
    measured = Measured.of(shape, asked, timings)
    assert measured is not None
    assert measured.by_work.coefficients == pytest.approx([2e-3, 2e-9])
    assert measured.by_work.r_squared == pytest.approx(1)
    assert measured.predicted[1] == pytest.approx(1000 * work[asked] * np.array([2, 1.5, 2.5]))
    assert measured.quartiles[:, -1] == pytest.approx(1000 * work[asked] * np.array([1.5, 2, 2.5]))
    assert measured.rates[-1] == pytest.approx(pass_operations(shape, asked) / (2 * work[asked]))
    quadratic = [
        Timing(PASS, n, k * (2 + 3e-2 * n + 5e-4 * n * n)) for k in (1, 2, 3) for n in work
    ]
    measured = Measured.of(shape, asked, quadratic)
    assert measured is not None
    assert measured.by_length.coefficients == pytest.approx([4, 6e-2, 1e-3])
    assert measured.predicted[0, 0] == pytest.approx(2000 * (2 + 3e-2 * asked + 5e-4 * asked**2))
