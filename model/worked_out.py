"""Scores and patterns worked out from queries and keys, in numpy: in a check, or when looked at."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

ALL = slice(None)
Square = Literal["scores", "pattern"]
# What becomes of q·kᵀ on the way to the weights, in order; a layer has those that it needs. The
# last one but one is no change of a score: the sink is one key more in the softmax.
STAGES = ("scaled", "biased", "capped", "masked", "sunk", "weights")


def softmax(
    scores: np.ndarray, mask: np.ndarray | None = None, sink: float | np.floating = -np.inf
) -> np.ndarray:
    """Weights of each row over the keys that a mask leaves; rows that see nothing are zero. (…, n).

    sink: the score of one key more, whose share is missing from the weights.
    """
    weights = scores.copy() if mask is None else np.where(mask, scores, -np.inf)
    peak = np.maximum(weights.max(axis=-1, keepdims=True), sink)
    peak[~np.isfinite(peak)] = 0
    weights -= peak
    np.exp(weights, out=weights)
    total = weights.sum(axis=-1, keepdims=True) + np.exp(sink - peak)
    weights /= np.where(total > 0, total, 1)
    return weights


@dataclass(frozen=True, eq=False, kw_only=True)
class Attending:
    """What the scores and the pattern of one attention layer follow from.

    `mask` is bool, True = may attend, (Tq, Tk) for all heads or (H, Tq, Tk) where each has its own.
    Scores are scale · q·kᵀ + bias, before the mask; where there is a `softcap` c they are
    c · tanh of this / c (Gemma 2, 2024, §2). `sinks` (H,) are scores of one key more in each row,
    which has no value: its share is missing from the pattern (Xiao et al. 2024, §3.3). What is
    `further` done to scores or weights has a name and nothing here that says what it does.
    """

    q: np.ndarray  # (H, Tq, Dh)
    k: np.ndarray  # (n_kv_heads, Tk, Dh)
    scale: float
    bias: np.ndarray | None = None  # (H, Tq, Tk)
    mask: np.ndarray
    softcap: float | None = None
    sinks: np.ndarray | None = None
    further: tuple[str, ...] = ()

    @property
    def stages(self) -> tuple[str, ...]:
        """How the weights come about: names of `STAGES`, and of what is further done."""
        has = {
            "biased": self.bias is not None,
            "capped": self.softcap is not None,
            "sunk": self.sinks is not None,
        }
        return (*(name for name in STAGES if has.get(name, True)), *self.further)

    @property
    def n_heads(self) -> int:
        """Number of query heads."""
        return len(self.q)

    @property
    def has_usual_scale(self) -> bool:
        """Whether products are divided by √Dh (Vaswani et al. 2017, §3.2.1)."""
        return math.isclose(self.scale * math.sqrt(self.q.shape[-1]), 1, rel_tol=1e-6)

    def kv_head(self, head: int) -> int:
        """The key-value head that a query head reads (Ainslie et al. 2023)."""
        return head // (self.n_heads // len(self.k))

    def mask_of(self, head: int) -> np.ndarray:
        """The mask of one head, (Tq, Tk)."""
        return self.mask if self.mask.ndim == 2 else self.mask[head]

    def scores_of(
        self, head: int, queries: int | slice = ALL, dtype: type = np.float32
    ) -> np.ndarray:
        """The scores of one head, (Tq, Tk), or of some of its queries."""
        q, k = self.q[head][queries], self.k[self.kv_head(head)]
        products = q.astype(dtype, copy=False) @ k.astype(dtype, copy=False).T
        return self.scored(products, head, queries)

    def scored(self, products: np.ndarray, head: int, queries: int | slice = ALL) -> np.ndarray:
        """Scores of one head of other products than its own q·kᵀ, which are overwritten."""
        products *= self.scale
        scores = products if self.bias is None else products + self.bias[head][queries]
        cap = self.softcap
        return scores if cap is None else cap * np.tanh(scores / cap)

    def pattern_of(
        self, head: int, queries: int | slice = ALL, dtype: type = np.float32
    ) -> np.ndarray:
        """Softmax of one head's scores over the visible keys; rows that see nothing are zero."""
        scores = self.scores_of(head, queries, dtype)
        return self.weighted(scores, head, self.mask_of(head)[queries])

    def weighted(self, scores: np.ndarray, head: int, mask: np.ndarray) -> np.ndarray:
        """Softmax of scores over the keys that a mask leaves, and the head's sink. (Tq, Tk)."""
        sink = -np.inf if self.sinks is None else self.sinks[head].astype(scores.dtype)
        return softmax(scores, mask, sink)


@dataclass(frozen=True, eq=False)
class WorkedOut:
    """Scores or pattern of a layer that nobody kept, (H, Tq, Tk) float32, in place of an array.

    They are worked out of what is `given` when they are looked at, no more of them than is asked
    for: `x[head]`, `x[:, query]`. As a whole, `np.asarray(x)`, they are computed again each time.
    """

    given: Attending
    name: Square
    dtype = np.dtype(np.float32)
    ndim = 3

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, Tq, Tk)."""
        return (*self.given.q.shape[:2], self.given.k.shape[1])

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return len(self.given.q)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:  # noqa: ANN401
        whole = np.empty(self.shape, self.dtype)
        for head in range(len(self)):
            whole[head] = self._rows(head)
        whole.flags.writeable = False
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401
        parts = index if isinstance(index, tuple) else (index,)
        are_plain = all(isinstance(part, int | np.integer | slice) for part in parts)
        heads, queries, keys = (*parts, ALL, ALL)[: self.ndim]
        chosen = np.arange(len(self))[heads if are_plain else ALL]  # a number where that is given
        if not are_plain or len(parts) > self.ndim or not chosen.size:
            return np.asarray(self)[index]
        rows = [self._rows(int(head), queries)[..., keys] for head in np.atleast_1d(chosen)]
        return rows[0][()] if chosen.ndim == 0 else np.stack(rows)

    def _rows(self, head: int, queries: int | slice = ALL) -> np.ndarray:
        of = self.given.scores_of if self.name == "scores" else self.given.pattern_of
        rows = of(head, queries)
        rows.flags.writeable = False
        return rows
