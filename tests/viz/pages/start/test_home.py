"""Protects Home: its words, weights and next tokens are the run's, and a text goes on as drawn."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.sources import checkpoint
from tests.model.builders import softmax
from tests.viz.apps import TOM, lines, open_page
from tests.viz.builders import live_data, stories_trace, unpacked
from viz import runs
from viz.figures.labels import token_labels
from viz.frame.view import View
from viz.live.home.data import MOST_TOKENS

LONG = " ".join(12 * ["The red ball was big."])


def test_what_is_sent_is_the_run_s() -> None:
    app = open_page("Home", sentence=TOM, layer="1", head="5", temperature="1.3")
    data, trace = live_data(app), stories_trace(TOM)
    assert data["stream"]["labels"] == token_labels(trace.tokens)
    pattern = trace.attention[1].pattern[5]
    assert unpacked(data["pattern"]) == pytest.approx(pattern, abs=1e-7)
    assert (unpacked(data["mask"]) == trace.attention[1].mask).all()
    assert unpacked(data["logits"]) == pytest.approx(trace.logits[-1], abs=0)
    query, key, weight = data["telling"]
    others = [
        (pattern[i, j], i, j) for i in range(len(pattern)) for j in range(1, i)
    ]  # not self, not the first token
    assert (weight, query, key) == (pytest.approx(max(others)[0], abs=1e-6), *max(others)[1:])
    assert data["head"] == "L1 H5"
    assert data["settings"] == {"temperature": 1.3, "n_tokens": len(trace.tokens)}
    assert data["why_no_more"] is None


def test_of_a_long_sentence_the_last_tokens_are_shown_and_the_others_counted() -> None:
    data, trace = live_data(open_page("Home", sentence=LONG)), stories_trace(LONG)
    n_left_out = len(trace.tokens) - MOST_TOKENS
    assert data["n_left_out"] == n_left_out > 0
    assert data["stream"]["labels"] == token_labels(trace.tokens)[n_left_out:]
    shown = trace.attention[2].pattern[4][n_left_out:, n_left_out:]
    assert unpacked(data["pattern"]) == pytest.approx(shown, abs=1e-7)


def test_a_full_context_says_so() -> None:
    data = live_data(open_page("Home", sentence=300 * "word "))
    assert data["why_no_more"] == "The model's context of 256 tokens is full."


def test_the_next_token_is_drawn_from_all_of_the_distribution() -> None:
    handle = runs.handle_of("stories", "cpu")
    trace = stories_trace(TOM)
    ids, logits = trace.ids.tolist(), trace.logits[-1]
    temperature = 1.7
    drawn = [runs.written_on(handle, TOM, ids, logits, temperature, seed) for seed in range(400)]
    assert drawn == [
        runs.written_on(handle, TOM, ids, logits, temperature, seed) for seed in range(400)
    ], "the seed decides"
    tokenizer = checkpoint.load("stories", "cpu").tokenizer
    before = tokenizer.decode(ids)
    expected = softmax(logits / temperature)
    for token_id in np.argsort(-expected)[:3].tolist():
        text = TOM + tokenizer.decode([*ids, token_id]).removeprefix(before)
        share = drawn.count(text) / len(drawn)
        spread = np.sqrt(expected[token_id] * (1 - expected[token_id]) / len(drawn))
        assert abs(share - expected[token_id]) < 5 * spread


def test_a_cold_text_goes_on_with_the_most_likely_token() -> None:
    handle = runs.handle_of("stories", "cpu")
    trace = stories_trace(TOM)
    text = runs.written_on(handle, TOM, trace.ids.tolist(), trace.logits[-1], 0.05, 0)
    tokenizer = checkpoint.load("stories", "cpu").tokenizer
    assert text is not None and text.startswith(TOM)
    assert tokenizer.encode(text)[: len(trace.ids) + 1][-1] == int(trace.logits[-1].argmax())


def test_a_model_of_attention_alone_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(View, "offers", frozenset({"text"}))
    app: AppTest = open_page("Home", sentence=TOM)
    assert any("Attention shows it" in line for line in lines(app, "note"))
    assert lines(app, "error") == []
