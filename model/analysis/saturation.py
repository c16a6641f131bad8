"""Why scores are divided by √d: dot products of random vectors, and what softmax makes of them.

Components are independent with mean 0 and variance 1, so q·k has mean 0 and variance d (Vaswani et
al. 2017, footnote 4).
"""

from typing import NamedTuple

import numpy as np

DIMENSIONS = tuple(2**power for power in range(13))  # 1 … 4096
N_QUERIES, N_KEYS = 64, 16  # of each dimension


class Sharp(NamedTuple):
    """How sharp rows of weights are, and how much of a gradient passes: means over the rows."""

    largest: float
    gradient: float


def random_products(d: int, seed: int) -> np.ndarray:
    """q·k of random queries, each with keys of its own. (N_QUERIES, N_KEYS)."""
    rng = np.random.default_rng([seed, d])
    q = rng.standard_normal((N_QUERIES, d))
    k = rng.standard_normal((N_QUERIES, N_KEYS, d))
    return np.einsum("qd,qkd->qk", q, k)


def variance(products: np.ndarray) -> float:
    """Of products whose mean is known to be 0."""
    return float(np.mean(np.square(products)))


def sharpness(weights: np.ndarray) -> Sharp:
    """The largest weight and the size of softmax's Jacobian, means over rows (n, m).

    p_i (δ_ij − p_j), its Frobenius norm: how far the weights can move when the scores do.
    """
    ones = np.eye(weights.shape[-1])
    sizes = [np.linalg.norm(p[:, None] * (ones - p)) for p in weights]
    return Sharp(float(weights.max(axis=-1).mean()), float(np.mean(sizes)))
