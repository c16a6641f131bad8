"""Protects the page Explanation: its arrows are the model's, its names are theirs."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.exact import spearman
from model.analysis.explanation import Arrows, measure, removals, telling_arrows
from model.analysis.metrics import Metric
from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint, tiny_vision
from tests.viz.apps import (
    button,
    captions,
    chart,
    charts,
    chosen,
    facts,
    faultless,
    finished,
    lines,
    open_page,
    query_of,
    tables_shown,
)
from tests.viz.builders import numbers, stories, stories_trace
from tests.viz.pages.handed import assert_handed_on
from viz.digits import NONE, digits
from viz.pages.experiments import explanation as page
from viz.pages.experiments.explanation import tokens as pieces
from viz.runs import explaining as work
from viz.runs import patching

GIRL = "The girl lost the ball, so"
FIRST = "The animal didn't cross the street because it was too tired."


def opened(**query: str) -> AppTest:
    """The page, finished and without an error; every check passes."""
    return faultless(finished(open_page("Explanation", **query)))


@cache
def explained(text: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Every measure and the effects, computed beside the page."""
    ids, logits = stories().tokenizer.encode(text), stories_trace(text).logits[-1]
    first, second = np.argsort(-logits, kind="stable")[:2].tolist()
    question = Arrows(stories().decoder, ids, Metric("logit", len(ids) - 1, first, second))
    found = measure(question)
    removed = removals(question, found)
    removed.advance(1e9)
    effects = removed.exact.reshape(found.weights.shape)
    measures = {"weights": found.weights, "norms": found.norms, "gradients": found.gradients}
    return measures, effects


def test_edges_and_tokens_are_what_was_worked_out() -> None:
    app = opened(sentence=GIRL)
    measures, effects = explained(GIRL)
    rho = {page.MEASURE.words(x): spearman(abs(y), abs(effects)) for x, y in measures.items()}
    telling = telling_arrows(measures["weights"], effects)
    assert set(telling) == {"idle", "strong", "against"}
    total = facts(app)["sum of the integrated gradients"]
    assert float(total) == pytest.approx(float(facts(app)["difference they explain"]), rel=0.01)
    (cells,) = chart(app, "token-worth").data
    assert np.abs(numbers(cells["z"])).max(axis=1).tolist() == [1.0] * 5
    assert len(tables_shown(app)[1]["largest at"]) == 4
    expected = {
        "arrows y": effects.ravel(),
        "column: ρ with |effect|": {name: digits(float(x), 3) for name, x in rho.items()},
        "anywhere": [
            f"{page.NAMED[x]}: weight {digits(float(measures['weights'][edge]), 3)}, effect "
            f"{digits(float(effects[edge]), 3)}."
            for x, edge in telling.items()
        ],
        "links": [f"layer={x}&head={y}&cell=6-{key}" for x, y, key in telling.values()],
        "checks": "integrated gradients sum to the difference",
    }
    assert_handed_on(app, expected)
    for name, values in measures.items():
        assert_handed_on(chosen(app, measure=name), {"arrows x": values.ravel()})
        size = spearman(np.abs(values), np.abs(effects))
        ranks = "hardly" if size < 0.3 else "partly" if size < 0.8 else "almost"
        said = f"ranks edges {ranks} as their removal does (ρ = {digits(size, 2)})"
        assert any(said in line for line in lines(app, "note"))


def test_an_arrow_that_is_clicked_is_in_the_address() -> None:
    app = chosen(opened(sentence=GIRL), arrow="2.1.2")
    assert query_of(app)["arrow"] == ["2.1.2"]
    measures, effects = explained(GIRL)
    shown = facts(app)
    assert shown["weight"] == digits(float(measures["weights"][2, 1, 2]))
    assert float(shown["lost without it"].replace("−", "-")) == pytest.approx(
        effects[2, 1, 2], abs=1e-4
    )


def test_the_first_example_has_three_arrows_that_refute_it() -> None:
    """On the example of the front: much weight without effect, and more effect with less weight."""
    measures, effects = explained(FIRST)
    found = telling_arrows(measures["weights"], effects)
    idle, strong, against = (found[name] for name in ("idle", "strong", "against"))
    weights = measures["weights"]
    assert weights[idle] >= 0.5 > 0.1 >= weights[strong]
    assert abs(effects[strong]) > 5 * abs(effects[idle])
    assert effects[against] < -0.2


def test_it_is_estimated_comes_in_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:  # what is predicted is known from the run on screen
        patch.delattr(patching, "logits_of")
        app = open_page("Explanation", sentence=GIRL)
    measures, effects = explained(GIRL)
    dots = chart(app, "arrows").data[0]
    np.testing.assert_allclose(numbers(dots["y"]), measures["gradients"].ravel(), atol=1e-5)
    known = measures["weights"].ravel() == 0
    assert dots["marker"]["symbol"] == np.where(known, "circle", "circle-open").tolist()
    (table,) = tables_shown(app)
    assert {*table["ρ with effect"].values()} == {NONE}, "a part of the arrows makes no correlation"
    button(app, "Stop").click().run()
    app = chosen(app, arrow="2.1.2")
    assert facts(app)["lost without it"] == digits(float(effects[2, 1, 2]))
    assert chart(app, "arrows").data[0]["marker"]["symbol"][(2 * 8 + 1) * 7 + 2] == "circle"
    button(app, "Compute").click().run()
    finished(app)
    assert [sent["key"] for sent in charts(app)] == ["arrows", "token-worth"]


def test_once_all_edges_are_removed_it_says_what_is_left() -> None:
    app = open_page("Explanation", sentence=GIRL)
    working: work.Explaining = app.session_state[f"remembered-{page.EXPLAINING}"][1]
    working.filling.advance(1e9)
    assert facts(app.run())["lost without it"] != NONE
    n_numbers = 2 * len(stories_trace(GIRL).tokens)  # of each token its effect, and its flow
    said = f"Working out what each token is worth: 0 of {n_numbers} numbers."
    assert said in app.get("progress")[0].proto.text
    assert not any("each token is worth:" in line for line in captions(finished(app)))


def test_a_long_sentence_has_its_arrows_and_says_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work, "MOST_TOKENS", 6)
    monkeypatch.setattr(pieces, "MOST_TOKENS", 6)
    app = opened(sentence=GIRL)
    assert [sent["key"] for sent in charts(app)] == ["arrows"]
    assert (
        "The sentence has 7 tokens: single tokens are removed from sentences of up to 6."
        in lines(app, "note")
    )


# What is opened, and the axis of its tokens, its arrows' query, and how many arrows there are.
OTHERS = {
    "a blank": (
        {"model": "blank", "sentence": "Tom gave the dog a bone.", "token": "1"},
        "“[MASK]”",
        "dog",
    ),
    "on the source": (
        {"model": "translate", "source": "A man rides a bicycle.", "token": "2"},
        "“Mann”",
        "bicycle",
    ),
    "in the source": (
        {
            "model": "translate",
            "source": "A man rides a bicycle.",
            "arrows_of": "encoder.attn",
            "other_token": "1",
        },
        "“man”",
        "bicycle",
    ),
    "a class": ({"model": "digits", "digit": "0"}, "“[CLS]”", "1,0"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_architecture_has_its_arrows_and_its_tokens(
    name: str, request: pytest.FixtureRequest
) -> None:
    query, asker, token = OTHERS[name]
    if name == "a class":  # of few patches, for each is removed in each head
        small = tiny_vision(image_size=28, patch_size=14, n_classes=10)
        checkpoint.save(request.getfixturevalue("shelf") / "digits", small, None)
    app = opened(**query)
    dots = chart(app, "arrows")
    assert dots.layout["title"]["text"].endswith(f"edges of {asker}")
    assert np.isfinite(numbers(dots.data[0]["y"])).all()
    assert np.abs(numbers(dots.data[0]["y"])).max() > 1e-3
    assert any(token in said[0] for said in dots.data[0]["customdata"])
    is_two = query["model"] == "translate"
    rows = tables_shown(app)[1]["largest at"]
    assert set(rows) == {"mean weight", "integrated gradients"} | (
        set() if is_two else {"rollout", "flow"}
    )
    assert any(line.startswith("Rollout and flow are defined") for line in lines(app, "aside")) == (
        is_two
    )
    shown = facts(app)
    total = float(shown["sum of the integrated gradients"].replace("−", "-"))
    explained = float(shown["difference they explain"].replace("−", "-"))
    assert total == pytest.approx(explained, rel=0.01)


def test_a_link_leads_to_the_arrow_with_the_same_tokens_hidden() -> None:
    app = opened(model="blank", sentence="Tom gave the dog a bone.", blanks="3")
    ways = " ".join(e.proto.body for e in app.get("html") if 'class="hl-way"' in e.proto.body)
    assert "attention=encoder.attn" in ways
    assert "blanks=3" in ways
    assert "cell=3-" in ways


def test_another_model_and_one_token_hold(shelf: Path) -> None:
    tiny_checkpoint(shelf / "stories", max_seq_len=40, mask="prefix", prefix_len=30)
    assert lines(finished(open_page("Explanation", sentence=SENTENCE)), "error") == []
    assert lines(finished(open_page("Explanation", sentence="a")), "error") == []
