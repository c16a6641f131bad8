"""Protects the second prompt: nothing runs on one that nobody chose, a swap is exact in ids."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.given import Chat, Turn
from model.sources.places import WHERE
from tests.model.adopted.families import saved_with_chats
from tests.viz.apps import (
    address_of,
    captions,
    chart,
    charts,
    chosen,
    faultless,
    finished,
    lines,
    offered_of,
    open_page,
    picked,
    pickers_of,
    whole,
)
from tests.viz.builders import live_data, numbers, stories
from viz import runs
from viz.frame.second import ASKS
from viz.pages.experiments import circuit, patching

TEXT = "Tom gave Sam the red ball."
PAGES = {"Patching": patching, "Circuit": circuit}


def ids_of(text: str) -> list[int]:
    """The tokens of a text, for the model that tells stories."""
    return stories().tokenizer.encode(text)


def listed(app: AppTest, label: str) -> dict[str, object]:
    """What a list offers, by what it is called."""
    (box,) = (x for x in app.selectbox if x.label == label)
    return dict(zip(box.options, box.proto.options, strict=True))


def has_asked(app: AppTest) -> bool:
    """Whether the page asks for a second sentence, in a line."""
    return any(x.startswith(ASKS) for x in lines(app, "note"))


@pytest.mark.parametrize("page", PAGES)
def test_nothing_runs_on_a_pair_that_nobody_chose(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PAGES[page], "answered", lambda *_: pytest.fail("a run was begun"))
    app = open_page(page, sentence=TEXT)
    assert lines(app, "error") == []
    assert has_asked(app)
    assert offered_of(app, "swap") == [
        x.strip() for x in stories().tokenizer.token_strings(ids_of(TEXT))
    ]


@pytest.mark.parametrize("page", PAGES)
def test_a_word_is_exchanged_for_one_that_the_model_finds_likely_there(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole(monkeypatch)
    place, ids = 2, ids_of(TEXT)
    app = open_page(page, sentence=TEXT, swap=f"{place}-{ids[place]}")
    assert has_asked(app), "a word alone is no pair"
    assert picked(app, "swap") == str(place)
    logits = stories().trace(TEXT).trace.logits[place - 1].astype(np.float64)
    names = [stories().tokenizer.name(i) for i in np.argsort(-logits, kind="stable")]
    wanted = [x for x in names if re.fullmatch(r" [A-Z]\w*", x) and x != " Sam"][:8]
    offered = [*listed(app, "In its place")]
    assert [x.split(" · ")[0] for x in offered] == [x.strip() for x in wanted]
    p = np.exp(logits - logits.max())
    first = p[ids_of(wanted[0])[0]] / p.sum()
    assert float(offered[0].split(" · ")[1]) == pytest.approx(first, abs=6e-3)
    other = ids_of(wanted[0])[0]
    app = finished(open_page(page, sentence=TEXT, swap=f"{place}-{other}"))
    assert lines(app, "error") == []
    assert address_of(app)["swap"] == f"{place}-{other}"
    if page == "Circuit":
        rows = zip(*live_data(app)["tokens"], strict=True)
        assert [i for i, (one, another) in enumerate(rows) if one != another] == [place]
    else:
        assert any(x.startswith(f"{len(ids)} tokens and {len(ids)}.") for x in captions(app))


def test_a_swap_that_is_none_here_is_a_line() -> None:
    for swap in ("99-5", "1-99999999"):
        app = open_page("Patching", sentence=TEXT, swap=swap)
        assert any(f"{swap}: no such word can be exchanged" in x for x in lines(app, "note"))
        assert "swap" not in address_of(app)


def test_texts_of_other_lengths_are_shown_with_their_numbers_and_run_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patching, "answered", lambda *_: pytest.fail("a run was begun"))
    app = open_page("Patching", sentence=TEXT, second="Tom gave Sam a ball.")
    assert f"{len(ids_of(TEXT))} tokens and {len(ids_of('Tom gave Sam a ball.'))}." in captions(app)
    assert lines(app, "error") == []


def test_another_sentence_lets_the_exchanged_word_go() -> None:
    app = open_page("Patching", sentence=TEXT, swap="2-300")
    chosen(app, sentence="One day a dog ran.")
    assert "swap" not in address_of(app)
    assert not any("exchanged" in x for x in lines(app, "note"))


def test_in_a_chat_a_word_of_a_person_is_exchanged_and_nothing_of_the_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_with_chats(tmp_path / "some-chat")
    monkeypatch.setenv(WHERE, str(tmp_path))
    handle = runs.handle_of("some-chat", "cpu")
    trace = runs.run(handle, Chat((Turn("user", "the red ball"),))).trace
    mine = [i for i, role in enumerate(trace.main.roles) if role == "user"]
    app = open_page("Patching", model="some-chat", sentence="the red ball")
    (row,) = pickers_of(app, "swap")
    assert [option["name"] for option in row["options"]] == list(map(str, mine))
    (other,) = runs.tokenizer(handle).encode(" dog")
    app = faultless(finished(open_page(
        "Patching", model="some-chat", sentence="the red ball", swap=f"{mine[-1]}-{other}"
    )))  # fmt: skip
    assert any(f"{len(trace.tokens)} tokens and" in x for x in captions(app))
    asked = {"model": "some-chat", "sentence": "the red ball", "swap": f"{mine[-1]}-{other}"}
    app = faultless(open_page("Attention", **asked, view="compare", against="sentence"))
    (run,) = live_data(app)["runs"]
    looks = run["streams"]["decoder"]["looks"]
    assert [look.split()[0] for look in looks] == list(trace.main.roles)
    typed = asked | {"second": "the red dog", "swap": ""}
    app = faultless(open_page("Attention", **typed, view="compare", against="sentence"))
    (run,) = live_data(app)["runs"]
    assert run["streams"]["decoder"]["looks"][0] == "template special", "a chat, as the first"
    assert "differences" in {
        sent["key"] for sent in charts(faultless(open_page("Contributions", **asked)))
    }
    app = open_page("Patching", model="some-chat", sentence="the red ball", swap=f"0-{other}")
    assert any("no such word can be exchanged" in x for x in lines(app, "note"))


def test_contributions_has_the_same_answer_on_a_second_prompt_where_it_is_chosen() -> None:
    app = faultless(open_page("Contributions", sentence=TEXT, swap="2-300"))
    shown = {sent["key"] for sent in charts(app)}
    assert {"waterfall-second", "differences"} <= shown
    ids = ids_of(TEXT)
    ids[2] = 300
    answer = int(stories().trace(TEXT).trace.logits[-1].argmax())
    logit = stories().independent_logits(ids)[-1, answer]
    *_, total = numbers(chart(app, "waterfall-second").data[1]["y"]).tolist()
    assert total == pytest.approx(logit, abs=1e-3)
    here, there = (
        numbers(chart(app, key).data[1]["y"])[:-1] for key in ("waterfall", "waterfall-second")
    )
    bars = numbers(chart(app, "differences").data[0]["x"])
    largest = sorted(here - there, key=abs)[-len(bars) :]
    np.testing.assert_allclose(sorted(bars), sorted(largest), atol=1e-5)
    plain = faultless(open_page("Contributions", sentence=TEXT))
    assert "differences" not in {sent["key"] for sent in charts(plain)}
    assert ASKS in captions(plain)
    longer = open_page("Contributions", sentence=TEXT, second=f"{TEXT} Sam")
    assert any("as many tokens" in line for line in lines(longer, "note"))
