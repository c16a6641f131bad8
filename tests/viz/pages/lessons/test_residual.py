"""Protects the lesson on the residual: measured when asked, and compared once it is whole."""

from pathlib import Path

import numpy as np

from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, lines, open_page
from tests.viz.builders import numbers

TITLE = "Why the residual?"


def test_nothing_is_measured_before_it_is_asked_for() -> None:
    app = open_page(TITLE, sentence=TOM)
    assert lines(app, "error") == []
    assert not any(np.isfinite(numbers(x["y"])).any() for x in chart(app, "depth-first").data)
    assert "Nothing is measured yet: 24 small networks take a few seconds." in lines(app, "aside")


def test_own_gradients_are_there(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", norm_placement="post", feedforward="relu")
    shown = numbers(chart(open_page(TITLE, sentence=SENTENCE), "depth-own").data[0]["y"])
    assert len(shown) == 3
    assert (shown > 0).all()


def test_one_token_has_no_loss(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny")
    app = open_page(TITLE, sentence=SENTENCE[:1])
    assert any("at least 2 tokens" in line for line in lines(app, "note"))
