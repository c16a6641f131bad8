"""Additive attention beside the scaled dot product, on the queries and keys of one head.

A score is v·tanh(W q + U k), a network with one hidden layer (Bahdanau et al. 2015, appendix
A.1.2). W, U and v are drawn here: no head of the running model was trained with them.
"""

from typing import NamedTuple

import numpy as np


class Drawn(NamedTuple):
    """W and U, (h, Dh) each, and v, (h,), with as many hidden units h as a query has numbers."""

    of_queries: np.ndarray
    of_keys: np.ndarray
    v: np.ndarray


def drawn_weights(d_head: int, seed: int) -> Drawn:
    """Independent normal numbers; W and U of a variance that keeps the size of what goes in."""
    rng = np.random.default_rng(seed)
    of_queries, of_keys = rng.standard_normal((2, d_head, d_head)) / np.sqrt(d_head)
    return Drawn(of_queries, of_keys, rng.standard_normal(d_head))


def additive_scores(q: np.ndarray, k: np.ndarray, drawn: Drawn) -> np.ndarray:
    """v·tanh(W q + U k) of each pair. q: (Tq, Dh), k: (Tk, Dh). Returns (Tq, Tk).

    U k is the same for all queries and done once, as the paper notes.
    """
    projected = k @ drawn.of_keys.T  # (Tk, h)
    rows = [np.tanh(query + projected) @ drawn.v for query in q @ drawn.of_queries.T]
    return np.stack(rows)


def n_parameters(drawn: Drawn) -> int:
    """What a head would have to learn for its scores; the dot product has nothing to learn."""
    return sum(array.size for array in drawn)


def n_multiplications(n: int, pairs: int, drawn: Drawn) -> int:
    """For the scores of n tokens: W q and U k of each, and v of each pair."""
    return 2 * n * drawn.of_queries.size + pairs * drawn.v.size
