"""Protects the Next token page: texts and distributions are the model's, links bring them back."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.data.tokenizer import train_characters
from model.decoding.filters import DEFAULT_ORDER, Sampling
from model.decoding.sampling import generate
from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint, tiny_model
from tests.viz.apps import (
    TOM,
    address_of,
    button,
    chosen,
    control,
    lines,
    open_page,
)
from tests.viz.builders import live_data, stories, stories_trace
from viz.frame import settings, state
from viz.labels import visible
from viz.live import store

PAGE = "Next token"


def press(app: AppTest, label: str) -> None:
    """Press the one button of this label."""
    button(app, label).click().run()
    assert not app.exception


def opened(address: dict[str, str]) -> AppTest:
    """The app as a visitor with a copied link gets it."""
    return open_page(address["page"], **{k: v for k, v in address.items() if k != "page"})


def write_out(app: AppTest) -> list[int]:
    """Ids of the new tokens once the text rests, as the browser's ticks would bring it there."""
    for _ in range(90):
        if not live_data(app)["running"]:
            break
        app.run()
    assert not live_data(app)["running"]
    return [step["token_id"] for step in live_data(app)["steps"]]


def act(app: AppTest, kind: str, at: int, token: int | None = None) -> None:
    """What a click on a bar, or on "Again from here", asks for; then the page runs again."""
    data = live_data(app)
    settings = {name: data["settings"][name] for name in (*DEFAULT_ORDER, "order")}
    asked = {"kind": kind, "at": at, "token": token}
    answers = store.answers(data["asks"])
    assert answers
    answers.more({"known": at, "settings": settings, "at": None, "act": asked})
    app.run()
    assert not app.exception


def expected(ids: list[int], sampling: Sampling, n: int) -> list[int]:
    """What the model samples."""
    end_id = stories().tokenizer.end_id
    steps = generate(stories().model, ids, sampling, max_new_tokens=n, end_ids={end_id})
    return [step.token_id for step in steps]


def test_the_whole_vocabulary_is_sent_for_every_place_of_the_prompt() -> None:
    query = {"temperature": "1.5", "top_k": "10", "top_p": "0.9", "min_p": "0.1", "token": "3"}
    app = open_page(PAGE, sentence=TOM, **query)
    trace, data = stories_trace(TOM), live_data(app)
    (shown,) = data["shown"]
    assert (store.array(data["arrays"]["logits"]["id"]) == trace.logits[3]).all()
    assert (shown["at"], shown["sampling"], shown["drawn"]) == (4, None, trace.ids[4])
    settings = {name: data["settings"][name] for name in (*DEFAULT_ORDER, "order")}
    order = list(DEFAULT_ORDER)
    assert settings == {
        "temperature": 1.5, "top_k": 10, "top_p": 0.9, "min_p": 0.1, "order": order
    }  # fmt: skip
    leading = np.argsort(-trace.logits[3], kind="stable")[: len(shown["ids"])].tolist()
    if trace.ids[4] not in leading:
        leading[-1] = int(trace.ids[4])
    assert shown["ids"] == leading
    strings = stories().tokenizer.token_strings
    assert shown["labels"] == [visible(strings([i])[0]) for i in leading]


def test_top_k_left_alone_keeps_all_tokens_of_another_model(shelf: Path) -> None:
    tiny_checkpoint(shelf / "small")  # 13 tokens
    tokenizer = train_characters([SENTENCE, "bdfgijklpqruvwxyz"])
    checkpoint.save(shelf / "large", tiny_model(vocab_size=tokenizer.vocab_size), tokenizer)
    app = open_page(PAGE, model="small", sentence="the cat")
    chosen(app, model="large")
    assert control(app, "top_k") is None
    assert lines(app, "note") == []


def test_sliders_act_from_the_next_token_on_and_the_link_says_so() -> None:
    app = open_page(PAGE, sentence=TOM, seed="3", new_tokens="5", temperature="0.6")
    press(app, "Start")
    first = write_out(app)
    app.session_state["temperature"] = 2.5
    press(app, "Continue")
    whole = write_out(app)
    assert (whole[:5], len(whole)) == (first, 10)
    ids = stories_trace(TOM).ids.tolist()
    assert whole != expected(ids, Sampling(temperature=0.6, top_p=0.95, seed=3), 10)
    assert live_data(app)["marks"] == [{"at": 5, "text": "from here on temperature 0.6 → 2.5"}]
    address = address_of(app)
    assert address["changes"] == "0-temperature-0.6~5-temperature-2.5"
    again = opened(address)
    assert write_out(again) == whole
    assert address_of(again) == address


def test_forks_come_back_from_the_link() -> None:
    """Another seed from a token on, a token put in place of one, and one appended."""
    app = open_page(PAGE, sentence=TOM, seed="3", new_tokens="8", written="8")
    first, n_prompt = write_out(app), len(stories_trace(TOM).ids)
    act(app, "again", n_prompt + 4)
    second = write_out(app)
    assert (second[:4], len(second)) == (first[:4], 8)
    act(app, "put", n_prompt + 6, token=413)
    third = write_out(app)
    assert third == [*second[:6], 413]
    act(app, "put", n_prompt + 7, token=300)
    press(app, "Continue")
    whole = write_out(app)
    assert whole[:8] == [*third, 300]
    assert len(whole) > 8
    assert live_data(app)["steps"][6]["put"]
    address = address_of(app)
    again = opened(address)
    assert write_out(again) == whole
    assert live_data(again)["marks"] == live_data(app)["marks"]
    assert address_of(again) == address


@pytest.mark.parametrize(
    "asked",
    [
        ("put", 2, 5),
        ("put", 12, 10**9),
        ("again", -3, None),
    ],
)
def test_what_cannot_be_done_is_not_done(asked: tuple[str, int, int | None]) -> None:
    app = open_page(PAGE, sentence=TOM, new_tokens="3", written="3")
    ids = write_out(app)
    act(app, *asked)
    assert write_out(app) == ids


def test_too_many_changes_are_said_and_left_out_of_the_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(vars(settings.CHANGES), "most", 6)
    app = open_page(PAGE, sentence="Once", mode="sampling")
    for i in range(5):
        app.session_state["temperature"] = 0.5 + i % 2
        app.session_state["top_k"] = 5 + i % 2
        press(app, "Step")
    assert "more than 6 times" in live_data(app)["note"]
    assert not {"changes", "written"} & set(address_of(app))


def test_another_seed_is_another_text_and_none_is_written_unasked() -> None:
    app = open_page(PAGE, sentence="Lily saw a dog", new_tokens="6", written="6")
    write_out(app)
    app.number_input(key="seed").set_value(8).run()
    assert (write_out(app), "written" in address_of(app)) == ([], False)
    press(app, "New seed")
    seed = control(app, "seed")
    assert seed not in (0, 8)
    sampling = Sampling(temperature=0.8, top_p=0.95, seed=seed)
    ids = stories_trace("Lily saw a dog").ids.tolist()
    assert write_out(app) == expected(ids, sampling, 6)
    link = {"seed": 8, "written": 6}  # as many tokens as there are, with another seed
    app.session_state[state.VISIT].waiting.update(link)
    chosen(app, **link)
    assert write_out(app) == expected(ids, replace(sampling, seed=8), 6)


def test_no_room_to_write_on_is_one_line() -> None:
    app = open_page(PAGE, sentence=300 * "word ")
    for _ in range(2):  # and pressing again is no worse
        press(app, "Step")
        (line,) = lines(app, "error")
        assert "256" in line


def test_a_full_prompt_can_slide_and_a_fork_before_that_comes_back() -> None:
    app = open_page(PAGE, sentence=250 * " word", full="slide", mode="greedy", new_tokens="12")
    room = stories().config.max_seq_len - len(live_data(app)["labels"])
    press(app, "Start")
    ids = write_out(app)
    assert live_data(app)["steps"][-1]["n_dropped"] == 128
    assert "dropped its older half" in live_data(app)["note"]
    n_prompt = len(live_data(app)["labels"]) - len(ids)
    act(app, "put", n_prompt + room - 1, token=413)
    assert write_out(app) == [*ids[: room - 1], 413]
