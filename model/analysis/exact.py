"""Many numbers, each by a run of its own: estimated all at once, then exact from the largest down.

A gradient says to first order what each run would give (Nanda 2023; Syed et al. 2023). Which exact
values are wanted first follows from that, and from where a person points.
"""

import time
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from model.device import one_thread
from model.work import Work

SOON = 0.3  # seconds within which a batch grows: whoever points at a cell waits for one before it
FIRST = 4  # cells of the first batch
PACES = 3  # batches whose median says how long the rest takes


class Filling(Work):
    """Estimates of cells, and the exact values so far, NaN where there is none yet; (N,) each.

    Cells that change one `place` make a batch, of at most `at_once`. `compute` gives the exact
    values of some cells of one place, by their numbers. Without an estimate, NaN, cells come last,
    in their order. base: what a cell is that changes nothing.
    """

    def __init__(
        self,
        estimate: np.ndarray,
        places: Sequence[Hashable],
        compute: Callable[[Sequence[int]], np.ndarray],
        at_once: int,
        base: float = 0.0,
    ) -> None:
        self.estimate, self.exact = estimate, np.full(len(estimate), np.nan)
        self.places, self.compute, self.at_once = places, compute, max(1, at_once)
        self.is_known = np.zeros(len(estimate), bool)
        self._order = np.argsort(-np.abs(estimate - base), kind="stable").tolist()
        self._paces: list[float] = []  # seconds for a cell, of each batch
        self._size = min(FIRST, self.at_once)

    @property
    def values(self) -> np.ndarray:
        """The exact value of each cell, or its estimate while there is none."""
        return np.where(self.is_known, self.exact, self.estimate)

    @property
    def n_done(self) -> int:
        """Cells that are exact."""
        return int(self.is_known.sum())

    @property
    def is_done(self) -> bool:
        """Whether all are."""
        return bool(self.is_known.all())

    @property
    def progress(self) -> float:
        """How many of them are, 0 to 1."""
        return self.n_done / max(1, len(self.exact))

    @property
    def seconds_left(self) -> float:
        """As long as the rest takes at the usual pace of late; NaN while too few are known.

        The first batches are small, and what runs for the first time is slow.
        """
        left = len(self.exact) - self.n_done
        known = len(self._paces) >= PACES or not left
        return left * float(np.median(self._paces[-PACES:])) if known and self._paces else np.nan

    @property
    def correlation(self) -> float:
        """Spearman's ρ of estimate and exact, over the cells that have both."""
        both = np.isfinite(self.exact) & np.isfinite(self.estimate)
        return spearman(self.estimate[both], self.exact[both])

    def take(self, cells: Sequence[int] | np.ndarray, exact: np.ndarray | float) -> None:
        """These cells are known now."""
        self.exact[cells], self.is_known[cells] = exact, True

    def point(self, cell: int) -> None:
        """Compute one cell now, whether it runs or not."""
        if not self.is_known[cell]:
            with one_thread():
                self.take([cell], self.compute([cell]))

    def go_on(self) -> bool:
        """Compute a batch: the largest cell that is left, and the next largest of its place."""
        self._order = [cell for cell in self._order if not self.is_known[cell]]
        place = self.places[self._order[0]]
        alike = [cell for cell in self._order if self.places[cell] == place]
        batch, begun = alike[: self._size], time.monotonic()
        self.take(batch, self.compute(batch))
        seconds = time.monotonic() - begun
        if seconds < SOON:
            self._size = min(2 * self._size, self.at_once)
        elif seconds > 2 * SOON:
            self._size = max(1, len(batch) // 2)
        self._paces.append(seconds / len(batch))
        return not self.is_done


def ranks(values: np.ndarray) -> np.ndarray:
    """The place of each value from 0, the smallest first; equal ones share the mean. (n,)."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts + 1) / 2)[inverse]


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation ρ; NaN where all of one are equal. (n,) each."""
    x, y = ranks(np.asarray(first).ravel()), ranks(np.asarray(second).ravel())
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])
