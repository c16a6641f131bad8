"""Protects the measurement: what it runs and in which order. No time is ever asserted."""

from functools import partial

import pytest
import torch
from torch import Tensor

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
    rounds,
    spread,
    summarise,
    time_tokens,
    timed,
    tokens_per_second,
)
from model.kv_cache import KVCache
from tests.model.builders import tiny_model

RUNS = {
    (way, n): partial(torch.full, (1, n), float(n)) for way, n in [("a", 4), ("b", 4), ("a", 2)]
}

VARIANTS = {
    "sinusoidal": {},
    "prefix": {"mask": "prefix", "prefix_len": 4},
    "short": {"max_seq_len": 2},
}


@pytest.mark.parametrize(("budget_s", "n_rounds"), [(1e-9, 3), (600, 7)])
def test_rounds_end_when_the_budget_is_spent(budget_s: float, n_rounds: int) -> None:
    times, logits = zip(*timed(RUNS, 3, 7, budget_s, part=(0.2, 0.9)), strict=True)
    assert [(timing.way, timing.n_tokens) for timing in times] == n_rounds * list(RUNS)
    assert [len(x[0]) for x in logits] == n_rounds * [4, 4, 2]
    assert all(timing.seconds > 0 for timing in times)
    progress = [timing.progress for timing in times]
    assert progress == sorted(progress)
    assert 0.2 < progress[0] < progress[-1] == 0.9


def test_the_threads_of_others_are_left_as_they_were() -> None:
    before = torch.get_num_threads()
    for _ in timed(RUNS, 1, 1):
        assert torch.get_num_threads() == before


def test_a_round_that_was_cut_short_does_not_count() -> None:
    timings = [Timing("a", n, s) for n, s in [(8, 3.0), (4, 9.0), (8, 1.0), (4, 7.0), (8, 70.0)]]
    assert rounds(timings, "a") == {4: [9.0, 7.0], 8: [3.0, 1.0]}
    assert list(rounds(timings, "a")) == [4, 8]
    assert medians(timings, "a") == {4: 8.0, 8: 2.0}
    assert rounds(timings, "b") == {}


def test_spread_by_hand() -> None:
    steady, unsteady = 4 * [2.0], [1.0, 2.0, 4.0, 6.0, 9.0]
    assert spread([steady]) == 1
    assert spread([unsteady]) == 3
    assert spread([steady, unsteady]) == 2


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("budget_s", "n_rounds"), [(1e-9, LEAST_ROUNDS), (600, MOST_ROUNDS)])
def test_every_length_is_run_both_ways_and_says_the_same(
    variant: str, budget_s: float, n_rounds: int
) -> None:
    model = tiny_model(**VARIANTS[variant])
    timings, lengths = list(time_tokens(model, budget_s)), lengths_to_time(model)
    context, first = model.config.max_seq_len, model.config.prefix_len or 1
    assert lengths[-1] == context
    assert lengths[0] > first
    both = [(way, n) for n in lengths[::-1] for way in (WITH_CACHE, WITHOUT)]
    decoded = (DECODE, context - first if budget_s > 1 else 1)
    assert [(timing.way, timing.n_tokens) for timing in timings] == [
        *n_rounds * [(PREFILL, context), *both],
        *DECODE_ROUNDS * [decoded],
    ]
    assert max(timing.difference for timing in timings) < 1e-5
    progress = [timing.progress for timing in timings]
    assert progress == sorted(progress)
    assert 0 < progress[0] < progress[-1] == 1


def test_a_cache_is_given_the_end_alone_and_one_that_says_something_else_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, given = tiny_model(), []
    right, context = model.forward, model.config.max_seq_len

    def forward(ids: Tensor, cache: KVCache | None = None) -> Tensor:
        given.append(ids.shape[1])
        return right(ids, cache=cache) + 0.1 * (cache is None)

    monkeypatch.setattr(model, "forward", forward)
    timings = list(time_tokens(model, budget_s=1e-9))
    assert {timing.way for timing in timings if timing.difference > 1e-3} == {WITHOUT}
    in_turn = [context, *(fed for n in lengths_to_time(model)[::-1] for fed in (1, n))]
    assert given == in_turn[:3] + LEAST_ROUNDS * in_turn + DECODE_ROUNDS * [1]


@pytest.mark.parametrize("changes", [{"max_seq_len": 1}, {"mask": "prefix", "prefix_len": 11}])
def test_nothing_to_time_is_said(changes: dict[str, object]) -> None:
    model = tiny_model(**changes)
    assert lengths_to_time(model) == []
    with pytest.raises(ValueError, match="nothing to time"):
        next(time_tokens(model))


def test_lengths_are_a_root_of_two_apart() -> None:
    assert lengths_to_time(tiny_model(max_seq_len=256)) == [16, 23, 32, 45, 64, 91, 128, 181, 256]


def test_a_summary_by_hand() -> None:
    timings = [Timing(way, 8, s) for way, s in [(WITHOUT, 4.0), (WITH_CACHE, 2.0), (PREFILL, 2.0)]]
    assert summarise(timings) is None
    timings += [Timing(WITH_CACHE, 4, 1.0), Timing(WITHOUT, 4, 3.0, difference=0.25)]
    summary = summarise(timings)
    assert (summary.with_cache, summary.without) == ({4: 1.0, 8: 2.0}, {4: 3.0, 8: 4.0})
    assert (summary.prefill, summary.decode) == (4.0, None)
    assert (summary.n_rounds, summary.spread, summary.difference) == (1, 1.0, 0.25)
    decoded = [Timing(DECODE, 10, s) for s in (2.0, 5.0, 4.0)]
    assert tokens_per_second(decoded, DECODE) == 2.5


@pytest.mark.parametrize(("exponent", "factor"), [(0.0, 3.0), (1.0, 0.5), (1.7, 1e-6)])
def test_growth_of_an_exact_power(exponent: float, factor: float) -> None:
    times = {n: factor * n**exponent for n in (7, 30, 201)}
    assert growth(times) == pytest.approx((exponent, factor))
