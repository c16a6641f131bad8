"""A circuit as it comes in: edges estimated, the strongest exact, and what some of them keep."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from model.analysis.patching import Pair
from model.analysis.paths.edges import Edges, Exact
from model.analysis.paths.kept import Curve, Pruning
from model.analysis.paths.terms import Paths, paths
from model.work import Work

N_EXACT = 300
Value = TypeVar("Value")


class Circuit(Work):
    """All that is found of two texts, one part after the other; `now` is the one that is begun.

    all: every edge, estimated. curve: F of the k strongest. pruning: on request, fewer edges that
    keep as much.
    """

    def __init__(self, paths: Paths, n_exact: int = N_EXACT) -> None:
        """ValueError for texts that are too long for it."""
        self.paths, self.n_exact = paths, n_exact
        self.now: Work = Edges(paths)
        self.all = self.now
        self.curve = Curve(paths, self.all.edges[:0])
        self.pruning: Pruning | None = None
        self._strongest: Exact | None = None
        self._pruned: Exact | None = None

    @property
    def strongest(self) -> Exact:
        """The `n_exact` edges with the largest estimates so far, exact as far as they are."""
        return self._strongest or self._estimated(self.all.edges[: self.n_exact])

    @property
    def pruned(self) -> Exact:
        """The edges that pruning has left so far; none before it is begun."""
        left = self.pruning.edges if self.pruning else self.all.edges[:0]
        return self._pruned or self._estimated(left)

    @property
    def share(self) -> float | None:
        """F of what pruning has left so far."""
        return self.pruning.share if self.pruning else None

    @property
    def progress(self) -> float:
        """How much of the part is there, 0 to 1."""
        return self.now.progress

    def go_on(self) -> bool:
        """Do a piece of it; begin the next part where it is done."""
        self.now.advance(0)
        return not self.now.is_done or self._begin_next()

    def _begin_next(self) -> bool:
        """Whether there was a part to begin."""
        if self.now is self.all:
            self.now = self._strongest = self.strongest
        elif self.now is self._strongest:
            self.now = self.curve = Curve(self.paths, self.all.edges)
        elif self.now is self.pruning:
            self.now = self._pruned = self.pruned
        else:
            return False
        return True

    def _estimated(self, edges: np.ndarray) -> Exact:
        """Some of the edges; exact are those that are among the strongest, once these are."""
        of = _by_edge(self.all.edges, self.all.estimates.tolist())
        rows = list(map(tuple, edges.tolist()))
        found = Exact(self.paths, edges, np.array([of[edge] for edge in rows]))
        if self._strongest and self._strongest.is_done:
            exact, n = self._strongest, range(len(self._strongest.edges))
            known = _by_edge(exact.edges, n)
            for number, edge in enumerate(rows):
                if (at := known.get(edge)) is not None:
                    found.take([number], exact.exact[at])
                    found.cuts[number] = exact.cuts[at]
        return found

    def prune(self) -> None:
        """Look for fewer edges that keep as much, once the rest is done.

        ValueError where even the strongest thousands do not keep the difference.
        """
        if self.pruning is None:
            self.now = self.pruning = Pruning(self.paths, self.all.edges[: self.curve.enough])
        self.is_running, self.has_ended = True, False


def circuit_of(pair: Pair) -> Circuit:
    """Both texts run; no edge but those into the answer is estimated yet.

    ValueError where there is no circuit.
    """
    return Circuit(paths(pair))


def _by_edge(edges: np.ndarray, values: Sequence[Value]) -> dict[tuple[int, ...], Value]:
    return dict(zip(map(tuple, edges.tolist()), values, strict=True))
