"""Protects the lesson on the residual: measured at once, beside the model's own gradient."""

from pathlib import Path

from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, lines, open_page
from tests.viz.builders import numbers

TITLE = "Why the residual?"


def test_the_measurement_begins_by_itself() -> None:
    app = open_page(TITLE, sentence=TOM)
    assert lines(app, "error") == []
    assert [button.label for button in app.button if button.label in ("Stop", "Compute")] == [
        "Stop"
    ]


def test_own_gradients_are_there(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", norm_placement="post", feedforward="relu")
    shown = numbers(chart(open_page(TITLE, sentence=SENTENCE), "depth-own").data[0]["y"])
    assert len(shown) == 3
    assert (shown > 0).all()


def test_one_token_has_no_loss(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny")
    app = open_page(TITLE, sentence=SENTENCE[:1])
    assert any("at least 2 tokens" in line for line in lines(app, "note"))
