"""The scores of one query as sums of what parts of it make with parts of each key."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.why.sides import Sides
from model.analysis.writers import Writer
from model.trace import AttentionRecord

Array = np.ndarray
MISSES = 5e-6  # of the largest score of a row: so much may the sum miss what ran
ROUNDING = 1e-6  # of the longest query times the longest key: what float32 leaves of a product


@dataclass(frozen=True, eq=False)
class Scores:
    """One row of scores, before a soft cap, and the softmax that the run makes of such a row."""

    record: AttentionRecord
    head: int
    query: int

    @cached_property
    def seen(self) -> Array:
        """Which keys the query may attend to, (Tk,) bool."""
        return self.record.mask_of(self.head)[self.query]

    @cached_property
    def added(self) -> Array:
        """What is added to the products, such as ALiBi's bias, (Tk,)."""
        bias = self.record.bias
        return (
            np.zeros(len(self.seen)) if bias is None else bias[self.head][self.query].astype(float)
        )

    def bent(self, scores: Array) -> Array:
        """Behind the soft cap, which comes after the sum. (Tk,)."""
        cap = self.record.softcap
        return scores if cap is None else cap * np.tanh(scores / cap)

    def weights(self, scores: Array) -> Array:
        """The row of weights (Tk,), with the head's sink where it has one."""
        return self.record.weighted(self.bent(scores), self.head, self.seen)

    def check(self, scores: Array) -> None:
        """ValueError where sums (Tk,), before a soft cap, are not the scores that ran."""
        ran = np.asarray(self.record.scores[self.head][self.query], float)
        off = np.abs(self.bent(scores) - ran)[self.seen].max()
        q, k = self.record.q[self.head][self.query], self.record.k[self.record.kv_head(self.head)]
        longest = np.linalg.norm(q) * np.linalg.norm(k[self.seen], axis=-1).max()
        most = max(MISSES * np.abs(ran[self.seen]).max(), ROUNDING * self.record.scale * longest)
        if not off <= most:
            raise ValueError(
                f"the parts of this model add up to a score that is {off:.2g} off what ran; so "
                "nothing is said of why it looks there"
            )


@dataclass(frozen=True, eq=False)
class Row:
    """One row taken apart: terms (Wq, Wk, Tk), of each part of the query with each of a key."""

    of: Scores
    asking: tuple[Writer, ...]
    asked: tuple[Writer, ...]
    terms: Array

    @cached_property
    def scores(self) -> Array:
        """Their sums with what is added, (Tk,)."""
        return self.terms.sum(axis=(0, 1)) + self.of.added

    def without(self, asking: int | None, asked: int | None) -> Array:
        """The row of weights without a pair of parts, or without a part of one side."""
        return self.of.weights(self.scores - self.terms[_one(asking), _one(asked)].sum(axis=(0, 1)))


@dataclass(frozen=True, eq=False)
class OneSide:
    """One row by who wrote one side: terms (W, Tk), each with the whole of the other side."""

    of: Scores
    writers: tuple[Writer, ...]
    terms: Array

    @cached_property
    def scores(self) -> Array:
        """Their sums with what is added, (Tk,)."""
        return self.terms.sum(axis=0) + self.of.added

    def without(self, number: int) -> Array:
        """The row of weights without what one of them wrote."""
        return self.of.weights(self.scores - self.terms[number])


def row_of(sides: Sides, of: Scores) -> Row:
    """A row of one head as parts of the query × parts of the keys."""
    q, k = _vectors(sides, of)
    terms = of.record.scale * np.einsum("ad,btd->abt", q, k, optimize=True)
    return Row(of, sides.asking, sides.asked, terms)


def by_side(sides: Sides, of: Scores) -> tuple[OneSide, OneSide]:
    """A row of one head by who wrote the query, and by who wrote the keys."""
    q, k = _vectors(sides, of)
    scale = of.record.scale
    query = OneSide(of, sides.asking, scale * q @ k.sum(axis=0).T)
    keys = OneSide(of, sides.asked, scale * k @ q.sum(axis=0))
    return query, keys


def _one(number: int | None) -> slice:
    return slice(None) if number is None else slice(number, number + 1)


def _vectors(sides: Sides, of: Scores) -> tuple[Array, Array]:
    """The parts of one query (Wq, Dh) and of all keys (Wk, Tk, Dh) of a head."""
    q = sides.q[:, of.head, of.query].numpy()
    return q, sides.k[:, of.record.kv_head(of.head)].numpy()
