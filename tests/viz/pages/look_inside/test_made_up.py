"""Protects the spine: a source with two streams and nothing else works in the app as it is."""

import pytest

from model.sources import table as sources
from tests.model.made_up import MadeUp
from tests.viz.apps import checks_shown, lines, offered_of, open_page
from tests.viz.builders import live_data

MODEL = "made-up:two-streams"
GROUPS = ("source.attn", "target.attn", "target.cross_attn")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The source beside the checkpoints."""
    monkeypatch.setitem(sources.SOURCES, "made-up", MadeUp())


def test_the_attention_page_works_on_it() -> None:
    app = open_page("Attention", model=MODEL)
    assert lines(app, "error") == []
    assert any("takes no sentence: it shows an input of its own" in x for x in lines(app, "note"))
    data = live_data(app)
    assert [group["name"] for group in data["groups"]] == list(GROUPS)
    assert list(data["streams"]) == ["source", "target"]
    assert data["streams"]["target"]["words"] is None, "no tokenizer says what a word is"
    titles = ["Source self-attention", "Target self-attention", "Target cross-attention"]
    assert offered_of(app, "attention") == titles
    assert "Verified: 6 of 6" in app.get("popover")[0].proto.popover.label
    assert [row["verdict"] for row in checks_shown(app)[0]] == ["passed"] * 6


def test_its_exports_hold_it() -> None:
    head = {"attention": "target.cross_attn", "layer": "1", "head": "0"}
    app = open_page("Attention", model=MODEL, inspect="export", **head)
    labels = {x.proto.label.replace("\\", "") for x in app.get("download_button")}
    assert labels == {"Pattern Target cross-attention L1 H0 (CSV)", "Whole trace (npz)"}
