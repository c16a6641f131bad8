"""Protects softmax over tiles: exact whatever the tiles, and no number overflows."""

import numpy as np
import pytest

from model.analysis.tiles import map_bytes, over_tiles, running_bytes, seen


@pytest.mark.parametrize("sink", [-np.inf, 20.0])
@pytest.mark.parametrize("size", [1, 3, 4, 13, 50])
def test_the_last_state_is_exact_whatever_the_tiles(size: int, sink: float) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    scores, values = 30 * rng.standard_normal(13), rng.standard_normal((13, 7))
    states = over_tiles(scores, values, size, sink)
    assert len(states) == -(-13 // size)
    expected = torch.softmax(torch.tensor([*scores, sink]), dim=0).numpy()[:-1] @ values
    np.testing.assert_allclose(states[-1].output, expected, atol=1e-12)
    assert states[-1].maximum == max(scores.max(), sink)
    assert seen(states[-1], states[-1]) == 1


def test_two_tiles_by_hand() -> None:
    """Scores ln 1, ln 3 | ln 4: sums 4/3 of the maximum ln 3, then 2 of ln 4."""
    scores, values = np.log([1.0, 3.0, 4.0]), np.array([[8.0], [0.0], [2.0]])
    first, last = over_tiles(scores, values, 2)
    assert (first.maximum, first.total) == pytest.approx((np.log(3), 4 / 3))
    assert first.output.tolist() == pytest.approx([2.0])
    assert (last.maximum, last.total) == pytest.approx((np.log(4), 2.0))
    assert last.output.tolist() == pytest.approx([2.0])
    assert seen(first, last) == pytest.approx(0.5)


def test_large_scores_do_not_overflow_and_float32_stays() -> None:
    scores = np.array([500.0, 501.0, 499.0], np.float32)
    states = over_tiles(scores, np.eye(3, dtype=np.float32), 1)
    assert states[-1].output.dtype == np.float32
    np.testing.assert_allclose(states[-1].output.sum(), 1, rtol=1e-6)


def test_bytes_by_hand() -> None:
    assert (map_bytes(8, 256), running_bytes(8, 256)) == (2_097_152, 16_384)
