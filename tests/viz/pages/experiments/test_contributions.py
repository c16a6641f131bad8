"""Protects the page Contributions: its shares are the model's, sum to the logit, and say so."""

import pytest
from streamlit.testing.v1 import AppTest

from model.sources import checkpoint
from tests.viz.apps import (
    TOM,
    chart,
    facts,
    faultless,
    lines,
    offered_of,
    open_page,
)
from tests.viz.builders import numbers
from viz.pages.experiments import contributions


def opened(**query: str) -> AppTest:
    """The page, which must have no error; every check passes."""
    return faultless(open_page("Contributions", **{"sentence": TOM} | query))


def test_a_translation_has_it() -> None:
    app = opened(model="translate")
    loaded = checkpoint.load("translate", "cpu")
    _, bars = chart(app, "waterfall").data
    parts = numbers(bars["y"])[:-1]
    assert parts.sum() == pytest.approx(float(facts(app)["logit of the model"]), abs=2e-4)
    assert len(parts) == 3 + 2 * loaded.config.n_layers + 4
    notes = lines(app, "note")
    assert any("No logit depends directly on Encoder self-attention" in x for x in notes)
    assert offered_of(app, "model"), "the bar is whole"


def test_a_wrong_share_is_an_error_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contributions, "ALLOWED", 1e-12)
    (line,) = lines(open_page("Contributions", sentence=TOM), "error")
    assert line.startswith("Check FAILED: the shares sum to the logit")
