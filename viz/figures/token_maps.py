"""Maps of a text's tokens as queries and as keys: masks, scores, weights, biases."""

from collections.abc import Sequence

import numpy as np

from viz.charts.chart import Cells, Chart, Hidden, Scale, signed, tokens, weights


def token_map(
    values: np.ndarray,
    both: tuple[Sequence[str], Sequence[str]],
    scale: Scale,
    title: str,
    mask: np.ndarray | None = None,
) -> Chart:
    """A number for each query and key, (Tq, Tk), hatched where masked. both: their tokens."""
    queries, keys = both
    hidden = None if mask is None else Hidden(~mask)
    return Chart(
        title,
        tokens("key", keys),
        tokens("query", queries),
        [Cells(values, scale, hidden)],
        is_square=len(queries) == len(keys),
    )


def mask_map(mask: np.ndarray, text: Sequence[str], title: str = "The mask") -> Chart:
    """The mask (T, T): which keys each query may attend to, and which are masked."""
    scale = Scale("", 0.0, 2.5, note="may attend: M = 0")
    return token_map(mask.astype(np.float32), (text, text), scale, title, mask)


def pattern_map(pattern: np.ndarray, mask: np.ndarray, text: Sequence[str], title: str) -> Chart:
    """Weights (T, T), hatched where masked."""
    return token_map(pattern, (text, text), weights(), title, mask)


def signed_map(
    values: np.ndarray,
    mask: np.ndarray,
    both: tuple[Sequence[str], Sequence[str]],
    what: str,
    title: str,
    scale_of: np.ndarray | None = None,
) -> Chart:
    """A signed number of each query and key, such as a score, or a difference of two patterns.

    The colours reach as far as the numbers in `scale_of`, so that two maps can be compared.
    """
    scale = signed(what, values[mask] if scale_of is None else scale_of)
    return token_map(values, both, scale, title, mask)
