"""Protects decoding: the filters against slow exact references, and generation step by step."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.decoding.filters import (
    DEFAULT_ORDER,
    FILTERS,
    GREEDY,
    Sampling,
    entropy,
    filter_logits,
    min_p,
    top_k,
    top_p,
)
from model.decoding.sampling import Step, generate, rank_of, sample
from model.masks import MASKS
from model.tap import Recorder, attach
from tests.model.builders import GROUPED, tiny_model

# Whole-number weights make ties common and masses exact; logits are their logarithms.
weights_lists = st.lists(st.integers(1, 5), min_size=1, max_size=13)
logits_lists = st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=13)
PROMPT = [3, 1, 4]


def log(weights: Sequence[int]) -> Tensor:
    """Logits whose softmax is proportional to the weights."""
    return torch.tensor(weights).double().log()


def kept(logits: Tensor) -> list[int]:
    """Ids that survived."""
    return torch.nonzero(logits > -math.inf).flatten().tolist()


def ranked(weights: Sequence[float]) -> list[int]:
    """Ids from likely to unlikely, lower ids first on ties."""
    return sorted(range(len(weights)), key=lambda i: (-weights[i], i))


def nucleus(weights: Sequence[int], p: Fraction) -> list[int]:
    """The fewest likeliest ids whose exact mass reaches p."""
    chosen: list[int] = []
    for i in ranked(weights):
        chosen.append(i)
        if Fraction(sum(weights[j] for j in chosen), sum(weights)) >= p:
            break
    return sorted(chosen)


@given(weights_lists, st.integers(1, 15))
def test_top_k_keeps_exactly_k_even_on_ties(weights: list[int], k: int) -> None:
    logits = log(weights)
    filtered = top_k(logits, k)
    assert kept(filtered) == sorted(ranked(weights)[:k])
    assert torch.equal(filtered[kept(filtered)], logits[kept(filtered)])


@given(weights_lists, st.integers(1, 9999))
def test_top_p_keeps_the_smallest_nucleus(weights: list[int], per_myriad: int) -> None:
    p = Fraction(per_myriad, 10_000)
    masses = [Fraction(weight, sum(weights)) for weight in weights]
    on_the_edge = {sum(masses[i] for i in ranked(weights)[:n]) for n in range(1, len(weights) + 1)}
    assume(p not in on_the_edge)  # there, a rounding decides
    logits = log(weights)
    filtered = top_p(logits, float(p))
    assert kept(filtered) == nucleus(weights, p)
    assert torch.equal(filtered[kept(filtered)], logits[kept(filtered)])


@given(weights_lists, st.integers(1, 99))
def test_min_p_keeps_what_is_likely_beside_the_likeliest(weights: list[int], percent: int) -> None:
    share = Fraction(percent, 100)
    expected = [i for i, weight in enumerate(weights) if weight >= share * max(weights)]
    assume(all(weight != share * max(weights) for weight in weights))  # there, a rounding decides
    logits = log(weights)
    filtered = min_p(logits, float(share))
    assert kept(filtered) == expected
    assert torch.equal(filtered[expected], logits[expected])
    assert torch.equal(min_p(logits, 0.0), logits)


@given(
    logits_lists,
    st.floats(1e-3, 1e3),
    st.none() | st.integers(1, 15),
    st.floats(0, 1, exclude_min=True),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from(list(permutations(FILTERS))),
)
def test_filters_leave_at_least_one_and_a_distribution(
    values: list[float],
    temperature: float,
    k: int | None,
    p: float,
    share: float,
    order: tuple[str, ...],
) -> None:
    sampling = Sampling(temperature=temperature, top_k=k, top_p=p, min_p=share, order=order)
    step = sample(torch.tensor(values), sampling, torch.Generator().manual_seed(0))
    assert 1 <= step.kept.sum() <= (k or len(values))
    assert step.kept[step.token_id]
    assert step.kept[torch.tensor(values).argmax()]
    assert step.probs.sum().item() == pytest.approx(1, abs=1e-5)
    assert (step.probs[~step.kept] == 0).all()


def test_what_was_removed_stays_removed() -> None:
    logits = torch.tensor([1.0, -math.inf, 3.0, 2.0])
    assert kept(top_p(logits, 0.999)) == [0, 2, 3]
    assert kept(top_k(logits, 3)) == [0, 2, 3]
    assert kept(filter_logits(logits, Sampling(temperature=2.0))) == [0, 2, 3]


def test_the_order_is_the_callers() -> None:
    """At T=2 a nucleus of 0.8 needs three of 3, 2, 1, 0; measured before, it needs two."""
    logits, sampling = torch.tensor([3.0, 2.0, 1.0, 0.0]), Sampling(temperature=2.0, top_p=0.8)
    assert kept(filter_logits(logits, sampling)) == [0, 1, 2]
    reversed_order = replace(sampling, order=("min_p", "top_p", "top_k", "temperature"))
    assert kept(filter_logits(logits, reversed_order)) == [0, 1]
    assert filter_logits(logits, reversed_order).tolist()[:2] == [1.5, 1.0]


def test_min_p_comes_last_and_looks_at_the_top_one_left() -> None:
    """At T=2 the second of ln 16, ln 4, ln 1 has half the first's probability, the third 1/4."""
    sampling = Sampling(temperature=2.0, min_p=0.4)
    assert kept(filter_logits(log([16, 4, 1]), sampling)) == [0, 1]
    first = replace(sampling, order=("min_p", "temperature", "top_k", "top_p"))
    assert kept(filter_logits(log([16, 4, 1]), first)) == [0]


@pytest.mark.parametrize(
    "order", [(), ("top_k",), (*DEFAULT_ORDER, "top_k"), ("heat", *DEFAULT_ORDER[1:])]
)
def test_an_order_names_every_filter_once(order: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="name each of temperature, top_k, top_p, min_p once"):
        Sampling(order=order)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=9))
def test_rank_counts_the_likelier_and_the_equal_before(weights: list[int]) -> None:
    logits = log(weights)
    assert [rank_of(i, logits) for i in ranked(weights)] == list(range(len(weights)))


@given(weights_lists)
def test_greedy_is_what_top_k_1_keeps(weights: list[int]) -> None:
    logits = log(weights)
    step = sample(logits, GREEDY, torch.Generator())
    assert [step.token_id] == kept(top_k(logits, 1)) == torch.nonzero(step.kept).flatten().tolist()
    assert (step.rank, step.probs.sum().item(), step.probs[step.token_id].item()) == (0, 1, 1)


def test_temperature_by_hand() -> None:
    probs = filter_logits(log([1, 4, 4]), Sampling(temperature=2.0)).softmax(dim=0)
    torch.testing.assert_close(probs, torch.tensor([0.2, 0.4, 0.4]).double())
    assert torch.equal(filter_logits(log([1, 4]), Sampling()), log([1, 4]))
    assert torch.equal(filter_logits(log([1, 4]), Sampling(top_k=0)), log([1, 4]))


def test_filters_change_nothing_in_place() -> None:
    logits = torch.tensor([3.0, 2.0, 1.0])
    filter_logits(logits, Sampling(temperature=0.5, top_k=1, top_p=0.1))
    assert logits.tolist() == [3, 2, 1]


def test_entropy_by_hand() -> None:
    assert entropy(torch.tensor([0.0, 1.0, 0.0])) == 0
    assert entropy(torch.full((7,), 1 / 7)) == pytest.approx(math.log(7))
    expected = 0.75 * math.log(4 / 3) + 0.25 * math.log(4)
    assert entropy(torch.tensor([0.75, 0.25])) == pytest.approx(expected)


def test_tokens_are_drawn_as_often_as_their_probability_says() -> None:
    generator, sampling = torch.Generator().manual_seed(0), Sampling(top_k=2)
    draws = [sample(log([1, 5, 3]), sampling, generator).token_id for _ in range(2000)]
    assert draws.count(0) == 0
    assert draws.count(1) / 2000 == pytest.approx(5 / 8, abs=0.04)


def drawn(model: DecoderTransformer, sampling: Sampling, **changes: object) -> list[Step]:
    """The steps after a prompt of three."""
    return list(generate(model, PROMPT, sampling, **{"max_new_tokens": 8} | changes))


def ids_of(steps: list[Step]) -> list[int]:
    """The generated ids."""
    return [step.token_id for step in steps]


def test_same_seed_same_text_whatever_happened_before() -> None:
    model = tiny_model()
    first = ids_of(drawn(model, Sampling(temperature=3.0)))
    torch.rand(5)
    assert ids_of(drawn(model, Sampling(temperature=3.0))) == first
    others = [ids_of(drawn(model, Sampling(temperature=3.0, seed=seed))) for seed in range(1, 6)]
    assert any(other != first for other in others)


def test_a_step_says_what_was_left() -> None:
    for step in drawn(tiny_model(), Sampling(temperature=0.7, top_k=5)):
        assert step.logits.shape == step.kept.shape == step.probs.shape == (17,)
        assert step.kept.sum() == 5
        expected = (step.logits[step.kept].double() / 0.7).softmax(dim=0)
        torch.testing.assert_close(step.probs[step.kept], expected)


def test_only_new_tokens_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    model, lengths = tiny_model(), []
    embed = model.embed_tokens
    monkeypatch.setattr(
        model, "embed_tokens", lambda ids, *rest: lengths.append(ids.shape[1]) or embed(ids, *rest)
    )
    drawn(model, GREEDY)
    assert lengths == [3, *[1] * 7]


def test_the_last_step_says_why_it_is_the_last() -> None:
    model = tiny_model()
    whole = ids_of(drawn(model, GREEDY))
    end_id, n_until_end = whole[-1], whole.index(whole[-1]) + 1
    for n, options, reason in (
        (2, {"max_new_tokens": 2}, "max_new_tokens"),
        (8, {"max_new_tokens": 8}, "max_new_tokens"),
        (8, {"max_new_tokens": 100}, "context full"),
        (n_until_end, {"max_new_tokens": 100, "end_ids": {end_id}}, "end of text"),
    ):
        steps = drawn(model, GREEDY, **options)
        assert [step.stopped for step in steps] == [*[None] * (n - 1), reason]


def test_steps_carry_the_rank_before_any_filter() -> None:
    steps = drawn(tiny_model(), Sampling(temperature=5.0))
    for step in steps:
        likelier_first = step.logits.argsort(descending=True)
        assert likelier_first[step.rank] == step.token_id
    assert max(step.rank for step in steps) > 0


@pytest.mark.parametrize("mask", MASKS)
def test_recorded_steps_carry_the_row_that_predicted_them(mask: str) -> None:
    model = tiny_model(**GROUPED, mask=mask, window=3, prefix_len=5, position="alibi")
    ids = list(PROMPT)
    plain = ids_of(drawn(model, GREEDY))
    for step in drawn(model, GREEDY, record=True):
        recorder = Recorder()
        model(torch.tensor([ids]), tap=attach(recorder))
        for layer, row in enumerate(step.attention):
            expected = recorder.values[f"decoder.blocks.{layer}.attn.pattern"][0, :, -1]
            assert row.shape == (6, len(ids))
            np.testing.assert_allclose(row, expected, atol=1e-5)
            assert not row.flags.writeable
        assert len(step.attention) == 2
        ids.append(step.token_id)
    assert ids[3:] == plain
    assert drawn(model, GREEDY)[0].attention == ()


def test_a_sliding_context_goes_on_with_its_newer_half() -> None:
    """Context 11: a full one drops 6 and the last 5 are read afresh from position 0."""
    model, ids, n_dropped = tiny_model(), list(PROMPT), 0
    steps = drawn(model, Sampling(temperature=3.0), max_new_tokens=30, slide=True, record=True)
    for step in steps:
        if len(ids) - n_dropped == 11:
            n_dropped += 6
        assert step.n_dropped == n_dropped
        assert step.attention[0].shape == (3, len(ids) - n_dropped)
        logits = model(torch.tensor([ids[n_dropped:]]))[0, -1]
        torch.testing.assert_close(step.logits, logits, atol=1e-4, rtol=0)
        ids.append(step.token_id)
    assert (len(steps), n_dropped, steps[-1].stopped) == (30, 24, "max_new_tokens")


def test_a_stream_can_be_closed_at_any_moment() -> None:
    model, whole = tiny_model(), ids_of(drawn(tiny_model(), GREEDY))
    for n_steps in range(4):
        stream = generate(model, PROMPT, GREEDY, max_new_tokens=8)
        assert [next(stream).token_id for _ in range(n_steps)] == whole[:n_steps]
        assert not torch.is_inference_mode_enabled(), "nor is the caller between two steps"
        stream.close()
        assert list(stream) == []
        assert not torch.is_inference_mode_enabled()
    assert ids_of(drawn(model, GREEDY)) == whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.0}, "temperature is 0; it must be .*top-k 1 always"),
        ({"temperature": 1e-40}, "temperature is 1e-40; it must be"),  # logits / T overflows
        ({"temperature": math.inf}, "temperature is inf"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"top_k": -1}, "top-k is -1; it must be at least 0, which is off"),
        ({"top_p": 0.0}, "top-p is 0; it must be above 0 and at most 1"),
        ({"top_p": math.nan}, "top-p is nan"),
        ({"min_p": -0.1}, "min-p is -0.1; it must be at least 0 and below 1"),
        ({"min_p": 1.0}, "min-p is 1; it must be at least 0 and below 1"),
        ({"min_p": math.nan}, "min-p is nan"),
        ({"seed": 2**64}, "seed is 18446744073709551616; it must"),
        ({"order": ("top_k",)}, "the order of filters is top_k; name each"),
    ],
)
def test_impossible_sampling_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sampling(**options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": []}, "the prompt has 0 tokens; it must have between 1 and 10"),
        (
            {"ids": [1] * 11},
            "the prompt has 11 tokens; .* between 1 and 10, .* no more than 11 are run",
        ),
        ({"max_new_tokens": 0}, "the number of new tokens is 0; it must be at least 1"),
        ({"ids": [1] * 12, "slide": True}, "the prompt has 12 tokens; .* between 1 and 11"),
    ],
)
def test_impossible_generation_is_refused(changes: dict[str, Any], message: str) -> None:
    options = {"ids": PROMPT, "max_new_tokens": 3} | changes
    with pytest.raises(ValueError, match=message):
        list(generate(tiny_model(), options.pop("ids"), Sampling(), **options))


def test_a_filter_alone_refuses_to_keep_nothing() -> None:
    with pytest.raises(ValueError, match="top-k is 0; it must be at least 1"):
        top_k(log([1, 2]), 0)
