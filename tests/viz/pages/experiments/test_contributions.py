"""Protects the page Contributions: its shares are the model's, sum to the logit, and say so."""

import numpy as np
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
from viz.figures import attribution
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


def test_of_many_parts_the_largest_are_named_and_the_sum_is_that_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = numbers(chart(opened(), "waterfall").data[1]["y"])
    heads = numbers(chart(opened(), "heads").data[0]["z"])
    monkeypatch.setattr(attribution, "MOST_STEPS", 9)
    monkeypatch.setattr(attribution, "LARGEST", 4)
    monkeypatch.setattr(contributions, "MOST_CELLS", heads.size - 1)
    app = opened(layer="L2", head="H5")
    shown = chart(app, "waterfall").data[1]
    *parts, total = numbers(shown["y"])
    assert total == pytest.approx(every[-1], abs=1e-5)
    assert sum(parts) == pytest.approx(total, abs=1e-5)
    cut = sorted(np.abs(every[:-1]))[-4]
    assert parts[:-1] == pytest.approx([x for x in every[:-1] if abs(x) >= cut])
    bars = numbers(chart(app, "heads").data[0]["x"])
    largest = sorted(heads.ravel(), key=abs)[-contributions.MOST_HEADS :]
    assert sorted(bars) == pytest.approx(sorted(largest), abs=1e-5)


def test_a_wrong_share_is_an_error_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contributions, "ALLOWED", 1e-12)
    (line,) = lines(open_page("Contributions", sentence=TOM), "error")
    assert line.startswith("Check FAILED: the shares sum to the logit")
