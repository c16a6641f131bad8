"""Attention on numbers written by hand, worked out once more: one cell after the other.

Asked for by address: hand.q, hand.k, hand.v, hand.out, hand.products, hand.scores, hand.masked and
hand.weights (each T × T of a head) and hand.z (T × Dv/H), as hand.weights.1 for head 1, and
hand.output.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Rows = Sequence[Sequence[float]]
STEPS = ("products", "scores", "masked", "weights", "z", "output")


@dataclass(frozen=True, eq=False)
class IndependentByHand:
    """The numbers of a `model.analysis.worked.Example`, by the same names."""

    q: Rows
    k: Rows
    v: Rows
    out: Rows
    n_heads: int
    masking: str
    n_valid: int
    is_scaled: bool

    def array(self, address: str) -> Array:
        """An array, or in brackets one number of it. ValueError where there is none."""
        name, _, part = address.rstrip("]").partition("[")
        try:
            found = self._named(name)
            return found[tuple(map(int, part.split(",")))] if part else found
        except (KeyError, ValueError, IndexError):
            raise ValueError(f"there is nothing at {address}") from None

    def labels(self, stream: int = -1) -> list[str | None]:
        """Rows are numbered: nothing was typed."""
        return [str(i + 1) for i in range(len(self.q))]

    def texts(self, wanted: Sequence[int]) -> list[str | None]:
        """There is no vocabulary."""
        raise ValueError(f"no vocabulary, so nothing that {len(wanted)} ids stand for")

    def _named(self, name: str) -> Array:
        first, _, rest = name.removeprefix("hand.").partition(".")
        if not rest and first in ("q", "k", "v", "out"):
            return np.array(getattr(self, first), float)
        if first == "output" and not rest:
            return self._output()
        head = int(rest)
        if first not in STEPS[:-1] or not 0 <= head < self.n_heads:
            raise KeyError(name)
        return np.array(getattr(self, f"_{first}")(head), float)

    def _columns(self, rows: Rows, head: int) -> list[list[float]]:
        """What a head has of each row."""
        width = len(rows[0]) // self.n_heads
        return [list(row[head * width : (head + 1) * width]) for row in rows]

    def _products(self, head: int) -> list[list[float]]:
        queries, keys = self._columns(self.q, head), self._columns(self.k, head)
        return [[math.fsum(map(float.__mul__, q, k)) for k in keys] for q in queries]

    def _scores(self, head: int) -> list[list[float]]:
        by = math.sqrt(len(self.q[0]) / self.n_heads) if self.is_scaled else 1.0
        return [[product / by for product in row] for row in self._products(head)]

    def _is_open(self, query: int, key: int) -> bool:
        if self.masking == "causal":
            return key <= query
        return key < self.n_valid if self.masking == "valid" else True

    def _masked(self, head: int) -> list[list[float]]:
        return [
            [score if self._is_open(i, j) else -math.inf for j, score in enumerate(row)]
            for i, row in enumerate(self._scores(head))
        ]

    def _weights(self, head: int) -> list[list[float]]:
        found = []
        for row in self._masked(head):
            top = max(row)
            powers = [math.exp(s - top) if s > -math.inf else 0.0 for s in row]
            total = math.fsum(powers) or 1.0  # with every key hidden there is nothing to share out
            found.append([power / total for power in powers])
        return found

    def _z(self, head: int) -> list[list[float]]:
        values = self._columns(self.v, head)
        return [
            [math.fsum(w * value[d] for w, value in zip(row, values, strict=True))
             for d in range(len(values[0]))]
            for row in self._weights(head)
        ]  # fmt: skip

    def _output(self) -> Array:
        if not self.out:
            raise KeyError("output")
        heads = [self._z(head) for head in range(self.n_heads)]
        rows = [[x for z in heads for x in z[i]] for i in range(len(self.q))]
        return np.array(
            [
                [math.fsum(x * w[d] for x, w in zip(row, self.out, strict=True))
                 for d in range(len(self.out[0]))]
                for row in rows
            ]
        )  # fmt: skip
