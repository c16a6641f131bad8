"""Protects the times of cheaper attention: what is timed computes what it says."""

import numpy as np
import pytest
import torch

from model.analysis import cheaper_timing
from model.analysis.cheaper import WAYS, Head, Sizes
from model.analysis.cheaper_timing import EXACT, LINEAR, WINDOW, time_ways, ways
from model.analysis.timing import Timing, summarise_ways
from model.worked_out import Attending

T, DH = 192, 5


@pytest.mark.parametrize("window", [1, 100, 300])
def test_each_way_gives_the_z_of_its_weights(window: int) -> None:
    q, k, v = np.random.default_rng(1).standard_normal((3, T, DH))
    mask = np.tril(np.ones((T, T), bool))
    layer = Attending(q=q[None], k=k[None], scale=DH**-0.5, mask=mask)
    head = Head(layer, 0, v, layer.pattern_of(0, dtype=np.float64))
    given = [torch.tensor(x) for x in (q, k, v)]
    found = {name: way(*given) for name, way in ways(window, [T]).items()}
    sizes = Sizes(window=window)
    for name, weights in {
        EXACT: head.weights,
        WINDOW: WAYS["window"](head, sizes),
        LINEAR: WAYS["linear"](head, sizes),
    }.items():
        np.testing.assert_allclose(found[name].numpy(), weights @ v, atol=1e-10)


def test_every_way_is_timed_at_every_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cheaper_timing, "LENGTHS", (64, 128))
    q, k, v = np.random.default_rng(1).standard_normal((3, 10, DH))
    timings = list(time_ways((q, k, v), window=4, budget_s=1e-9))
    assert len(timings) == 3 * 2 * cheaper_timing.LEAST_ROUNDS
    progress = [x.progress for x in timings]
    assert progress == sorted(progress)
    assert progress[-1] == 1
    found = summarise_ways(timings, (EXACT, WINDOW, LINEAR))
    assert found is not None
    assert {way: list(x) for way, x in found.seconds.items()} == {
        way: [64, 128] for way in (EXACT, WINDOW, LINEAR)
    }
    assert found.n_rounds == cheaper_timing.LEAST_ROUNDS
    assert found.difference < 1e-5


def test_one_length_is_nothing_to_show() -> None:
    names = (EXACT, WINDOW, LINEAR)
    assert summarise_ways([], names) is None
    assert summarise_ways([Timing(way, 64, 1.0) for way in names], names) is None
