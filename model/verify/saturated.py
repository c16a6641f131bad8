"""What the lesson on √d shows, worked out once more: see `derived`.

Addresses end with the seed, before it the dimension where there is one, and after it 1 where scores
are divided, 0 where not: root.largest.7.1. A Jacobian is written out here, and its entries squared.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from model import reference

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
POWERS, QUERIES, KEYS = 13, 64, 16


@lru_cache(maxsize=POWERS)
def _products(d: int, seed: int) -> Array:
    if d not in [2**power for power in range(POWERS)]:
        raise KeyError(d)
    drawn = np.random.default_rng([seed, d])
    queries = drawn.standard_normal((QUERIES, d))
    keys = drawn.standard_normal((QUERIES, KEYS, d))
    return np.stack([keys[i] @ queries[i] for i in range(QUERIES)])


def _weights(d: int, seed: int, is_divided: int) -> Array:
    return reference.softmax(_products(d, seed) / (math.sqrt(d) if is_divided else 1.0))


def _each(of: Callable[..., float], *numbers: int) -> Array:
    return np.array([of(2**power, *numbers) for power in range(POWERS)])


def _variance(d: int, seed: int) -> float:
    return math.fsum(x * x for x in _products(d, seed).ravel().tolist()) / (QUERIES * KEYS)


def _largest(rows: Array) -> float:
    return math.fsum(max(row) for row in rows.tolist()) / len(rows)


def _gradient(rows: Array) -> float:
    """The mean length of all entries of diag(p) − p·pᵀ."""
    sizes = [np.sqrt(((np.diag(p) - np.outer(p, p)) ** 2).sum()) for p in rows]
    return math.fsum(sizes) / len(sizes)


SATURATED: dict[str, Callable[..., Array]] = {
    "root.variances": lambda ran, seed: _each(_variance, seed),
    "root.divided_variances": lambda ran, seed: _each(lambda d, s: _variance(d, s) / d, seed),
    "root.largest": lambda ran, *at: _each(lambda d, *n: _largest(_weights(d, *n)), *at),
    "root.gradients": lambda ran, *at: _each(lambda d, *n: _gradient(_weights(d, *n)), *at),
    "root.weights": lambda ran, *at: _weights(*at)[0],
}


def _undivided(ran: "Ran", site: str) -> Array:
    """Each head's weights had q·k not been divided, (H, T, T)."""
    mask = np.asarray(ran.arrays[f"{site}.mask"])
    q, k = ran.arrays[f"{site}.q"], ran.arrays[f"{site}.k"]
    keys = np.repeat(k, len(q) // len(k), axis=0)
    bias = ran.arrays.get(f"{site}.bias", 0.0)
    scores = np.stack([q[h] @ keys[h].T for h in range(len(q))]) + bias
    return reference.softmax(np.where(mask, scores, -np.inf))


def _of_heads(measure: Callable[[Array], float], *, is_divided: bool) -> Callable[..., Array]:
    def found(ran: "Ran", site: str) -> Array:
        patterns = ran.arrays[f"{site}.pattern"] if is_divided else _undivided(ran, site)
        return np.array([measure(pattern) for pattern in patterns])

    return found


def _shown(ran: "Ran", site: str) -> Array:
    """The weights without division; NaN where masked."""
    return np.where(np.asarray(ran.arrays[f"{site}.mask"]), _undivided(ran, site), np.nan)


SATURATED_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "unmasked_undivided": _shown,
    "divided_largest": _of_heads(_largest, is_divided=True),
    "undivided_largest": _of_heads(_largest, is_divided=False),
    "divided_gradient": _of_heads(_gradient, is_divided=True),
    "undivided_gradient": _of_heads(_gradient, is_divided=False),
}
