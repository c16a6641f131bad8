"""Protects the page Encoder: what is hidden is, its numbers are the model's, and it says so."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model.data.tokenizer import MASK
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from tests.model.analysis.test_blanks import encoder_checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint, tiny_encoder, tiny_tokenizer
from tests.viz.apps import (
    chart,
    faultless,
    lines,
    open_page,
    query_of,
)
from tests.viz.builders import csv_rows, live_data, numbers
from viz.frame.blanks import first_blank
from viz.frame.examples import examples
from viz.pages.architectures import encoder


@pytest.fixture
def model(shelf: Path) -> Checkpoint:
    """An encoder, small and untrained, beside a decoder of the same tokens."""
    tiny_checkpoint(shelf / "stories", max_seq_len=64)
    return encoder_checkpoint(shelf / "blank")


def opened(**query: str) -> AppTest:
    """The page, which must have no error; every check passes."""
    return faultless(open_page("Masked language model", **{"sentence": SENTENCE} | query))


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """What the page opened last offers as CSV."""
    kept: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(encoder.inspector, "export", lambda view, found: kept.update(found))
    return kept


def rows(make: Callable[[], bytes]) -> list[dict[str, str]]:
    """The rows of a table by their heads."""
    head, *found = csv_rows(make())
    return [dict(zip(head, row, strict=True)) for row in found]


def test_every_token_hidden_and_none_hidden_both_work(model: Checkpoint) -> None:
    n = len(model.tokenizer.encode(SENTENCE))
    app = opened(blanks=",".join(map(str, range(n))))
    spec = live_data(app)["spec"]
    assert len(spec["hidden"]) == n
    assert set(spec["labels"]) == {MASK}
    assert any("Every token is hidden" in body for body in lines(app, "aside"))
    app = opened(blanks="none")
    assert live_data(app)["spec"]["hidden"] == []
    assert any("Nothing is hidden" in body for body in lines(app, "aside"))


def test_a_blank_is_chosen_for_who_chose_none(model: Checkpoint) -> None:
    """The longest whole word of the first half that is not the first; else the middle."""
    assert first_blank(("The", " animal", " didn", "'t", " cross", " the", " street", ".")) == (1,)
    assert first_blank(("a", " un", "kind", " cat", " sat", " on", " it")) == (3,)
    assert first_blank(("x",)) == (0,)
    assert first_blank(("x", "y", "z")) == (1,)
    sent = live_data(opened())
    assert sent["settings"]["blanks"] == [len(SENTENCE) // 2]
    assert "blanks" not in query_of(opened())


def test_the_page_begins_with_a_word_that_is_found_and_offers_a_harder_one(
    tables: dict[str, Callable[[], bytes]],
) -> None:
    """With the shipped weights, on the first example: the model's own first guess."""
    app = faultless(open_page("Masked language model"))
    (row,) = rows(tables["Blanks"])
    assert (row["label"], row["rank"]) == ("ball", "0")
    (offered,) = [body for body in lines(app, "findings") if "harder word" in body]
    assert "Sam" in offered
    app = opened(sentence=examples()[1].sentence, blanks="1")
    (row,) = rows(tables["Blanks"])
    assert row["label"] == "animal" and int(row["rank"]) > 0
    assert not any("harder word" in body for body in lines(app, "findings"))


@pytest.mark.parametrize(("query", "expected"), [({"blanks": "2,7"}, [2, 7]), ({}, [])])
def test_on_another_page_what_was_hidden_stays_hidden(
    model: Checkpoint, query: dict[str, str], expected: list[int]
) -> None:
    app = open_page("Attention", sentence=SENTENCE, model="blank", **query)
    labels = live_data(app)["streams"]["encoder"]["labels"]
    assert [i for i, label in enumerate(labels) if label == MASK] == expected


def test_a_long_text_says_how_far_it_is_hidden_in_turn(
    model: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.runs.blanks.MOST_IN_TURN", 5)
    app = opened()
    n = len(model.tokenizer.encode(SENTENCE))
    said = f"The sentence has {n} tokens: the first 5 are hidden in turn."
    assert any(said in body for body in lines(app, "aside"))
    assert [len(numbers(trace["y"])) for trace in chart(app, "both-sides").data] == [5, 4]


def test_without_a_decoder_of_the_same_tokens_one_line_says_so(shelf: Path) -> None:
    encoder_checkpoint(shelf / "blank")
    app = opened()
    line = "No stories with the same tokens is here to compare this sentence with."
    assert lines(app, "note").count(line) == 1
    assert len(chart(app, "under-the-mask").data) == 2


def test_an_encoder_without_a_token_to_hide_with_says_so(shelf: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_encoder(vocab_size=tokenizer.vocab_size, max_seq_len=64)
    checkpoint.save(shelf / "bare", model, tokenizer)
    (line,) = lines(open_page("Masked language model", sentence=SENTENCE), "error")
    assert MASK in line
