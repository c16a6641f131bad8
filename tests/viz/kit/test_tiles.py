"""Protects the small maps of the overview: each head's weights, masked cells told from zero."""

import numpy as np
import pytest

from tests.viz.builders import causal, random_patterns
from tests.viz.kit.gallery import Gallery
from viz.kit.tiles import MASKED, ZERO, tile_bytes, tile_weights, tiles

ONE = 255


def merged(values: np.ndarray, block: int) -> np.ndarray:
    """The largest of each block × block cells of the last two axes; the last may be smaller."""
    rows, columns = (range(0, n, block) for n in values.shape[-2:])
    cells = [[values[..., i : i + block, j : j + block] for j in columns] for i in rows]
    largest = np.array([[cell.max(axis=(-2, -1)) for cell in row] for row in cells])
    return np.moveaxis(largest, (0, 1), (-2, -1))


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
    """A cell is masked only when nothing in it may be attended to."""
    patterns, mask = random_patterns(2, 1, n_tokens=n_tokens), causal(n_tokens)
    pictures = tiles(patterns, mask)
    assert pictures.shape == (2, size, size)
    levels = np.round(2 + 253 * np.sqrt(merged(patterns, block))).reshape(pictures.shape)
    assert (pictures == np.where(merged(mask, block), levels, MASKED)).all()


@pytest.mark.parametrize("shape", [(5, 7), (3, 50), (100, 49), (1, 97)])
def test_tiles_are_as_long_and_wide_as_their_maps(shape: tuple[int, int]) -> None:
    """Merged by the longer side, and each head under a mask of its own."""
    random = np.random.default_rng(0)
    patterns = random.random((2, 3, *shape)).astype(np.float32)
    masks = random.random((2, 3, *shape)) < 0.5
    block = -(-max(shape) // 48)
    pictures = tiles(patterns, masks)
    assert pictures.shape == (6, *(-(-n // block) for n in shape))
    levels = np.round(2 + 253 * np.sqrt(merged(patterns, block)))
    expected = np.where(merged(masks, block), levels, MASKED)
    assert (pictures == expected.reshape(pictures.shape)).all()


def test_a_weight_rounded_above_one_is_no_gap() -> None:
    """Bytes wrap around: 256 would be 0."""
    pattern = np.full((1, 1, 1, 1), np.nextafter(np.float32(1), np.float32(2)))
    assert tiles(pattern + np.float32(0.01), causal(1)).tolist() == [[[ONE]]]


def test_bytes_and_weights_are_the_same_in_the_browser(gallery: Gallery) -> None:
    weights, visible = np.linspace(-0.1, 1.1, 3000), np.ones(3000, bool)
    found, back, masked = gallery.evaluate(
        """async weights => {
            const {MASKED, tileByte, tileWeight} = await import('/kit/atlas.js');
            const bytes = Array.from({length: 256}, (_, byte) => byte);
            return [weights.map(tileByte), bytes.map(tileWeight), MASKED];
        }""",
        weights.tolist(),
    )
    assert found == tile_bytes(weights, visible).tolist()
    assert back == pytest.approx(tile_weights(np.arange(256)), rel=1e-15)
    assert tile_bytes(np.array([0.5]), ~visible[:1]) == [masked]
    assert (tile_bytes(tile_weights(np.arange(2, 256)), visible[:254]) == np.arange(2, 256)).all()
