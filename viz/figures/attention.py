"""All heads at a glance, as numbers small enough to send: tiles, focus, and the strongest pairs."""

import numpy as np

MASKED, ZERO = 1, 2  # byte values of a tile; above ZERO the weight, 0 is the gap between tiles
TILE_MOST = 48


def tiles(patterns: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Bytes of every head's map: 1 masked, 2 zero, above it the square root of the weight.

    patterns: (L, H, T, T), mask: (T, T). Returns (L·H, t, t) uint8. The root lets faint patterns
    show. Above 48 tokens neighbouring cells are merged, keeping the largest, so t is at most 48.
    """
    merge = -(-patterns.shape[-1] // TILE_MOST)
    largest = _merge_cells(patterns, merge)
    visible = _merge_cells(mask, merge)
    levels = ZERO + np.round(np.sqrt(np.clip(np.nan_to_num(largest), 0, 1)) * (255 - ZERO))
    pictures = np.where(visible, levels, MASKED).astype(np.uint8)
    return pictures.reshape(-1, *pictures.shape[-2:])


def focus(patterns: np.ndarray) -> np.ndarray:
    """Mean over rows of a row's largest weight, the first row left out: it has no choice.

    patterns: (..., T, T) with rows that sum to one. Returns (...): 1 when every token reads one
    other alone. A single token has focus 1.
    """
    rows = patterns[..., 1:, :] if patterns.shape[-2] > 1 else patterns
    return rows.max(axis=-1).mean(axis=-1)


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


def _merge_cells(values: np.ndarray, merge: int) -> np.ndarray:
    """Maximum over merge × merge cells of the last two axes; the last cells may be fewer."""
    if merge == 1:
        return values
    missing = -values.shape[-1] % merge
    widths = [(0, 0)] * (values.ndim - 2) + [(0, missing), (0, missing)]
    padded = np.pad(values, widths)
    size = padded.shape[-1] // merge
    blocks = padded.reshape(*values.shape[:-2], size, merge, size, merge)
    return blocks.max(axis=(-3, -1))
