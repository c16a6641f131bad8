"""Protects the lesson on the residual: measured when asked, and compared once it is whole."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.depth import KINDS
from model.sources import checkpoint
from model.verify.independent import IndependentRun
from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, lines, open_page
from tests.viz.builders import numbers, stories, stories_trace

TITLE = "Why the residual?"
VARIANTS = {
    "plain": {},
    "post": {"norm_placement": "post", "feedforward": "relu"},
    "rope": {"position": "rope", "norm": "rms", "feedforward": "swiglu", **GROUPED},
    "alibi": {"position": "alibi", "feedforward": "gelu_tanh"},
    "own": {"tied_embeddings": False, "mask": "sliding_window", "window": 3},
}


def pressed(app: AppTest, key: str) -> AppTest:
    """The page after a button was pressed."""
    return app.button(key=key).click().run()


def measured(app: AppTest) -> AppTest:
    """The page once all networks are measured."""
    app = pressed(app, "gradual-go")
    for _ in range(400):
        if not any(button.key == "gradual-stop" for button in app.button):
            return app
        app.run()
    raise AssertionError("it is still measuring")


def test_nothing_is_measured_before_it_is_asked_for() -> None:
    app = open_page(TITLE, sentence=TOM)
    assert lines(app, "error") == []
    assert not any(np.isfinite(numbers(x["y"])).any() for x in chart(app, "depth-first").data)
    assert "Nothing is measured yet: 24 small networks take a few seconds." in lines(app, "note")


def test_figures_are_those_of_gradients_by_hand() -> None:
    app = measured(open_page(TITLE, sentence=TOM, depth="16", depth_seed="5"))
    run = IndependentRun(stories().files, stories_trace(TOM).ids)
    for number in range(len(KINDS)):
        for key, address in (
            ("depth-first", f"deep.first.{number}.5"),
            ("depth-layers", f"deep.layers.{number}.16.5"),
        ):
            shown = numbers(chart(app, key).data[number]["y"])
            np.testing.assert_allclose(shown, run.array(address), rtol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_own_gradients_are_those_by_hand(variant: str, shelf: Path) -> None:
    folder = tiny_checkpoint(shelf / "tiny", **VARIANTS[variant])
    app = open_page(TITLE, sentence=SENTENCE)
    loaded = checkpoint.load(folder, "cpu")
    run = IndependentRun(loaded.files, loaded.trace(SENTENCE).trace.ids)
    shown = numbers(chart(app, "depth-own").data[0]["y"])
    np.testing.assert_allclose(shown, run.array("deep.own"), rtol=2e-5)


def test_one_token_has_no_loss(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny")
    app = open_page(TITLE, sentence=SENTENCE[:1])
    assert any("at least 2 tokens" in line for line in lines(app, "note"))
