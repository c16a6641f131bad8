"""Protects beam search: the exact best where it can be, greedy at width 1, every step explained."""

import itertools
import math
from typing import Any

import pytest
import torch

from model.architectures.decoder import DecoderTransformer
from model.decoding.beam import BeamStep, Candidate, beam_search, normalised_score
from model.masks import MASKS
from model.positions import POSITIONS
from tests.model.builders import GROUPED, tiny_model

PROMPT = [3, 1, 4]
V = 6
END, OTHER_END = 2, 4
SEEDS = range(2)


def small(seed: int, **changes: object) -> DecoderTransformer:
    """A model of 6 tokens, so that all texts can be counted."""
    return tiny_model(seed, **{"vocab_size": V} | changes)


def searched(model: DecoderTransformer, **options: object) -> list[BeamStep]:
    """The steps behind a prompt of three."""
    return list(beam_search(model, PROMPT, **{"beam_width": 3, "max_new_tokens": 5} | options))


def log_prob(model: DecoderTransformer, new_ids: tuple[int, ...]) -> float:
    """Log probability of a continuation, by one pass over the whole text."""
    ids = torch.tensor([[*PROMPT, *new_ids]])
    log_probs = model(ids).double().log_softmax(dim=-1)[0, len(PROMPT) - 1 : -1]
    return log_probs[range(len(new_ids)), new_ids].sum().item()


def best_of_all(
    model: DecoderTransformer, length: int, alpha: float, end_ids: tuple[int, ...]
) -> tuple[int, ...]:
    """The best-scored of all texts of a length and of all shorter ones that end."""
    texts = set()
    for text in itertools.product(range(V), repeat=length):
        ends = [n for n, token_id in enumerate(text) if token_id in end_ids]
        texts.add(text[: ends[0] + 1] if ends else text)
    return max(texts, key=lambda ids: log_prob(model, ids) / ((5 + len(ids)) / 6) ** alpha)


@pytest.mark.parametrize("end_ids", [(), (END,), (END, OTHER_END)])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 3.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_beam_as_wide_as_the_vocabulary_or_wider_is_exact_over_two_tokens(
    seed: int, alpha: float, end_ids: tuple[int, ...]
) -> None:
    model = small(seed)
    options = {"max_new_tokens": 2, "length_penalty": alpha, "end_ids": end_ids}
    for width in (V, 2 * V + 1):
        steps = searched(model, beam_width=width, **options)
        assert steps[-1].winner.ids == best_of_all(model, 2, alpha, end_ids)


@pytest.mark.parametrize(("position", "mask"), list(zip(POSITIONS, MASKS, strict=False)))
def test_totals_are_those_of_the_whole_text(position: str, mask: str) -> None:
    """Rows of the cache follow their beams. A prefix must be whole: its totals change behind it."""
    model = tiny_model(**GROUPED, position=position, mask=mask, window=3, prefix_len=3)
    for step in searched(model, max_new_tokens=8):
        for item in step.candidates:
            assert item.total == pytest.approx(log_prob(model, item.ids), abs=1e-4)


@pytest.mark.parametrize("end_ids", [(), (END,), (END, OTHER_END)])
def test_each_step_says_what_was_considered_and_kept(end_ids: tuple[int, ...]) -> None:
    before: tuple[Candidate | None, ...] = (None,)
    n_places = 3
    for step in searched(small(0), end_ids=end_ids, length_penalty=0.7):
        totals = [item.total for item in step.candidates]
        assert totals == sorted(totals, reverse=True)
        assert len(totals) == min(2 * n_places, V * sum(map(continues, before)))
        assert [item.kept for item in step.candidates[:n_places]] == [True] * n_places
        assert not any(item.kept for item in step.candidates[n_places:])
        for item in step.candidates:
            parent = None if item.parent is None else before[item.parent]
            assert continues(parent)
            ids, total = (parent.ids, parent.total) if parent else ((), 0.0)
            assert item.ids == (*ids, item.token_id)
            assert item.total == pytest.approx(total + item.log_prob)
            assert item.score == normalised_score(item.total, len(item.ids), 0.7)
            assert item.finished == (item.token_id in end_ids)
        n_places -= sum(item.kept and item.finished for item in step.candidates)
        before = step.candidates


def continues(item: Candidate | None) -> bool:
    """Whether a candidate is a beam of the next step; None is the prompt."""
    return item is None or (item.kept and not item.finished)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_winner_is_the_best_of_all_that_was_kept(seed: int) -> None:
    steps = searched(small(seed), end_ids={END}, max_new_tokens=8)
    assert [step.stopped for step in steps[:-1]] == [None] * (len(steps) - 1)
    assert [step.winner for step in steps[:-1]] == [None] * (len(steps) - 1)
    last = steps[-1]
    ended = [item for step in steps for item in step.candidates if item.kept and item.finished]
    going_on = [item for item in last.candidates if continues(item)]
    assert last.winner == max([*ended, *going_on], key=lambda item: item.score)
    if last.stopped == "end of text":
        assert last.winner.finished


def test_it_stops_for_a_reason() -> None:
    assert searched(tiny_model(), max_new_tokens=2)[-1].stopped == "max_new_tokens"
    assert len(searched(tiny_model(), max_new_tokens=100)) == 8
    assert searched(tiny_model(), max_new_tokens=100)[-1].stopped == "context full"
    stops = [
        searched(small(seed), end_ids={END}, max_new_tokens=8)[-1].stopped for seed in range(9)
    ]
    assert "end of text" in stops


def test_score_by_hand() -> None:
    assert normalised_score(-6.0, 7, 1.0) == -3.0
    assert normalised_score(-6.0, 19, 0.5) == -3.0
    assert normalised_score(-6.0, 7, 0.0) == -6.0
    by_length = [normalised_score(-1.2, 2, 1.0), normalised_score(-2.0, 4, 1.0)]
    assert by_length == pytest.approx([-1.2 * 6 / 7, -2.0 * 6 / 9]), "by n it were −0.6 and −0.5"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_width": 0}, "beam width is 0; it must be between 1 and 1,000"),
        ({"beam_width": 1001}, "beam width is 1,001; it must be between 1 and 1,000"),
        ({"length_penalty": -0.5}, "length penalty is -0.5; it must be at least 0 and at most"),
        ({"length_penalty": 1e308}, r"length penalty is 1e\+308; it must be .* at most 10"),
        ({"length_penalty": math.nan}, "length penalty is nan"),
        ({"max_new_tokens": 0}, "the number of new tokens is 0; it must be at least 1"),
    ],
)
def test_impossible_searches_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        searched(tiny_model(), **options)


def test_a_search_can_be_closed_at_any_moment() -> None:
    stream = beam_search(tiny_model(), PROMPT, beam_width=3, max_new_tokens=5)
    first = next(stream)
    assert not torch.is_inference_mode_enabled()
    stream.close()
    assert searched(tiny_model())[0] == first
