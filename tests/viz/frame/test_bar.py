"""Protects the bar: sentence, examples, models that can or cannot be used, and the checks."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from model.analysis.heads import strongest_pair
from tests.model.builders import SENTENCE, edit_json, tiny_checkpoint
from tests.viz.apps import TOM, control, lines, open_page, strip
from tests.viz.builders import PAGES, given, live_data, stories_trace
from tests.viz.sent import assert_model_is_sent
from viz.figures.labels import token_labels
from viz.frame.examples import examples

EXAMPLE = examples()[0]


def test_token_strip_shows_each_probability() -> None:
    app = open_page("Attention", sentence=TOM)
    labels, probabilities = zip(*strip(app), strict=True)
    trace = stories_trace(TOM)
    assert list(labels) == token_labels(trace.tokens)
    assert np.isnan(probabilities[0])
    assert probabilities[1:] == pytest.approx(given(trace), abs=6e-5)


def test_checks_are_listed_and_counted() -> None:
    app = open_page("Attention", sentence=TOM)
    table = app.dataframe[0].value
    assert set(table["verdict"]) == {"passed"}
    (badge,) = app.get("popover")
    assert f"Verified: {len(table)} of {len(table)}" in badge.proto.popover.label
    worst = max(float(error) for error in table["max error"])
    assert f"max error {worst:.0e}" in badge.proto.popover.label


@pytest.mark.parametrize("blank", ["", " ", " \t\u3000 "], ids=ascii)
def test_blank_sentence_gets_a_friendly_line_and_the_example(blank: str) -> None:
    app = open_page("Attention", sentence=blank)
    assert any("Type a sentence" in line for line in lines(app, "note"))
    assert lines(app, "error") == []
    trace = stories_trace(EXAMPLE.sentence)
    assert [label for label, _ in strip(app)] == token_labels(trace.tokens)


def test_example_brings_its_sentence_layer_and_head() -> None:
    app = open_page("Attention")
    example = examples()[1]
    app.selectbox(key="example").set_value(example.sentence).run()
    assert not app.exception
    chosen = control(app, "sentence"), control(app, "layer"), control(app, "head")
    assert chosen == (example.sentence, example.layer, example.head)
    assert_model_is_sent(app, stories_trace(example.sentence))
    settings = live_data(app)["settings"]
    assert (settings["layer"], settings["head"]) == (example.layer, example.head)


def test_every_example_shows_something() -> None:
    for example in examples():
        pattern = stories_trace(example.sentence).attention[example.layer].pattern[example.head]
        query, key = strongest_pair(pattern)
        assert key not in (0, query)
        assert pattern[query, key] > 0.3, example.sentence


def test_settings_follow_to_another_model(shelf: Path) -> None:
    """What the other model has not becomes the nearest; what a person left alone stays so."""
    tiny_checkpoint(shelf / "big", n_layers=4, n_heads=5, d_model=40)
    tiny_checkpoint(shelf / "small")
    app = open_page("Predict", model="big", sentence=SENTENCE, layer="L3", head="H4")
    app.selectbox(key="model").set_value("small").run()
    assert not app.exception
    assert (control(app, "layer"), control(app, "head")) == (1, 2)
    assert [line.split()[0] for line in lines(app, "note")] == ["Layer", "Head"]


def truncate(folder: Path) -> None:
    """Cut the weights in the middle."""
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def misspell(folder: Path) -> None:
    """A config with a key nobody knows."""
    edit_json(folder / "config.json", lambda fields: fields.update(n_haeds=3))


def lose_tokenizer(folder: Path) -> None:
    """A folder copied without its tokenizer."""
    (folder / "tokenizer.json").unlink()


@pytest.mark.parametrize(
    ("damage", "word"),
    [(truncate, "cut"), (misspell, "n_haeds"), (lose_tokenizer, "tokenizer.json is missing")],
)
def test_broken_checkpoint_is_one_line(
    damage: Callable[[Path], None], word: str, shelf: Path
) -> None:
    damage(tiny_checkpoint(shelf / "broken"))
    for page in PAGES:
        app = open_page(page)
        (line,) = lines(app, "error")
        assert word in line
        assert "\n" not in line
        assert not app.get("plotly_chart")
        assert [item.key for item in app.get("bidi_component")] in ([], ["preload-live"])


def test_no_checkpoint_is_one_line(shelf: Path) -> None:
    (line,) = lines(open_page("Attention"), "error")
    assert "no checkpoint" in line
    assert "README" in line


def test_another_model_can_be_chosen_beside_a_broken_one(shelf: Path) -> None:
    truncate(tiny_checkpoint(shelf / "broken"))
    tiny_checkpoint(shelf / "whole")
    app = open_page("Attention", sentence=SENTENCE)
    assert len(lines(app, "error")) == 1
    app.selectbox(key="model").set_value("whole").run()
    assert lines(app, "error") == []
    assert live_data(app)["model"] == "whole"


def test_unknown_device_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_DEVICE", "abacus")
    (line,) = lines(open_page("Attention"), "error")
    assert "abacus" in line
