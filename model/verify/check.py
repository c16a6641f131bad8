"""One check: a name, the worst error found, and the error it must not exceed."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Check:
    """One identity, the worst error found, and the error it must not exceed.

    Errors are the largest absolute difference, divided by the largest value involved where that
    is above one, so that a large residual stream is not blamed for float32's own rounding.
    """

    name: str
    error: float
    bound: float

    @property
    def passed(self) -> bool:
        """Whether the error is within the bound; NaN never is."""
        return self.error <= self.bound


@dataclass(frozen=True)
class Finding:
    """Something found of a model, in words; `is_off` where it is not as it should be."""

    text: str
    is_off: bool = False


def worst(checks: Iterable[Check]) -> Check:
    """The check to show on a badge: a failed one if there is any, else the largest error."""
    return max(checks, key=lambda item: (not item.passed, item.error))


def relative_error(actual: np.ndarray, expected: np.ndarray) -> float:
    """max |actual − expected| / max(1, max |expected|); infinite where anything is not finite."""
    are_finite = np.isfinite(actual).all() and np.isfinite(expected).all()
    if actual.shape != expected.shape or not are_finite:
        return math.inf
    difference = np.abs(actual.astype(np.float64) - expected).max(initial=0.0)
    return float(difference / max(1.0, np.abs(expected).max(initial=0.0)))
