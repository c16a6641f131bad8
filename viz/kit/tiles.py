"""All heads at a glance: each head's map as bytes, small enough to send."""

import numpy as np

MASKED, ZERO = 1, 2  # byte values of a tile; from ZERO on a weight, 0 is the gap between tiles
TILE_MOST = 48


def tiles(patterns: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Bytes of every head's map: 1 masked, from 2 on a weight; see `tile_bytes`.

    patterns: (…, Tq, Tk); masks: bool, broadcast to them. Returns (n, rows, columns) uint8.
    Above 48 tokens on either side neighbouring cells are merged, keeping the largest, so that
    neither side has more than 48.
    """
    merge = -(-max(patterns.shape[-2:]) // TILE_MOST)
    largest = _merge_cells(patterns, merge)
    visible = _merge_cells(masks, merge)
    pictures = tile_bytes(largest, visible)
    return pictures.reshape(-1, *pictures.shape[-2:])


def tile_bytes(weights: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """The byte of each weight, in finer steps where they are small; kit/atlas.js has the same."""
    levels = ZERO + np.round(np.sqrt(np.fmin(np.fmax(weights, 0), 1)) * (255 - ZERO))
    return np.where(visible, levels, MASKED).astype(np.uint8)


def tile_weights(levels: np.ndarray) -> np.ndarray:
    """The weights that bytes stand for."""
    return (np.maximum(levels.astype(float) - ZERO, 0) / (255 - ZERO)) ** 2


def _merge_cells(values: np.ndarray, merge: int) -> np.ndarray:
    """Maximum over merge × merge cells of the last two axes; the last cells may be fewer."""
    for _ in range(2 if merge > 1 else 0):
        values = _merge_rows(values, merge).swapaxes(-1, -2)
    return values


def _merge_rows(values: np.ndarray, merge: int) -> np.ndarray:
    """Maximum over so many neighbouring rows; whole rows at once, as a reduction would not do."""
    found = values[..., ::merge, :].copy()
    for first in range(1, merge):
        rows = values[..., first::merge, :]
        held = found[..., : rows.shape[-2], :]
        np.maximum(held, rows, out=held)
    return found
