"""Protects a text that grows between runs of the page: it is what the model samples, no more."""

import math
import threading

import pytest

from model.decoding.filters import Sampling
from model.decoding.sampling import END_OF_TEXT
from model.decoding.writing import write
from tests.viz.apps import TOM
from tests.viz.builders import stories, stories_trace
from tests.viz.pages.generate.test_next_token import expected
from viz.frame.sliders import sampling_of
from viz.kit.growth import Growth, Prompt
from viz.kit.part import answer
from viz.labels import token_labels
from viz.live import store

NOW = Sampling(temperature=0.8, top_p=0.95, seed=7)
SLIDERS = {"temperature": 0.8, "top_p": 0.95}


def growing(n_tokens: int = 0, now: Sampling = NOW) -> Growth:
    """A text of Tom's, to be written up to so many new tokens."""
    own = stories()
    prompt = Prompt("a key", lambda: stories_trace(TOM), 0, 0, "L0 H0")
    writing = write(own.decoder, own.end_ids, prompt.ids, now)
    if n_tokens:
        writing.run(n_tokens)
    words = list(map(own.tokenizer.name, range(own.tokenizer.vocab_size)))
    return Growth(prompt, writing, words, sampling_of)


def written_out(growth: Growth, **asked: object) -> tuple[list[dict], list[str]]:
    """Steps and labels as a browser puts them together, answer by answer."""
    steps: list[dict] = []
    labels = token_labels(growth.prompt.tokens)
    n_prompt = len(labels)
    for _ in range(200):
        more = growth.more({"known": len(steps), "settings": SLIDERS, "at": None} | asked)
        assert more["known"] == len(steps)
        steps = steps[: more["known"]] + list(more["steps"])
        labels = labels[: n_prompt + more["known"]] + more["labels"]
        if not more["running"]:
            return steps, labels
    raise AssertionError("it never rests")


def test_what_comes_in_parts_is_the_text_the_model_samples() -> None:
    growth = growing(16)
    steps, labels = written_out(growth)
    ids = stories_trace(TOM).ids.tolist()
    new = [step["token_id"] for step in steps]
    assert new == expected(ids, NOW, 16)
    strings = stories().tokenizer.token_strings([*ids, *new])
    assert labels == token_labels(strings), "also where a piece continues the word before it"
    assert growth.more({"known": 16})["note"] == "16 new tokens."


def test_the_distribution_is_of_the_next_token_or_of_the_chosen_one() -> None:
    growth = growing(6)
    written_out(growth)
    n_prompt = len(growth.prompt.ids)
    more = growth.more({"known": 6, "at": None})
    assert (more["shown"]["at"], more["shown"]["drawn"]) == (n_prompt + 6, None)
    assert (more["arrays"]["logits"] == growth.writing.prediction(6).logits.numpy()).all()
    shown = growth.more({"known": 6, "at": n_prompt + 2})["shown"]
    assert (shown["at"], shown["drawn"]) == (n_prompt + 2, growth.writing.steps[2].token_id)
    assert shown["sampling"]["temperature"] == 0.8
    growth.writing.stopped = END_OF_TEXT
    shown = growth.more({"known": 6, "at": None})["shown"]
    assert (shown["at"], shown["drawn"]) == (n_prompt + 5, growth.writing.steps[5].token_id)


def test_nothing_is_written_that_was_not_asked_for() -> None:
    growth = growing()
    for _ in range(3):
        more = growth.more({"known": 0, "settings": SLIDERS})
        assert (more["steps"], more["running"]) == ([], False)
    growth.writing.run(8)
    growth.more({"known": 0})
    growth.writing.is_running = False  # as Stop does
    n = len(growth.writing.steps)
    assert len(growth.more({"known": 0, "settings": SLIDERS})["steps"]) == n


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"known": 10**30, "at": 10**30},
        {"known": "0", "at": "x", "settings": []},
        {"known": 0, "settings": {"temperature": "<b>", "top_k": {}, "top_p": [], "order": 7}},
        {"known": 0, "settings": {"temperature": math.inf, "top_k": -9, "min_p": 2, "order": []}},
        {"known": 0, "settings": {"temperature": 1e300, "top_k": 10**40, "order": ["top_k"] * 9}},
    ],
    ids=str,
)
def test_odd_questions_have_an_answer(asked: dict[str, object]) -> None:
    growth = growing(2)
    answer(growth, asked)
    steps, _ = written_out(growth)
    assert len(steps) == 2


def test_a_text_taken_back_or_begun_anew_has_another_key() -> None:
    growth = growing(6)
    written_out(growth)
    before = growth.more({"known": 6})["key"]
    growth.writing.again(3, seed=5)
    assert growth.more({"known": 0})["key"] != before
    assert growing(6).key != before, "as after Back, which brings fewer tokens than there are"


def test_questions_at_once_write_one_text() -> None:
    growth = growing(30)
    faults: list[BaseException] = []

    def ask() -> None:
        try:
            written_out(growth)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    new = [step.token_id for step in growth.writing.steps]
    assert new == expected(stories_trace(TOM).ids.tolist(), NOW, 30)


def test_a_text_can_be_asked_for_as_long_as_its_visitor_keeps_it() -> None:
    growth = growing(2)
    key = store.offer(growth)
    assert store.answers(key) is growth
    del growth
    assert store.answers(key) is None
