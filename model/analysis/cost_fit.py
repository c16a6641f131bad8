"""What times of a model say: how they grow with length, and operations a second; with the spread.

Least squares of relative errors: a time of 10 ms counts as one of 100 ms, for the noise of a clock
grows with what it times.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.polynomial import polyfit, polyval

from model.analysis.cost_timing import PASS, Counted
from model.analysis.sizes import Shape, pass_operations
from model.analysis.timing import Timing, rounds, spread

Array = np.ndarray
QUARTILES = (25, 75)
N_PLACES = 41  # of the curves
FLOAT32 = 4  # bytes


@dataclass(frozen=True)
class Fit:
    """A polynomial through the medians of several rounds, and those through each round by itself.

    coefficients: (p,), of the lowest power first; each: (R, p).
    """

    coefficients: Array
    each: Array
    r_squared: float

    def at(self, x: Array | Sequence[int]) -> Array:
        """Seconds by the fit, and quartiles of what those of single rounds say, (3, G)."""
        between = np.percentile(polyval(np.asarray(x), self.each.T), QUARTILES, axis=0)
        return np.stack([polyval(np.asarray(x), self.coefficients), *between])


def fit_rounds(x: Array | Sequence[int], rounds: Array, degree: int) -> Fit:
    """Fit the medians, and each round by itself, so that Σ ((fit − t) / t)² is least.

    x: lengths or operations, (N,), rounds: seconds, (R, N). R² is 1 less the share of the medians'
    variance that the fit leaves. ValueError where there are fewer times than coefficients.
    """
    if len(x) <= degree:
        raise ValueError(
            f"{len(x)} lengths cannot fix {degree + 1} numbers; measure at least {degree + 1}"
        )
    medians = np.median(rounds, axis=0)
    middle, *each = (polyfit(x, seconds, degree, w=1 / seconds) for seconds in (medians, *rounds))
    left = ((medians - polyval(np.asarray(x), middle)) ** 2).mean()
    return Fit(middle, np.stack(each), float(1 - left / medians.var()))


@dataclass(frozen=True, eq=False)
class Measured:
    """One whole measurement: every round, the length left out, what torch counted, both fits."""

    shape: Shape
    rounds: dict[int, list[float]]  # by length, the one that was left out last
    counted: dict[int, Counted]
    spread: float
    by_length: Fit
    by_work: Fit

    @classmethod
    def of(cls, shape: Shape, asked: int, timings: Sequence[Timing]) -> "Measured | None":
        """None where it was stopped before the length left out was timed."""
        passes = rounds(timings, PASS)
        if asked not in passes:
            return None
        again = passes.pop(asked)
        seconds = np.array(list(passes.values())).T  # (R, N)
        return cls(
            shape,
            {**passes, asked: again},
            {item.n_tokens: item for item in timings if isinstance(item, Counted)},
            spread([*passes.values(), again]),
            fit_rounds(list(passes), seconds, degree=2),
            fit_rounds([pass_operations(shape, n) for n in passes], seconds, degree=1),
        )

    @property
    def lengths(self) -> list[int]:
        """Those of the fits, and last the one that was left out."""
        return list(self.rounds)

    @property
    def places(self) -> list[int]:
        """Where curves are drawn: whole numbers of tokens."""
        ends = min(self.lengths), max(self.lengths)
        return sorted(set(np.linspace(*ends, N_PLACES).round().astype(int).tolist()))

    def curves(self, places: Sequence[int]) -> Array:
        """What both fits say at places, and quartiles over rounds, in ms, (2, 3, G)."""
        work = [pass_operations(self.shape, n) for n in places]
        return 1000 * np.stack([self.by_length.at(places), self.by_work.at(work)])

    @property
    def predicted(self) -> Array:
        """What both fits say of the length left out, and quartiles over rounds, in ms, (2, 3)."""
        return self.curves(self.lengths[-1:])[..., 0]

    @property
    def quartiles(self) -> Array:
        """Lower quartile, median and upper one at each of `lengths` in milliseconds, (3, N + 1)."""
        every = self.rounds.values()
        return 1000 * np.array([np.percentile(times, (25, 50, 75)) for times in every]).T

    def apart(self, n_tokens: int) -> float:
        """By which share the operations from the sizes are off those that torch counted."""
        counted = self.counted[n_tokens].operations
        return abs(pass_operations(self.shape, n_tokens) / counted - 1)

    def maps(self, n_tokens: int) -> int:
        """Bytes of all maps by the sizes, n² a head, numbers of four bytes."""
        return FLOAT32 * self.shape.n_attentions * self.shape.n_heads * n_tokens**2

    @property
    def rates(self) -> Array:
        """Operations a second at each of `lengths`, (N + 1,)."""
        work = np.array([pass_operations(self.shape, n) for n in self.lengths])
        return work / (self.quartiles[1] / 1000)
