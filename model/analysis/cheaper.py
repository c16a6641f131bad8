"""Cheaper attention on one head's own q, k, v: other weights in place of the softmax over all keys.

A sliding window and global tokens leave pairs out (Beltagy et al. 2020, §3.1). Linear attention has
a product of feature maps in place of the exponential, so that a causal head is a running sum
(Katharopoulos et al. 2020, §3). The scores of rank r show how few directions of q and k are needed.
Linformer's projection of keys and values along the text (Wang et al. 2020) is not here: it mixes
later tokens into earlier ones, which a causal head may not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from model.analysis.kernels import moved_weight
from model.trace import AttentionRecord
from model.worked_out import Attending


@dataclass(frozen=True, eq=False)
class Head:
    """One head, in float64: what its weights follow from, its values, and the weights that ran."""

    given: Attending
    number: int
    v: np.ndarray  # (T, Dh)
    weights: np.ndarray  # (T, T)

    @classmethod
    def of(cls, record: AttentionRecord, head: int) -> "Head":
        """One head of a layer."""
        v, weights = record.v[record.kv_head(head)], record.pattern[head]
        return cls(record, head, v.astype(np.float64), weights.astype(np.float64))

    @cached_property
    def q(self) -> np.ndarray:
        """Queries, (T, Dh)."""
        return self.given.q[self.number].astype(np.float64)

    @cached_property
    def k(self) -> np.ndarray:
        """Keys, (T, Dh)."""
        return self.given.k[self.given.kv_head(self.number)].astype(np.float64)

    @property
    def mask(self) -> np.ndarray:
        """True = may attend, (T, T)."""
        return self.given.mask_of(self.number)

    @cached_property
    def scores(self) -> np.ndarray:
        """Before the mask, (T, T)."""
        return self.given.scores_of(self.number, dtype=np.float64)

    def softmax(self, scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Weights over the keys that a mask leaves, as this model shares them out. (T, T)."""
        return self.given.weighted(scores, self.number, mask)

    @property
    def is_causal(self) -> bool:
        """Whether each token attends to itself and all before it, and to nothing else."""
        return bool((self.mask == np.tril(np.ones_like(self.mask))).all())


class Sizes(NamedTuple):
    """How much each way keeps: keys of the window, global tokens, directions of q and k."""

    window: int = 4
    n_global: int = 1
    rank: int = 4


class Difference(NamedTuple):
    """‖z′ − z‖ / ‖z‖ over all rows, and the weight that sits on other keys, mean over rows."""

    error: float
    moved: float


# --- pairs left out -----------------------------------------------------------------------------


def window_mask(head: Head, sizes: Sizes) -> np.ndarray:
    """The head's mask and the last `window` tokens of each query, itself included, (T, T)."""
    positions = np.arange(len(head.mask))
    return head.mask & (np.abs(positions[:, None] - positions) < sizes.window)


def global_mask(head: Head, sizes: Sizes) -> np.ndarray:
    """The same, and the first `n_global` tokens, which attend to all and are attended to by all."""
    is_first = np.arange(len(head.mask)) < sizes.n_global
    return window_mask(head, sizes) | (head.mask & (is_first[:, None] | is_first))


def whole_mask(head: Head, sizes: Sizes) -> np.ndarray:
    """The head's own mask: no pair is left out."""
    return head.mask


def window_weights(head: Head, sizes: Sizes) -> np.ndarray:
    """The softmax over the window, (T, T)."""
    return head.softmax(head.scores, window_mask(head, sizes))


def global_weights(head: Head, sizes: Sizes) -> np.ndarray:
    """The softmax over the window and the global tokens, (T, T)."""
    return head.softmax(head.scores, global_mask(head, sizes))


# --- products of feature maps -------------------------------------------------------------------


def positive_map(x: np.ndarray) -> np.ndarray:
    """φ(x) = elu(x) + 1, which is positive (Katharopoulos et al. 2020, eq. 7). Same shape."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_weights(head: Head, sizes: Sizes) -> np.ndarray:
    """φ(q)·φ(k), over the sum of them, (T, T): it knows no bias, soft cap or sink."""
    heights = np.where(head.mask, positive_map(head.q) @ positive_map(head.k).T, 0.0)
    total = heights.sum(axis=-1, keepdims=True)
    return np.divide(heights, total, out=np.zeros_like(heights), where=total > 0)


def running_sum(queries: np.ndarray, keys: np.ndarray, v: np.ndarray) -> np.ndarray:
    """z of a causal head without its weights (Katharopoulos et al. 2020, eq. 9 to 12).

    queries and keys are already mapped, (T, r); v: (T, Dh). One pass over the tokens with
    S = Σ φ(k) vᵀ and s = Σ φ(k), whose sizes do not depend on T. (T, Dh).
    """
    outer, total = np.zeros((keys.shape[1], v.shape[1])), np.zeros(keys.shape[1])
    z = np.empty_like(v)
    for i, (query, key) in enumerate(zip(queries, keys, strict=True)):
        outer += np.outer(key, v[i])
        total += key
        z[i] = query @ outer / (query @ total)
    return z


# --- fewer directions ---------------------------------------------------------------------------


def low_rank_weights(head: Head, sizes: Sizes) -> np.ndarray:
    """The softmax of q·kᵀ cut to its `rank` largest singular values, masked afterwards, (T, T).

    Nothing of that rank is closer to the products of this text (Eckart & Young 1936). The singular
    values are those of the small matrix between the orthonormal factors of q and k.
    """
    (of_q, small_q), (of_k, small_k) = np.linalg.qr(head.q), np.linalg.qr(head.k)
    left, values, right = np.linalg.svd(small_q @ small_k.T)
    r = min(sizes.rank, len(values))
    products = (of_q @ left[:, :r] * values[:r]) @ (right[:r] @ of_k.T)
    return head.softmax(head.given.scored(products, head.number), head.mask)


# --- how far they are off -----------------------------------------------------------------------

Weights = Callable[[Head, Sizes], np.ndarray]
WAYS: Mapping[str, Weights] = {
    "window": window_weights,
    "global": global_weights,
    "linear": linear_weights,
    "low_rank": low_rank_weights,
}
MASKS: Mapping[str, Weights] = {
    "window": window_mask,
    "global": global_mask,
    "linear": whole_mask,
    "low_rank": whole_mask,
}


def difference(head: Head, other: np.ndarray) -> Difference:
    """How far z and the weights of another way are from the exact ones. other: (T, T)."""
    z = head.weights @ head.v
    error = np.linalg.norm(other @ head.v - z) / np.linalg.norm(z)
    return Difference(float(error), moved_weight(head.weights, other))


def sizes_tried(n_tokens: int) -> list[int]:
    """Powers of two from 1 to the first that is no less than the text and 64."""
    return [2**power for power in range(max(6, (n_tokens - 1).bit_length()) + 1)]


def sized(way: str, sizes: Sizes, size: int) -> Sizes:
    """The sizes with another one in the place that the way is measured by."""
    return sizes._replace(**{"rank" if way == "low_rank" else "window": size})


def errors_by_size(head: Head, way: str, sizes: Sizes) -> np.ndarray:
    """The relative error of z at each of `sizes_tried`."""
    tried = sizes_tried(len(head.q))
    return np.array(
        [difference(head, WAYS[way](head, sized(way, sizes, size))).error for size in tried]
    )


def multiplications(head: Head, way: str, sizes: Sizes) -> int:
    """Of one head on this text, for scores and z; exponentials are not counted.

    A pair takes as many for its score as q and k have numbers, and Dh for its value. A token of a
    running sum takes Dh² to add to it, Dh² to read it and Dh to divide. Fewer directions cost
    their projection, r·Dh for each q and k.
    """
    n, d_head = head.q.shape
    if way == "linear":
        return n * (2 * d_head**2 + d_head)
    pairs = int((head.mask if way == "exact" else MASKS[way](head, sizes)).sum())
    if way == "low_rank":
        r = min(sizes.rank, d_head)
        return 2 * n * r * d_head + pairs * (r + d_head)
    return 2 * d_head * pairs
