"""Protects the fits to measured times: what is put in comes out, and once more in fractions."""

import numpy as np
import pytest

from model.analysis.cost_fit import by_length, by_operations, fit_rounds, fitted

LENGTHS = (32, 64, 96, 160, 192, 224)


@pytest.mark.parametrize("degree", [1, 2])
def test_fits_of_noisy_rounds_are_those_of_numpys_polynomials(degree: int) -> None:
    """Weights 1 / t make its squares relative.

    A solver is off by N·p·κ² · 2⁻⁵³ of all numbers (Higham 2002, §20.1), and there are two of them;
    κ is that of columns of length 1, N times, p numbers.
    """
    n = np.array(LENGTHS, float)
    terms = (by_operations, by_length)[degree - 1](LENGTHS)
    noise = np.random.default_rng(5).uniform(0.7, 1.6, (7, len(n)))
    rounds = noise * (2e-3 + 3e-5 * n + 4e-8 * n * n)
    found, medians, each = fit_rounds(terms, rounds), np.sort(rounds, axis=0)[3], []
    for ours, seconds in zip((*found.each, found.coefficients), (*rounds, medians), strict=True):
        each.append(np.polyfit(n, seconds, degree, w=1 / seconds)[::-1])
        relative = terms / seconds[:, None]
        lengths = np.linalg.norm(relative, axis=0)
        exact = terms.size * np.linalg.cond(relative / lengths) ** 2 * 2**-52
        off = np.linalg.norm((ours - each[-1]) * lengths)
        assert off <= exact * np.linalg.norm(each[-1] * lengths)
    *each, whole = each
    drawn = sorted(sum(x * 50.0**power for power, x in enumerate(one)) for one in each)
    quartiles = [(drawn[1] + drawn[2]) / 2, (drawn[4] + drawn[5]) / 2]  # between 7 values
    at = (by_operations, by_length)[degree - 1]([50])
    assert found.between(at)[:, 0] == pytest.approx(quartiles, rel=1e-9)
    off = medians - np.polyval(whole[::-1], n)
    assert found.r_squared == pytest.approx(1 - off @ off / (len(n) * medians.var()), rel=1e-9)


def test_too_few_lengths_are_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match="2 lengths cannot fix 3 numbers"):
        fitted(by_length([4, 8]), np.ones(2))
