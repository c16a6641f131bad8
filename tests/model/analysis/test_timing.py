"""Protects the measurement: what it runs and in which order. No time is ever asserted."""

import pytest
import torch

from model.analysis.timing import (
    DECODE,
    DECODE_ROUNDS,
    LEAST_ROUNDS,
    MOST_ROUNDS,
    PREFILL,
    WITH_CACHE,
    WITHOUT,
    Timing,
    growth,
    lengths_to_time,
    medians,
    spread,
    time_tokens,
    tokens_per_second,
)
from tests.model.builders import tiny_model

VARIANTS = {
    "sinusoidal": {},
    "prefix": {"mask": "prefix", "prefix_len": 4},
    "short": {"max_seq_len": 2},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_length_is_run_both_ways_and_says_the_same(variant: str) -> None:
    model = tiny_model(**VARIANTS[variant])
    timings, lengths = list(time_tokens(model, budget_s=600)), lengths_to_time(model)
    context, first = model.config.max_seq_len, model.config.prefix_len or 1
    assert lengths[-1] == context
    assert lengths[0] > first
    for way in (WITH_CACHE, WITHOUT):
        assert [
            timing.n_tokens for timing in timings if timing.way == way
        ] == MOST_ROUNDS * lengths[::-1]
    assert [timing.n_tokens for timing in timings if timing.way == PREFILL] == MOST_ROUNDS * [
        context
    ]
    assert [timing.n_tokens for timing in timings if timing.way == DECODE] == DECODE_ROUNDS * [
        context - first
    ]
    assert all(timing.seconds > 0 for timing in timings)
    assert max(timing.difference for timing in timings) < 1e-5
    progress = [timing.progress for timing in timings]
    assert progress == sorted(progress)
    assert 0 < progress[0] < progress[-1] == 1


def test_a_spent_budget_ends_it_after_a_few_rounds() -> None:
    model = tiny_model()
    timings = list(time_tokens(model, budget_s=1e-9))
    n_lengths = len(lengths_to_time(model))
    assert len(timings) == LEAST_ROUNDS * (1 + 2 * n_lengths) + DECODE_ROUNDS
    assert timings[-1].progress == 1


def test_the_threads_of_others_are_left_as_they_were() -> None:
    before = torch.get_num_threads()
    for _ in time_tokens(tiny_model(), budget_s=1e-9):
        assert torch.get_num_threads() == before


@pytest.mark.parametrize("changes", [{"max_seq_len": 1}, {"mask": "prefix", "prefix_len": 11}])
def test_nothing_to_time_is_said(changes: dict[str, object]) -> None:
    model = tiny_model(**changes)
    assert lengths_to_time(model) == []
    with pytest.raises(ValueError, match="nothing to time"):
        next(time_tokens(model))


def test_lengths_are_a_root_of_two_apart() -> None:
    assert lengths_to_time(tiny_model(max_seq_len=256)) == [16, 23, 32, 45, 64, 91, 128, 181, 256]


def test_medians_and_rates_by_hand() -> None:
    timings = [Timing(WITHOUT, n, s) for n, s in [(8, 3.0), (4, 9.0), (8, 1.0), (8, 7.0)]]
    timings += [Timing(DECODE, 10, s) for s in (2.0, 5.0, 4.0)]
    assert medians(timings, WITHOUT) == {4: 9.0, 8: 3.0}
    assert list(medians(timings, WITHOUT)) == [4, 8]
    assert medians(timings, WITH_CACHE) == {}
    assert tokens_per_second(timings, DECODE) == 2.5


def test_spread_by_hand() -> None:
    steady = [Timing(WITHOUT, 8, 2.0) for _ in range(4)]
    assert spread(steady) == 1
    unsteady = [Timing(WITH_CACHE, 8, s) for s in (1.0, 2.0, 4.0, 6.0, 9.0)]
    assert spread(unsteady) == 3
    assert spread([*steady, *unsteady]) == 2


@pytest.mark.parametrize(("exponent", "factor"), [(0.0, 3.0), (1.0, 0.5), (1.7, 1e-6)])
def test_growth_of_an_exact_power(exponent: float, factor: float) -> None:
    times = {n: factor * n**exponent for n in (7, 30, 201)}
    assert growth(times) == pytest.approx((exponent, factor))
