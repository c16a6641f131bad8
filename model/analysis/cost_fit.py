"""What times of a model say: how they grow with length, and operations a second; with the spread.

Least squares of relative errors: a time of 10 ms counts as one of 100 ms, for the noise of a clock
grows with what it times.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
QUARTILES = (25, 75)


def by_length(lengths: Array | Sequence[int]) -> Array:
    """1, n and n² of each length, (N, 3): starting, what each token takes, what each pair takes."""
    n = np.asarray(lengths, dtype=float)
    return np.stack([np.ones_like(n), n, n * n], axis=-1)


def by_operations(operations: Array | Sequence[int]) -> Array:
    """1 and the operations, (N, 2): starting, and seconds an operation."""
    counts = np.asarray(operations, dtype=float)
    return np.stack([np.ones_like(counts), counts], axis=-1)


def fitted(terms: Array, seconds: Array) -> Array:
    """What each term is multiplied with, (p,), so that Σ ((terms · x − t) / t)² is least.

    terms: (N, p), seconds: (N,). ValueError where there are fewer times than terms.
    """
    if len(terms) < terms.shape[1]:
        raise ValueError(
            f"{len(terms)} lengths cannot fix {terms.shape[1]} numbers; measure at least "
            f"{terms.shape[1]}"
        )
    sizes = np.abs(terms).max(axis=0)  # n² is large beside 1
    factors, *_ = np.linalg.lstsq(terms / sizes / seconds[:, None], np.ones(len(terms)), rcond=None)
    return factors / sizes


def explained(seconds: Array, by_fit: Array) -> float:
    """R²: 1 less the share of the times' variance that a fit leaves. seconds, by_fit: (N,)."""
    left, all_of_it = ((seconds - by_fit) ** 2).sum(), ((seconds - seconds.mean()) ** 2).sum()
    return float(1 - left / all_of_it)


@dataclass(frozen=True)
class Fit:
    """A fit to the medians of several rounds, and how far fits to single rounds are apart.

    coefficients: (p,). `each` are those of every round by itself, (R, p).
    """

    coefficients: Array
    each: Array
    r_squared: float

    def at(self, terms: Array) -> Array:
        """Seconds by the fit. terms: (G, p). Returns (G,)."""
        return terms @ self.coefficients

    def between(self, terms: Array) -> Array:
        """Quartiles of what the fits of single rounds say, (2, G)."""
        return np.percentile(self.each @ terms.T, QUARTILES, axis=0)


def fit_rounds(terms: Array, rounds: Array) -> Fit:
    """Fit the medians, and each round by itself. terms: (N, p), rounds: seconds, (R, N)."""
    medians = np.median(rounds, axis=0)
    coefficients = fitted(terms, medians)
    return Fit(
        coefficients,
        np.stack([fitted(terms, seconds) for seconds in rounds]),
        explained(medians, terms @ coefficients),
    )
