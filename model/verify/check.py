"""One check: a name, the worst error found, and the error it must not exceed."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

WHOLE = 1e6  # below which a whole number is written out
AT_ONCE = 4_000_000  # numbers compared in float64; of a long text all logits are 50 million


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
    """Something found of a model, in words; `is_off` where it is not as it should be.

    `is_said` on every page, since it changes what stands there.
    """

    text: str
    is_off: bool = False
    is_said: bool = False


def worst(checks: Iterable[Check]) -> Check:
    """The check to show on a badge: a failed one if there is any, else the largest error."""
    return max(checks, key=lambda item: (not item.passed, item.error))


def in_digits(value: float, places: int = 1) -> str:
    """An error or a bound as it is printed: a count as one, else so many digits after the first."""
    is_whole = value < WHOLE and float(value).is_integer()
    return f"{value:,.0f}" if is_whole else f"{value:.{places}e}"


def relative_error(actual: np.ndarray, expected: np.ndarray) -> float:
    """max |actual − expected| / max(1, max |expected|); infinite where anything is not finite."""
    if actual.shape != expected.shape:
        return math.inf
    difference, largest = 0.0, 1.0
    n_pieces = 1 + actual.size // AT_ONCE
    pieces = (np.array_split(np.atleast_1d(x), n_pieces) for x in (actual, expected))
    for one, other in zip(*pieces, strict=True):
        if not (np.isfinite(one).all() and np.isfinite(other).all()):
            return math.inf
        apart = np.abs(one.astype(np.float64) - other).max(initial=0.0)
        difference, largest = max(difference, apart), max(largest, np.abs(other).max(initial=0.0))
    return float(difference / largest)
