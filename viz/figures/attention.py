"""The pair of tokens to look at first in a head."""

import numpy as np


def strongest_pair(pattern: np.ndarray, *, skip_first_key: bool = True) -> tuple[int, int]:
    """Query and key of the largest weight in one head's pattern (Tq, Tk).

    The first token takes up much attention that has nowhere else to go (a sink), and a token
    often sees itself, so both are passed over when something else is left.
    """
    candidates = pattern.copy()
    if skip_first_key:
        candidates[:, 0] = 0.0
    np.fill_diagonal(candidates, 0.0)
    best = candidates if candidates.max(initial=0.0) > 0 else pattern
    query, key = np.unravel_index(best.argmax(), best.shape)
    return int(query), int(key)
