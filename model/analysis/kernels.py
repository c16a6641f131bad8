"""Attention before it was called so: Nadaraya–Watson regression, a mean weighted by a kernel.

f(x) = Σ K((x − x_i)/h) y_i / Σ K((x − x_i)/h) (Nadaraya 1964, Watson 1964). Points are keys, what
was measured there are values, and x is the query.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from model.worked_out import softmax

N_POINTS, LAST, NOISE = 50, 5.0, 0.5

# Of the distance in widths, u. Epanechnikov 1969 has 1 − u²; 1 − |u| is the triangular one.
KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "boxcar": lambda u: (np.abs(u) < 1).astype(float),
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
    "triangular": lambda u: np.maximum(1 - np.abs(u), 0),
    "constant": np.ones_like,
}


class Points(NamedTuple):
    """Where something was measured, in rising order, and what. (n,) each."""

    x: np.ndarray
    y: np.ndarray


# Sizes in m² and prices in thousands, rising together; the mean price is 120.
HOUSES = Points(np.array([50.0, 60, 80, 100, 120]), np.array([75.0, 95, 120, 145, 165]))


def truth(x: np.ndarray) -> np.ndarray:
    """What is measured: 2 sin x + x^0.8 (Zhang et al. 2023, Dive into Deep Learning, §11.2)."""
    return 2 * np.sin(x) + x**0.8


def drawn_points(seed: int) -> Points:
    """Points at random places with noise of a deviation of one half."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, LAST, N_POINTS))
    return Points(x, truth(x) + rng.normal(0, NOISE, N_POINTS))


def kernel_weights(queries: np.ndarray, keys: np.ndarray, kind: str, width: float) -> np.ndarray:
    """How much each key counts for each query; rows add up to 1. queries: (m,), keys: (n,). (m, n).

    A row with no key in reach is zeros.
    """
    heights = KERNELS[kind]((queries[:, None] - keys) / width)
    total = heights.sum(axis=-1, keepdims=True)
    return np.divide(heights, total, out=np.zeros_like(heights), where=total > 0)


def estimate(queries: np.ndarray, points: Points, kind: str, width: float) -> np.ndarray:
    """The weighted mean of what was measured, (m,); NaN where no point is in reach."""
    weights = kernel_weights(queries, points.x, kind, width)
    return np.where(weights.any(axis=-1), weights @ points.y, np.nan)


def gaussian_attention(q: np.ndarray, k: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Weights by distance in the place of products: softmax(−‖q − k‖² / 2√d). (Tq, Tk).

    −‖q − k‖²/2 = q·k − ‖k‖²/2 − ‖q‖²/2, and softmax drops what is the same for all keys: for
    keys of one length these are the weights of dot products.
    """
    squares = np.square(q[:, None] - k).sum(axis=-1)  # (Tq, Tk)
    return softmax(-squares / (2 * np.sqrt(q.shape[-1])), mask)


def moved_weight(one: np.ndarray, other: np.ndarray) -> float:
    """How much weight sits on other keys, mean over rows: half the sum of differences, 0 to 1."""
    return float(np.abs(one - other).sum(axis=-1).mean() / 2)
