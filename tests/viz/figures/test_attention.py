"""Protects the small maps of all heads, and the numbers beside them."""

import numpy as np
import pytest
from viz.figures.attention import focus, strongest_pair, tiles

from tests.viz.builders import causal, random_patterns

MASKED, ZERO, ONE = 1, 2, 255
Cell = tuple[int, int]


def merged(values: np.ndarray, size: int) -> np.ndarray:
    """The largest of each size × size block, blocks at the end smaller. (..., T, T)."""
    starts = range(0, values.shape[-1], size)
    rows = np.maximum.reduceat(values, starts, axis=-2)
    return np.maximum.reduceat(rows, starts, axis=-1)


def test_tiles_are_the_roots_of_the_weights_head_by_head() -> None:
    patterns, mask = random_patterns(2, 3, n_tokens=7), causal(7)
    pictures = tiles(patterns, mask)
    assert (pictures.shape, pictures.dtype) == ((6, 7, 7), np.uint8)
    for tile, (layer, head) in enumerate(np.ndindex(2, 3)):
        expected = np.round(2 + np.sqrt(patterns[layer, head]) * 253)
        assert (pictures[tile][mask] == expected[mask]).all()
        assert (pictures[tile][~mask] == MASKED).all()


def test_tiles_tell_masked_zero_and_weight_apart() -> None:
    pattern = np.zeros((1, 1, 3, 3), np.float32)
    pattern[..., 0] = 1.0
    assert tiles(pattern, causal(3))[0].tolist() == [
        [ONE, MASKED, MASKED],
        [ONE, ZERO, MASKED],
        [ONE, ZERO, ZERO],
    ]


@pytest.mark.parametrize(
    ("n_tokens", "size", "block"), [(48, 48, 1), (49, 25, 2), (100, 34, 3), (256, 43, 6)]
)
def test_tiles_of_a_long_sentence_keep_the_largest_of_merged_cells(
    n_tokens: int, size: int, block: int
) -> None:
    """A cell is masked only when no pair in it may attend."""
    patterns, mask = random_patterns(2, 1, n_tokens=n_tokens), causal(n_tokens)
    pictures = tiles(patterns, mask)
    assert pictures.shape == (2, size, size)
    levels = np.round(2 + 253 * np.sqrt(merged(patterns, block))).reshape(pictures.shape)
    assert (pictures == np.where(merged(mask, block), levels, MASKED)).all()


def test_a_weight_rounded_above_one_is_no_gap() -> None:
    """Bytes wrap around: 256 would be 0."""
    pattern = np.full((1, 1, 1, 1), np.nextafter(np.float32(1), np.float32(2)))
    assert tiles(pattern + np.float32(0.01), causal(1)).tolist() == [[[ONE]]]


def test_focus_by_hand() -> None:
    """The first row left out, the mean of the rows' largest weights."""
    patterns = np.array(
        [
            [[1, 0, 0], [1, 0, 0], [0, 1, 0]],
            [[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]],
            [[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]],
        ]
    )
    assert focus(patterns).tolist() == [1, 0.5, 0.625]
    assert focus(patterns[None]).shape == (1, 3)
    assert focus(np.ones((2, 1, 1))).tolist() == [1, 1], "a single token has no choice"


@pytest.mark.parametrize(
    ("pattern", "pair"),
    [
        ([[1, 0, 0], [0.9, 0.1, 0], [0.5, 0.2, 0.3]], (2, 1)),  # neither the sink nor itself
        ([[1, 0, 0], [1, 0, 0], [1, 0, 0]], (0, 0)),  # nothing but the sink
        ([[1, 0], [0.2, 0.8]], (0, 0)),  # only sink and itself: the largest of all
        ([[1]], (0, 0)),
        ([[0.1, 0.2, 0.7], [0.1, 0.6, 0.3]], (0, 2)),  # more keys than queries
    ],
)
def test_strongest_pair(pattern: list[list[float]], pair: Cell) -> None:
    array = np.array(pattern)
    array.flags.writeable = False
    assert strongest_pair(array) == pair
