"""Protects the page Contributions: its shares are the model's, sum to the logit, and say so."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.attribution import attribute, words_of_head, words_of_neuron
from model.sources import checkpoint
from model.trace import Site
from tests.viz.apps import (
    TOM,
    captions,
    chart,
    facts,
    faultless,
    inspected,
    lines,
    offered_of,
    open_page,
    z,
)
from tests.viz.builders import numbers, stories, stories_trace
from viz.digits import digits
from viz.pages.experiments import contributions


def opened(**query: str) -> AppTest:
    """The page, which must have no error; every check passes."""
    return faultless(open_page("Contributions", **{"sentence": TOM} | query))


def test_figures_show_what_the_parts_add() -> None:
    app = opened(layer="L1", head="H3", token="7")
    trace, model = stories_trace(TOM), stories().model
    token = int(trace.logits[7].argmax())
    found = attribute(trace, model, 7, token)
    _, bars = chart(app, "waterfall").data
    assert numbers(bars["y"])[:-1] == pytest.approx(found.parts, abs=1e-6)
    assert bars["x"][-1] == "sum" and len(bars["x"]) == len(found.parts) + 1
    assert z(chart(app, "heads").data[0]) == pytest.approx(
        np.stack(list(found.heads.values())), abs=1e-6
    )
    (keys,) = chart(app, "keys").data
    assert numbers(keys["y"]) == pytest.approx(found.keys["decoder.blocks.1.attn"][3], abs=1e-7)
    (neurons,) = chart(app, "neurons").data
    falling = np.sort(np.abs(found.neurons).ravel())[::-1]
    assert np.abs(numbers(neurons["x"])) == pytest.approx(falling[:12], abs=1e-6)
    pushed = np.sort(words_of_head(trace, model, Site("decoder", "self", 1), 3, 7))[::-1]
    (words,) = chart(app, "head-words").data
    assert numbers(words["x"]) == pytest.approx([*pushed[:6], *pushed[-6:]], abs=1e-6)
    layer, neuron = divmod(int(np.abs(found.neurons).argmax()), 1024)
    pushed = np.sort(words_of_neuron(trace, model, layer, neuron, 7))[::-1]
    (words,) = chart(app, "neuron-words").data
    assert numbers(words["x"]) == pytest.approx([*pushed[:6], *pushed[-6:]], abs=1e-6)
    shown = facts(app)
    assert shown["logit of the model"] == digits(found.logit)
    assert shown[f"sum of {len(found.parts)} shares"] == digits(float(found.parts.sum()))
    assert any("the shares sum to the logit" in line for line in captions(inspected(app, "check")))


def test_one_token_against_another() -> None:
    app = opened(metric="difference", answer="300", instead="5", neuron="2-7")
    trace = stories_trace(TOM)
    last = len(trace.tokens) - 1
    found = attribute(trace, stories().model, last, 300, 5)
    difference = float(trace.logits[last, 300]) - float(trace.logits[last, 5])
    assert facts(app)["difference of two logits"] == digits(difference)
    _, bars = chart(app, "waterfall").data
    assert numbers(bars["y"])[:-1] == pytest.approx(found.parts, abs=1e-6)
    assert "neuron L2 N7" in chart(app, "neuron-words").layout["title"]["text"]
    assert r"\ell_t - \ell_s" in app.latex[0].value


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
