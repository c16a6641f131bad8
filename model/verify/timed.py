"""Times of a model fitted once more from the points on screen, in exact fractions.

The times themselves are read off a clock: nothing can check them. What is made of them can be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from model.reference import Files
from model.verify.named import Array, Made, Named
from model.verify.texts import Vocabulary
from model.verify.weighed import pass_of

Row = Sequence[Fraction]


@dataclass(frozen=True, eq=False)
class IndependentTimes(Named):
    """What a measurement of passes says.

    rounds: seconds (R, N) at `lengths`; again: seconds of the length `asked`, (R,). Curves are
    drawn at `places`.
    """

    files: Files
    vocabulary: Vocabulary
    lengths: Sequence[int]
    rounds: Array
    asked: int
    again: Array
    places: Sequence[int]

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return self.vocabulary

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        return ()

    def made(self) -> Made:
        """See `Named`."""
        places = self.places
        found: dict[str, Callable[[], Array]] = {
            "timed.medians": lambda: np.array([_middle(x, 2, 4) for x in self.rounds.T]) * 1000,
            "timed.low": lambda: np.array([_middle(x, 1, 4) for x in self.rounds.T]) * 1000,
            "timed.high": lambda: np.array([_middle(x, 3, 4) for x in self.rounds.T]) * 1000,
            "timed.asked": lambda: np.array([_middle(self.again, i, 4) for i in (2, 1, 3)]) * 1000,
            "timed.rates": self._rates,
            "timed.rate": lambda: np.array(
                float(1 / _least(self._at(self._by_work, self.lengths), self._middles)[1])
            ),
            "timed.off": lambda: self._predicted()[:, 0] / (_middle(self.again, 2, 4) * 1000) - 1,
            "timed.predicted": self._predicted,
        }
        for name, terms in (("length", self._by_length), ("work", self._by_work)):
            found |= {
                f"timed.{name}": lambda t=terms: self._curve(t, self._middles, places),
                f"timed.{name}_low": lambda t=terms: self._between(t, places)[0],
                f"timed.{name}_high": lambda t=terms: self._between(t, places)[1],
                f"timed.{name}_terms": lambda t=terms: _floats(
                    _least(self._at(t, self.lengths), self._middles)
                ),
                f"timed.{name}_explained": lambda t=terms: np.array(
                    self._explained(self._curve(t, self._middles, self.lengths))
                ),
            }
        return found

    @cached_property
    def _middles(self) -> list[float]:
        return [_middle(x, 2, 4) for x in self.rounds.T]

    @cached_property
    def _work(self) -> dict[int, Fraction]:
        """Operations of a pass over each length there is."""
        lengths = {*self.lengths, self.asked, *self.places}
        return {n: Fraction(pass_of(self.files, n)) for n in lengths}

    def _by_length(self, n: int) -> Row:
        return [Fraction(1), Fraction(n), Fraction(n) ** 2]

    def _by_work(self, n: int) -> Row:
        return [Fraction(1), self._work[n]]

    def _at(self, terms: Callable[[int], Row], places: Sequence[int]) -> list[Row]:
        return [terms(n) for n in places]

    def _curve(
        self, terms: Callable[[int], Row], seconds: Sequence[float], places: Sequence[int]
    ) -> Array:
        """Milliseconds of a fit to one time of each length, at these places."""
        found = _least(self._at(terms, self.lengths), seconds)
        sums = (sum(a * x for a, x in zip(terms(n), found, strict=True)) for n in places)
        return np.array([1000 * float(total) for total in sums])

    def _between(self, terms: Callable[[int], Row], places: Sequence[int]) -> Array:
        """The quartiles of the fits to single rounds, (2, places)."""
        curves = np.stack([self._curve(terms, seconds, places) for seconds in self.rounds])
        return np.array([[_middle(x, part, 4) for x in curves.T] for part in (1, 3)])

    def _predicted(self) -> Array:
        """Of the length asked for: by length and by operations, each with its quartiles, (2, 3)."""
        rows = []
        for terms in (self._by_length, self._by_work):
            (middle,) = self._curve(terms, self._middles, [self.asked])
            rows.append([middle, *self._between(terms, [self.asked])[:, 0]])
        return np.array(rows)

    def _explained(self, curve: Array) -> float:
        """1 − Σ (t − fit)² / Σ (t − mean)²."""
        times = [1000 * t for t in self._middles]
        mean = sum(times) / len(times)
        left = sum((t - f) ** 2 for t, f in zip(times, curve, strict=True))
        return 1 - left / sum((t - mean) ** 2 for t in times)

    def _rates(self) -> Array:
        """Operations a second at every length, and at the one asked for at last, (N + 1,)."""
        times = [*self._middles, _middle(self.again, 2, 4)]
        lengths = [*self.lengths, self.asked]
        return np.array([float(self._work[n]) / t for n, t in zip(lengths, times, strict=True)])


def _middle(values: Array, part: int, parts: int) -> float:
    """The value below which part / parts of them lie, between neighbours on a straight line."""
    ordered = sorted(map(float, values))
    place = Fraction(part * (len(ordered) - 1), parts)
    below = int(place)
    rest = float(place - below)
    above = ordered[min(below + 1, len(ordered) - 1)]
    return ordered[below] + rest * (above - ordered[below])


def _least(rows: Sequence[Row], seconds: Sequence[float]) -> list[Fraction]:
    """x for which Σ ((row · x − t) / t)² is least: the normal equations, by elimination."""
    weighted = [[a / Fraction(float(t)) for a in row] for row, t in zip(rows, seconds, strict=True)]
    size = len(weighted[0])
    table: list[list[Fraction]] = [
        [sum((row[i] * row[j] for row in weighted), Fraction(0)) for j in range(size)]
        + [sum((row[i] for row in weighted), Fraction(0))]
        for i in range(size)
    ]
    for i in range(size):
        pivot = next(row for row in range(i, size) if table[row][i])
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [value / table[i][i] for value in table[i]]
        for row in range(size):
            if row != i:
                factor = table[row][i]
                table[row] = [a - factor * b for a, b in zip(table[row], table[i], strict=True)]
    return [row[-1] for row in table]


def _floats(values: Sequence[Fraction]) -> Array:
    return np.array([float(value) for value in values])
