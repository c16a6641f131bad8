"""Protects the circle: numbers that turn with a frequency are found to, in their own plane."""

import numpy as np
import pytest

from model.analysis.circle import circle


@pytest.mark.parametrize(("n", "frequency"), [(59, 7), (12, 5), (7, 1)])
def test_embeddings_that_turn_lie_on_a_circle(n: int, frequency: int) -> None:
    rng = np.random.default_rng(0)
    plane, _ = np.linalg.qr(rng.normal(size=(16, 2)))
    angle = 2 * np.pi * frequency * np.arange(n) / n
    turning = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1) @ plane.T
    noise = rng.normal(size=(n, 16)) * 1e-6
    found = circle(turning + noise + 5.0)  # what all have in common is no part of it
    assert found.frequency == frequency
    assert np.linalg.norm(found.points, axis=1) == pytest.approx(np.full(n, 3.0), abs=1e-4)
    turned = np.unwrap(np.arctan2(found.points[:, 1], found.points[:, 0]))
    assert np.abs(np.diff(turned)) == pytest.approx(
        np.full(n - 1, min(2 * np.pi * frequency / n, 2 * np.pi - 2 * np.pi * frequency / n)),
        abs=1e-3,
    )
    assert found.share == pytest.approx(1.0, abs=1e-6)


def test_the_share_is_what_the_plane_keeps() -> None:
    rng = np.random.default_rng(1)
    embeddings = rng.normal(size=(11, 8))
    found = circle(embeddings)
    centred = embeddings - embeddings.mean(axis=0)
    power = [np.linalg.norm(sum(centred[a] * np.exp(-2j * np.pi * k * a / 11) for a in range(11)))
             for k in range(1, 6)]  # fmt: skip
    assert found.frequency == 1 + int(np.argmax(power))
    assert 0 < found.share < 1
    assert circle(np.ones((5, 3))).share == 0.0
