"""A measurement of a model's passes, put together: every round, both fits, what torch counted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.cost_fit import Array, Fit, by_length, by_operations, fit_rounds
from model.analysis.cost_timing import ASKED, PASS, Counted, rounds
from model.analysis.sizes import Shape, pass_operations
from model.analysis.timing import Timing, spread

N_PLACES = 41  # of the curves
FLOAT32 = 4  # bytes


@dataclass(frozen=True, eq=False)
class Measured:
    """One whole measurement: every round, the length left out, what torch counted, both fits."""

    shape: Shape
    rounds: dict[int, list[float]]
    asked: int
    again: Sequence[float]
    counted: dict[int, Counted]
    spread: float
    by_length: Fit
    by_work: Fit

    @classmethod
    def of(cls, shape: Shape, timings: Sequence[Timing]) -> "Measured | None":
        """None where it was stopped before the length left out was timed."""
        passes, last = rounds(timings, PASS), rounds(timings, ASKED)
        if not last:
            return None
        ((asked, again),) = last.items()
        seconds = np.array(list(passes.values())).T  # (R, N)
        return cls(
            shape,
            passes,
            asked,
            again,
            {item.n_tokens: item for item in timings if isinstance(item, Counted)},
            spread([item for item in timings if item.way in (PASS, ASKED)]),
            fit_rounds(by_length(list(passes)), seconds),
            fit_rounds(by_operations([pass_operations(shape, n) for n in passes]), seconds),
        )

    @property
    def lengths(self) -> list[int]:
        """Those of the fits, and last the one that was left out."""
        return [*self.rounds, self.asked]

    @property
    def places(self) -> list[int]:
        """Where curves are drawn: whole numbers of tokens."""
        ends = min(self.lengths), max(self.lengths)
        return sorted(set(np.linspace(*ends, N_PLACES).round().astype(int).tolist()))

    def terms(self, places: Sequence[int]) -> tuple[Array, Array]:
        """What both fits multiply, at places."""
        work = [pass_operations(self.shape, n) for n in places]
        return by_length(places), by_operations(work)

    @property
    def fits(self) -> tuple[Fit, Fit]:
        """By length and by operations."""
        return self.by_length, self.by_work

    @property
    def quartiles(self) -> Array:
        """Lower quartile, median and upper one at each of `lengths` in milliseconds, (3, N + 1)."""
        every = [*self.rounds.values(), self.again]
        return 1000 * np.array([np.percentile(times, (25, 50, 75)) for times in every]).T

    @property
    def predicted(self) -> Array:
        """What both fits say of the length left out, and quartiles over rounds, in ms, (2, 3)."""
        rows = [
            [fit.at(terms)[0], *fit.between(terms)[:, 0]]
            for fit, terms in zip(self.fits, self.terms([self.asked]), strict=True)
        ]
        return 1000 * np.array(rows)

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
