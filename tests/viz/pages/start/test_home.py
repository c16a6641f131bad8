"""Protects Home: its numbers are the run's, older words fold, and a text goes on as drawn."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import TOM, lines, open_page
from tests.viz.builders import live_data, stories_trace
from viz import runs
from viz.figures.labels import token_labels
from viz.frame.view import View
from viz.kit.parts.home import MOST_ROWS, N_COLUMNS, home_part
from viz.live import store
from viz.pages.start import home
from viz.runs.kept import Asked
from viz.theme import LIGHT

LONG = " ".join(12 * ["The red ball was big."])


def test_what_is_told_is_the_run_s() -> None:
    data = live_data(open_page("Home", sentence=TOM, temperature="1.3", top_p="0.9"))
    trace, spec = stories_trace(TOM), data["spec"]
    assert data["settings"] == {"temperature": 1.3, "top_p": 0.9, "appended": None}
    assert spec["labels"] == token_labels(trace.tokens)
    assert (spec["n_layers"], spec["n_heads"], spec["n_folded"]) == (6, 8, 0)
    assert spec["why_no_more"] is None
    arrays = {name: store.array(about["id"]) for name, about in data["arrays"].items()}
    for layer, record in enumerate(trace.attention):
        np.testing.assert_allclose(arrays["pattern"][layer], record.pattern, atol=1e-7)
        np.testing.assert_array_equal(arrays["mask"][layer], record.mask)
    np.testing.assert_array_equal(arrays["logits"], trace.logits)
    norms = [np.linalg.norm(residual.resid_post, axis=-1) for residual in trace.residuals]
    np.testing.assert_allclose(arrays["norms"][2::2], norms, rtol=1e-5)
    vocabulary = json.loads(arrays["vocabulary"].tobytes())
    assert len(vocabulary) == spec["vocab_size"] == trace.logits.shape[-1]


def test_the_older_words_of_a_long_text_are_one_row() -> None:
    """Their weights are summed: every row still sums to one."""
    trace = stories_trace(LONG)
    part = home_part(trace, ["a"] * trace.logits.shape[-1])
    n_folded = len(trace.tokens) - (MOST_ROWS - 1)
    assert part.spec["labels"][0] == f"… {n_folded} earlier"
    assert part.spec["labels"][1:] == token_labels(trace.tokens)[n_folded:]
    pattern = part.arrays["pattern"]
    assert pattern.shape == (6, 8, MOST_ROWS, MOST_ROWS)
    np.testing.assert_allclose(pattern[..., 1:, :].sum(axis=-1), 1, atol=1e-5)
    full = trace.attention[3].pattern[5]
    np.testing.assert_allclose(pattern[3, 5, 1:, 1:], full[n_folded:, n_folded:], atol=1e-7)
    assert part.arrays["mask"][0, 1:, 0].all()
    for name in ("embed", "positions"):
        assert part.arrays[name].shape == (MOST_ROWS, N_COLUMNS)
    np.testing.assert_array_equal(part.arrays["logits"][1:], trace.logits[n_folded:])


def test_a_full_context_says_so() -> None:
    data = live_data(open_page("Home", sentence=300 * "word "))
    assert data["spec"]["why_no_more"] == "The model's context of 256 tokens is full."


def test_a_text_goes_on_with_the_token_that_was_drawn() -> None:
    handle, trace = runs.handle_of("stories", "cpu"), stories_trace(TOM)
    tokenizer, ids = runs.tokenizer(handle), trace.ids.tolist()
    for token_id in np.argsort(-trace.logits[-1])[:20].tolist():
        text = runs.with_token(handle, TOM, ids, token_id)
        assert text is not None
        assert text.startswith(TOM)
        assert tokenizer.decode([*ids, token_id]).endswith(text.removeprefix(TOM))
    with pytest.raises(ValueError, match="4096"):
        runs.with_token(handle, TOM, ids, 4096)


def test_what_a_browser_asks_for_must_fit_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The right place, and a token that can stand there; the end of a text ends it."""
    put: list[object] = []
    monkeypatch.setattr(home.state, "put", lambda *values: put.append(values))
    monkeypatch.setattr(home.state, "take_over", lambda changes: None)
    kept: dict[object, object] = {}
    monkeypatch.setattr(home.memory, "remember", lambda name, at, value: kept.update({name: value}))
    monkeypatch.setattr(home.memory, "remembered", lambda name, at: None)
    handle, trace = runs.handle_of("stories", "cpu"), stories_trace(TOM)
    run = runs.run(handle, TOM)
    view = View(TOM, handle, Asked(lambda: run), "decoder.attn", 0, 0, LIGHT)
    n = len(trace.tokens)
    home._take_over(view, {"appended": [n - 1, 5]})
    assert put == [] and kept == {}, "of a text that has gone on since"
    home._take_over(view, {"appended": [n, int(trace.logits[-1].argmax())]})
    assert len(put) == 1
    assert kept == {home.AFTER: (n, int(trace.logits[-1].argmax()))}
    home._take_over(view, {"appended": [n, runs.tokenizer(handle).end_id]})
    assert kept[home.ENDED] is True
    assert len(put) == 1


def test_a_model_that_writes_no_text_leads_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(View, "offers", frozenset({"text"}))
    app: AppTest = open_page("Home", sentence=TOM)
    assert any("does not write on a text" in line for line in lines(app, "note"))
    assert lines(app, "error") == []
