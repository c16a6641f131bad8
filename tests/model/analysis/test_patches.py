"""Protects what is said of a picture's patches: rollout, distances, and runs with other patches."""

from pathlib import Path

import numpy as np
import pytest

from model import reference
from model.analysis.patches import (
    logits_of,
    logits_without_each,
    mean_distances,
    rollout,
    shuffled,
)
from model.sources import checkpoint
from tests.model.builders import tiny_picture, tiny_vision

HALF = np.array([[0.5, 0.5], [0.0, 1.0]])


def test_rollout_by_hand() -> None:
    """Two layers of one head: ½(A + I) twice, the later one first."""
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    step, first = (swap + np.eye(2)) / 2, (HALF + np.eye(2)) / 2
    np.testing.assert_allclose(rollout([HALF[None], swap[None]]), step @ first)
    np.testing.assert_allclose(rollout([HALF[None], swap[None]])[0], [0.375, 0.625])


def test_distances_by_hand() -> None:
    """Four patches of 3 pixels: on itself 0, on the neighbour 3, on the one across 3√2."""
    n = 5
    pattern = np.zeros((3, n, n))
    pattern[:, 0, 0] = 1
    across = {1: 4, 2: 3, 3: 2, 4: 1}
    beside = {1: 2, 2: 1, 3: 4, 4: 3}
    for row in range(1, n):
        pattern[0, row, row] = 1
        pattern[1, row, [0, beside[row]]] = 0.5  # what is on the class token counts nowhere
        pattern[2, row, across[row]] = 1
    np.testing.assert_allclose(mean_distances(pattern, 2, 3), [0, 3, 3 * np.sqrt(2)])


def test_patches_in_another_order() -> None:
    picture = np.arange(36.0).reshape(6, 6)
    found = shuffled(picture, 3, [3, 0, 1, 2])
    np.testing.assert_array_equal(found[:3, :3], picture[3:, 3:])
    np.testing.assert_array_equal(found[:3, 3:], picture[:3, :3])
    np.testing.assert_array_equal(shuffled(found, 3, [1, 2, 3, 0]), picture)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A folder with a tiny vision model, and a picture."""
    folder = tmp_path_factory.mktemp("vision")
    checkpoint.save(folder, tiny_vision(position="learned"), None)
    return folder, tiny_picture()


def test_each_masked_patch_is_an_independent_run_under_that_mask(
    run: tuple[Path, np.ndarray],
) -> None:
    folder, picture = run
    found = checkpoint.load(folder, "cpu")
    logits = logits_without_each(found.model, picture)
    assert logits.shape == (9, 5)
    for patch in range(9):
        mask = np.ones((10, 10), bool)
        mask[:, patch + 1] = np.arange(10) == patch + 1
        expected = dict(reference.arrays(found.files, picture, mask))["output"].ravel()
        np.testing.assert_allclose(logits[patch], expected, rtol=1e-4, atol=1e-5)
    whole = logits_of(found.model, picture[None])
    assert np.abs(logits - whole).max() > 1e-3, "a patch counts"
