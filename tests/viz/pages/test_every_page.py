"""Protects all pages: every kind of model, whatever a person types, however long."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.lens import logit_lens
from model.capture import capture
from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import VARIANTS, chart, lines, open_page, strip, z
from tests.viz.builders import ODD_SENTENCES, PAGES, latex_numbers, stories, stories_trace
from tests.viz.sent import assert_model_is_sent
from viz.figures.labels import token_labels


@pytest.mark.parametrize("variant", VARIANTS)
def test_pages_hold_for_every_kind_of_model(variant: str, shelf: Path) -> None:
    tiny_checkpoint(shelf / variant, **VARIANTS[variant])
    loaded = checkpoint.load(variant)
    config, ids = loaded.config, loaded.tokenizer.encode(SENTENCE)
    trace = capture(loaded.model, ids, loaded.tokenizer.token_strings(ids))
    for page in PAGES:
        app = open_page(page, sentence=SENTENCE)
        assert lines(app, "error") == []
        if page == "Attention":
            assert_model_is_sent(app, trace)
        assert set(app.dataframe[0].value["verdict"]) == {"passed"}
        formulas = " ".join(formula.value for formula in app.latex)
        if page == "Positions":
            assert (r"\mathrm{PE}" in formulas) == (config.position == "sinusoidal")
        if page == "Masks":
            mask = z(chart(app, "mask").data[0])
            seen = {"window": 3, "prefix": 4}.get(variant, 1)
            assert np.isfinite(mask).sum(axis=-1)[[0, 3, 9]].tolist() == (
                [1, 3, 3] if variant == "window" else [seen, 4, 10]
            )
            assert (r"& j \le i \\ -\infty" in formulas) == (config.mask == "causal")
        if page == "Lens":
            expected = logit_lens(trace, loaded.model)
            assert z(chart(app, "lens").data[0]) == pytest.approx(expected.probs[..., 0], abs=1e-6)
            notes = lines(app, "note")
            assert any("no final norm" in note for note in notes) == (variant == "none")
            assert any("Check passed" in caption.value for caption in app.caption)


@pytest.mark.parametrize("name", ODD_SENTENCES)
def test_odd_sentence_is_text_on_every_page(name: str) -> None:
    text = ODD_SENTENCES[name]
    trace = stories_trace(text)
    for page in PAGES:
        app = open_page(page, sentence=text)
        assert lines(app, "error") == []
        assert [label for label, _ in strip(app)] == token_labels(trace.tokens)
        assert set(app.dataframe[0].value["verdict"]) == {"passed"}
        specs = [element.proto.spec for element in app.get("plotly_chart")]
        bodies = [element.proto.body for element in app.get("html")]
        assert not any("<script" in piece or "<b onclick" in piece for piece in [*specs, *bodies])
        if page == "Attention":
            assert_model_is_sent(app, trace)


@pytest.mark.parametrize("page", PAGES)
def test_sentence_beyond_the_context_says_how_many_tokens_are_cut(page: str) -> None:
    text = 300 * "word "
    app = open_page(page, sentence=text)
    n_tokens, context = len(stories().tokenizer.encode(text)), stories().config.max_seq_len
    (line,) = (line for line in lines(app, "note") if "cut" in line)
    assert latex_numbers(line) == [n_tokens, context, context, n_tokens - context]
    assert len(strip(app)) == context
