"""Protects the fits to measured times: what is put in comes out, and once more in fractions."""

import numpy as np
import pytest

from model.analysis.cost_fit import by_length, by_operations, explained, fit_rounds, fitted

LENGTHS = (32, 64, 96, 160, 192, 224)


def test_times_without_noise_give_their_own_numbers() -> None:
    terms = by_length(LENGTHS)
    seconds = terms @ np.array([3e-3, 2e-5, 7e-8])
    assert fitted(terms, seconds) == pytest.approx([3e-3, 2e-5, 7e-8], rel=1e-9)
    rate = by_operations([n * 1e7 for n in LENGTHS])
    start, each = fitted(rate, rate @ np.array([2e-3, 1 / 5e9]))
    assert (start, 1 / each) == (pytest.approx(2e-3), pytest.approx(5e9))


def test_relative_errors_count_the_same_at_every_length() -> None:
    """Two lengths and one number: t / n of both, weighted by nothing but themselves."""
    lengths, seconds = np.array([1.0, 100.0]), np.array([1.0, 300.0])
    (each,) = fitted(lengths[:, None], seconds)
    shares = lengths / seconds  # Σ (x · s − 1)² is least at Σ s / Σ s²
    assert each == pytest.approx(shares.sum() / (shares**2).sum())


def test_r_squared_is_one_for_a_fit_without_a_rest_and_zero_for_the_mean() -> None:
    seconds = np.array([1.0, 2.0, 4.0])
    assert explained(seconds, seconds) == 1
    assert explained(seconds, np.full(3, seconds.mean())) == pytest.approx(0)


def test_the_band_is_of_fits_to_single_rounds() -> None:
    terms = by_length(LENGTHS)
    base = terms @ np.array([1e-3, 1e-5, 1e-8])
    rounds = np.stack([base * factor for factor in (1.0, 1.1, 1.2, 1.3, 1.4)])
    found = fit_rounds(terms, rounds)
    np.testing.assert_allclose(found.at(terms), 1.2 * base, rtol=1e-9)
    np.testing.assert_allclose(found.between(terms), [1.1 * base, 1.3 * base], rtol=1e-9)
    assert found.r_squared == pytest.approx(1)


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
