"""Protects how a text came about: what was written down about it brings it back."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.decoding.course import PUT, Change, Course, changes_of, course_of
from model.decoding.filters import DEFAULT_ORDER, Sampling
from model.decoding.sampling import Continuation, generate
from tests.model.builders import tiny_model

PROMPT = [3, 1, 4]
WARM = Sampling(temperature=3.0, seed=5)


def test_settings_hold_from_their_token_until_the_next() -> None:
    course = Course(((0, WARM),)).steered(4, replace(WARM, top_k=2))
    assert [course.at(n).top_k for n in (0, 3, 4, 9)] == [None, None, 2, 2]
    assert course.steered(9, course.at(8)) == course, "nothing changed"
    assert course.until(4) == Course(((0, WARM),))
    assert course.steered(0, replace(WARM, top_p=0.5)).turns == ((0, replace(WARM, top_p=0.5)),)


def test_random_numbers_begin_again_with_a_seed_and_after_a_token_that_was_put() -> None:
    course = Course(((0, WARM),)).steered(2, replace(WARM, seed=6)).picked(4, 7)
    assert [n for n in range(8) if course.restarts(n)] == [0, 2, 5]
    assert [course.pick(n) for n in (3, 4, 5)] == [None, 7, None]


def test_a_course_is_written_from_what_holds_now() -> None:
    """Whoever opens a link knows the sliders as they are at the end."""
    course = Course(((0, WARM),)).steered(4, replace(WARM, top_k=2, temperature=1.0)).picked(6, 9)
    now = replace(WARM, top_k=2, temperature=1.0)
    assert changes_of(course, now) == (
        Change(0, "temperature", 3.0),
        Change(0, "top_k", None),
        Change(4, "temperature", 1.0),
        Change(4, "top_k", 2),
        Change(6, PUT, 9),
    )
    assert changes_of(Course(((0, WARM),)), WARM) == ()


@st.composite
def courses(draw: st.DrawFn) -> Course:
    """Settings that change, and tokens that are put, in any places."""
    samplings = st.builds(
        Sampling,
        temperature=st.sampled_from([0.5, 0.8, 3.0]),
        top_k=st.sampled_from([None, 1, 5]),
        top_p=st.sampled_from([0.5, 1.0]),
        min_p=st.sampled_from([0.0, 0.25]),
        order=st.permutations(DEFAULT_ORDER).map(tuple),
        seed=st.integers(0, 5),
    )
    course = Course(((0, draw(samplings)),))
    for at in sorted(draw(st.sets(st.integers(1, 9), max_size=4))):
        course = course.steered(at, draw(samplings))
        if draw(st.booleans()):
            course = course.picked(at, draw(st.integers(0, 16)))
    return course


@given(course=courses(), now=courses())
def test_what_is_written_down_brings_the_course_back(course: Course, now: Course) -> None:
    sampling = now.at(0)
    assert course_of(changes_of(course, sampling), sampling) == course


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="temperature is -1"):
        course_of([Change(2, "temperature", -1.0)], WARM)


# --- the text itself --------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["causal", "prefix", "sliding_window"])
@pytest.mark.parametrize("n", [3, 4, 7])
def test_a_text_that_is_cut_continues_as_if_nothing_had_been_after(n: int, mask: str) -> None:
    """To the last bit: the first token after the prompt, and later ones."""
    model = tiny_model(mask=mask, window=3, prefix_len=2)
    generator = torch.Generator().manual_seed(5)
    text = Continuation(model, PROMPT, record=True)
    steps = [text.draw(WARM, generator) for _ in range(6)]
    whole = list(text.ids)
    last = text.prediction().logits
    seen = text.prediction_before(n)
    assert torch.equal(seen.logits, steps[n - 3].logits)
    assert all((a == b).all() for a, b in zip(seen.attention, steps[n - 3].attention, strict=True))
    text.cut(n)
    for i, token_id in enumerate(whole[n:], n - 3):
        step = text.put(token_id, WARM)
        assert torch.equal(step.logits, steps[i].logits)
        assert step.probs[token_id] == steps[i].probs[token_id]
        assert step.rank == steps[i].rank
    assert torch.equal(text.prediction().logits, last)


def test_a_continuation_draws_what_generate_does_and_looking_back_changes_nothing() -> None:
    model = tiny_model()
    drawn = [step.token_id for step in generate(model, PROMPT, WARM, max_new_tokens=8)]
    text, generator = Continuation(model, PROMPT), torch.Generator().manual_seed(5)
    for n in range(8):
        assert text.draw(WARM, generator).token_id == drawn[n]
        for place in range(3, 4 + n):
            text.prediction_before(place)
    assert text.ids == PROMPT + drawn
    assert text.is_full


def test_what_has_been_dropped_cannot_be_gone_back_to() -> None:
    text = Continuation(tiny_model(), PROMPT, slide=True)  # a context of 11
    for _ in range(10):
        text.put(2, WARM)
    assert (text.n_dropped, text.reaches(11), text.reaches(5)) == (6, True, False)
    with pytest.raises(ValueError, match="token 5 is not among 11 to 13"):
        text.cut(5)
