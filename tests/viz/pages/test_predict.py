"""Protects the Predict page: the whole distribution, and the filters as they were set."""

from pathlib import Path

import numpy as np
import pytest

from model.data.tokenizer import train_characters
from model.decoding.filters import DEFAULT_ORDER
from model.sources import checkpoint
from tests.model.builders import SENTENCE, softmax, tiny_checkpoint, tiny_model
from tests.viz.apps import TOM, control, lines, open_page, query_of, tell
from tests.viz.builders import latex_numbers, live_data, stories, stories_trace, unpacked
from viz.figures.labels import visible


def test_predict_page_sends_the_whole_vocabulary() -> None:
    query = {"temperature": "1.5", "top_k": "10", "top_p": "0.9", "min_p": "0.1", "after": "3"}
    app = open_page("Predict", sentence=TOM, **query)
    loaded, trace = stories(), stories_trace(TOM)
    data = live_data(app)
    assert (unpacked(data["logits"]) == trace.logits[3]).all()
    order = list(DEFAULT_ORDER)
    assert data["settings"] == {
        "temperature": 1.5, "top_k": 10, "top_p": 0.9, "min_p": 0.1, "order": order
    }  # fmt: skip
    best = np.argsort(-trace.logits[3], kind="stable")[: len(data["labels"])]
    assert data["labels"] == [visible(loaded.tokenizer.token_strings([i])[0]) for i in best]
    tempered = softmax(trace.logits[3].astype(np.float64) / 1.5)
    assert latex_numbers(app.latex[-1].value)[-1] == pytest.approx(tempered.max(), abs=6e-5)


def test_order_of_the_filters_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("Predict", sentence=TOM)
    assert live_data(app)["settings"]["top_k"] is None
    order = ["top_p", "temperature", "min_p", "top_k"]
    changes = {"order": order, "top_k": 7}
    tell(app, changes, monkeypatch)
    assert live_data(app)["settings"]["order"] == order
    visitor = open_page("Predict", **{name: v[-1] for name, v in query_of(app).items()})
    assert live_data(visitor)["settings"] == live_data(app)["settings"]
    tell(app, {"top_k": None}, monkeypatch)
    assert live_data(app)["settings"]["top_k"] is None


def test_top_k_left_alone_keeps_all_tokens_of_another_model(shelf: Path) -> None:
    tiny_checkpoint(shelf / "small")  # 13 tokens
    tokenizer = train_characters([SENTENCE, "bdfgijklpqruvwxyz"])
    checkpoint.save(shelf / "large", tiny_model(vocab_size=tokenizer.vocab_size), tokenizer)
    app = open_page("Predict", model="small", sentence="the cat")
    app.selectbox(key="model").set_value("large").run()
    assert control(app, "top_k") is None
    assert lines(app, "note") == []
