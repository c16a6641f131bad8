"""Protects the bar: sentence, examples, models that can or cannot be used, and the checks."""

import json
import math
import os
from concurrent.futures import Future, wait
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from model.sources import places
from model.sources.recorded import RECORDED, REPRODUCED
from model.verify.check import Check
from tests.model.builders import SENTENCE, edit_json, tiny_checkpoint
from tests.model.sources.damages import EVERY
from tests.viz.apps import (
    TOM,
    box_of,
    checks_shown,
    chosen,
    control,
    lines,
    offered_of,
    open_page,
    query_of,
    strip,
    tell,
)
from tests.viz.builders import given, live_data, stories_trace
from viz.frame import bar, inspector, models
from viz.frame.examples import examples, pairs
from viz.labels import token_labels
from viz.live import component

EXAMPLE = examples()[0]


def test_token_strip_shows_each_probability() -> None:
    app = open_page("Attention", sentence=TOM)
    labels, probabilities = zip(*strip(app), strict=True)
    trace = stories_trace(TOM)
    assert list(labels) == token_labels(trace.tokens)
    assert np.isnan(probabilities[0])
    assert probabilities[1:] == pytest.approx(given(trace), abs=6e-5)


def test_a_check_that_failed_is_counted_and_named(shelf: Path) -> None:
    """A logit that was noted when the model was saved is not what it gives now: no other fails."""
    folder = tiny_checkpoint(shelf / "small")
    noted = json.loads((folder / RECORDED).read_text())["logits"]
    token = next(iter(noted))
    edit_json(folder / RECORDED, lambda x: x["logits"].update({token: noted[token] + 0.1}))
    app = open_page("Attention", sentence=SENTENCE)
    table = checks_shown(app)[0]
    assert [row["check"] for row in table if row["verdict"] == "FAILED"] == [REPRODUCED]
    (badge,) = app.get("popover")
    assert f" 1 of {len(table)} checks failed" in badge.proto.popover.label
    assert "Verified" not in badge.proto.popover.label


def test_what_a_further_run_failed_is_counted_and_a_number_that_is_none_has_failed() -> None:
    checks = [Check("a", 1e-9, 1e-6), Check("b", 2e-6, 1e-6), Check("c", math.nan, 1e-6)]
    assert inspector.verdict(checks, "Cut: ") == ":material/error: Cut: 2 of 3 checks failed"
    passed = [Check("a", 1e-9, 1e-6), Check("b", 4e-7, 1e-6)]
    said = ":material/verified: Verified: 2 of 2"
    assert inspector.verdict(passed, "") == said


@pytest.mark.parametrize("present", ["no", "yes"])
def test_the_box_takes_the_keyboard_but_not_from_a_presenter(present: str) -> None:
    box = box_of(open_page("Home", present=present))
    assert box["spec"]["has_caret"] == (present == "no")


def test_blank_sentence_gets_a_friendly_line_and_the_example() -> None:
    app = open_page("Attention", sentence=" \t\u3000 ")
    assert any("Type a sentence" in line for line in lines(app, "note"))
    assert lines(app, "error") == []
    trace = stories_trace(EXAMPLE.sentence)
    assert [label for label, _ in strip(app)] == token_labels(trace.tokens)


def test_a_space_at_the_end_is_kept_and_said() -> None:
    app = open_page("Attention", sentence="Once upon a ")
    assert [label for label, _ in strip(app)][-1] == "␣"
    assert any("ends in a space" in line for line in lines(app, "note"))
    app = open_page("Attention", sentence="Once upon a")
    assert not any("ends in a space" in line for line in lines(app, "note"))


def test_settings_follow_to_another_model(shelf: Path) -> None:
    """What the other model has not becomes the nearest; what a person left alone stays so."""
    tiny_checkpoint(shelf / "big", n_layers=4, n_heads=5, d_model=40)
    tiny_checkpoint(shelf / "small")
    app = open_page("Next token", model="big", sentence=SENTENCE, layer="L3", head="H4")
    chosen(app, model="small")
    assert not app.exception
    assert (control(app, "layer"), control(app, "head")) == (1, 2)
    assert [line.split()[0] for line in lines(app, "note")] == ["Layer", "Head"]


def test_no_checkpoint_is_one_line(shelf: Path) -> None:
    (line,) = lines(open_page("Attention"), "error")
    assert "no checkpoint" in line
    assert "README" in line


@pytest.mark.parametrize("name", list(EVERY)[::40])
def test_a_strange_checkpoint_is_one_line_beside_usable_ones(name: str, shelf: Path) -> None:
    """A sample of all damages; `tests/model/sources` loads each of them."""
    EVERY[name](tiny_checkpoint(shelf / "broken"))
    tiny_checkpoint(shelf / "whole")
    app = open_page("Attention", sentence=SENTENCE, model="broken")
    said = [*lines(app, "error"), *lines(app, "note")]
    assert len(said) == 1, said
    assert len(said[0]) < 700
    chosen(app, model="whole")
    assert not app.exception
    assert lines(app, "error") == []
    assert live_data(app)["model"] == "whole"


def test_a_name_that_is_not_utf8_is_left_out_with_a_line(shelf: Path) -> None:
    tiny_checkpoint(shelf / os.fsdecode(b"caf\xe9"))
    tiny_checkpoint(shelf / "whole")
    app = open_page("Attention", sentence=SENTENCE)
    shown, _open = offered_of(app, "model")
    assert shown.startswith("whole · ")
    (line,) = lines(app, "note")
    assert "not UTF-8; rename it" in line


def lower(folder: Path) -> None:
    """Give the tokenizer a normalizer that writes all in lower case."""
    edit_json(folder / "tokenizer.json", lambda x: x.update(normalizer={"type": "Lowercase"}))
    (folder / "SHA256SUMS").unlink()


def test_a_tokenizer_that_changes_the_sentence_says_so(shelf: Path) -> None:
    lower(tiny_checkpoint(shelf / "small"))
    said = "The tokenizer reads the sentence as “the cat sat.”"
    assert said in lines(open_page("Tokens", sentence="The CAT sat."), "note")
    assert said not in lines(open_page("Tokens", sentence="the cat sat."), "note")
    assert lines(open_page("Attention", sentence="The CAT sat."), "note") == [], "once is enough"


def test_a_badge_never_stands_for_another_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the self-check of a new sentence runs, the page says so, and shows the map."""
    asked: list[float] = []

    def slow(futures: list[Future], timeout: float) -> None:
        asked.append(timeout)
        wait(futures)

    monkeypatch.setattr(bar, "wait", slow)
    monkeypatch.setattr(bar, "_show_pending", lambda slot, view: asked.append(0))
    app = open_page("Attention", sentence="A sentence that was never checked before now.")
    assert asked[0] == 0, "first what is pending, then the figures, then the badge"
    assert live_data(app)["settings"]
    (badge,) = app.get("popover")
    assert "Verified" in badge.proto.popover.label


@pytest.mark.parametrize(
    ("model", "offered"),
    [
        ("stories", [example.title for example in examples()]),
        ("translate", [pair.source for pair in pairs()]),
        ("digits", []),
    ],
)
def test_examples_are_for_the_kind_of_the_model(model: str, offered: list[str]) -> None:
    assert offered_of(open_page("Home", model=model), "example") == offered


def test_models_that_differ_in_positions_alone_are_one_entry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page("Attention", model="positions-rope")
    alike = [text for text in offered_of(app, "model") if text.startswith("Story writer, ")]
    assert [text.split(" · ")[0] for text in alike] == ["Story writer, RoPE"]
    assert offered_of(app, "variant") == ["alibi", "learned", "none", "rope", "sinusoidal"]
    tell(app, {"variant": "positions-alibi"}, monkeypatch, models._take_over)
    assert query_of(app)["model"] == ["positions-alibi"]
    both = {"variant": "positions-none", "model": "translate"}  # chosen soon after each other
    tell(app, both, monkeypatch, models._take_over)
    assert query_of(app)["model"] == ["translate"]
    assert not offered_of(open_page("Attention"), "variant")


@pytest.mark.parametrize("page", ["Attention", "Positional encoding"])
def test_a_page_looks_once_where_models_are(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    names = places._names
    monkeypatch.setattr(places, "_names", lambda folder: looked.append(folder) or names(folder))
    open_page(page)
    assert looked and len(looked) == len(set(looked))


def test_an_example_of_a_translator_is_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("Home", model="translate")
    tell(app, {"example": pairs()[1].source}, monkeypatch, models._take_over)
    assert query_of(app)["source"] == [pairs()[1].source]


def test_an_example_is_taken_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Streamlit keeps of a message stays as it came; else it would be handed over again."""
    title = examples()[1].title
    kept = {"pickers-model": {"sent": {"turn": 1, "changes": {"example": title}}}}
    before = deepcopy(kept)
    taken: list[object] = []
    monkeypatch.setattr(component.st, "session_state", kept)
    monkeypatch.setattr(models.state, "put", lambda *values, **_: taken.append(values))
    monkeypatch.setattr(models.state, "take_over", taken.append)
    models._take_over(component.sent("pickers-model")["changes"])
    assert len(taken) == 3, "its settings, the head that it shows, and the rest"
    assert kept == before
