"""What one head does, in a number or a pair of tokens."""

import numpy as np

from model.trace import AttentionKind


def sharpness(patterns: np.ndarray, kind: AttentionKind = "self") -> np.ndarray:
    """Mean over rows of a row's largest weight ("confidence" in Voita et al. 2019, §4).

    In self-attention the first row is left out: under a causal mask it has one key alone.
    patterns: (..., Tq, Tk) with rows that sum to one. Returns (...): 1 when every query attends
    to one key alone. A single row counts as it is.
    """
    has_others = kind == "self" and patterns.shape[-2] > 1
    rows = patterns[..., 1:, :] if has_others else patterns
    return rows.max(axis=-1).mean(axis=-1)


def strongest_pair(pattern: np.ndarray, kind: AttentionKind = "self") -> tuple[int, int]:
    """Query and key of the largest weight in one head's pattern (Tq, Tk).

    In self-attention the first key, often a sink for attention that has nowhere else to go, and
    the diagonal, a token that attends to itself, are passed over when something else is left.
    """
    candidates = pattern.copy()
    if kind == "self":
        candidates[:, 0] = 0.0
        np.fill_diagonal(candidates, 0.0)
    best = candidates if candidates.max(initial=0.0) > 0 else pattern
    query, key = np.unravel_index(best.argmax(), best.shape)
    return int(query), int(key)
