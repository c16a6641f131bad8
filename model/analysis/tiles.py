"""FlashAttention's idea: softmax over tiles of keys, with no row of scores ever whole.

A running maximum and a running sum are enough (Milakov & Gimelshein 2018, algorithm 3), and the
output is rescaled as they change (Dao et al. 2022, algorithm 1): exact, in memory that grows as n.
"""

import math
from typing import NamedTuple

import numpy as np

BYTES = 4  # of a float32
LENGTHS = tuple(2**power for power in range(6, 18))  # 64 … 131,072 tokens


class State(NamedTuple):
    """What is kept after a tile: the largest score m, Σ e^(score − m), the mean value so far."""

    maximum: float
    total: float
    output: np.ndarray  # (Dh,)


def over_tiles(
    scores: np.ndarray, values: np.ndarray, size: int, sink: float = -math.inf
) -> list[State]:
    """The state of one query after each tile of `size` keys. scores: (n,), values: (n, Dh).

    A sink's score is in the sum from the start, and adds no value. Computed in the precision of the
    values.
    """
    maximum = values.dtype.type(sink)
    total = values.dtype.type(np.isfinite(sink))
    output = np.zeros_like(values[0])
    states = []
    for start in range(0, len(scores), size):
        tile = slice(start, start + size)
        larger = max(maximum, scores[tile].max())
        powers = np.exp(scores[tile] - larger)  # (size,)
        kept = total * np.exp(maximum - larger)  # what was summed, of the new maximum
        total = kept + powers.sum()
        output = (kept * output + powers @ values[tile]) / total
        maximum = larger
        states.append(State(float(maximum), float(total), output))
    return states


def seen(state: State, last: State) -> float:
    """The share of all weight on the keys so far, 0 to 1."""
    return state.total * math.exp(state.maximum - last.maximum) / last.total


def map_bytes(n_heads: int, n: int) -> int:
    """What a layer's weights take where they are kept: H · n²."""
    return BYTES * n_heads * n**2


def running_bytes(n_heads: int, n: int) -> int:
    """What a layer's running maxima and sums take: H · 2n."""
    return BYTES * n_heads * 2 * n
