"""Protects the Cache page: what the cache holds, what it costs, and measured times."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.model.builders import tiny_checkpoint
from tests.viz.apps import (
    TOM,
    VARIANTS,
    button,
    captions,
    chart,
    chosen,
    control,
    facts,
    finished,
    inspected,
    lines,
    open_page,
    query_of,
    strip,
    tables_shown,
    z,
)
from tests.viz.builders import latex_numbers, numbers, stories, stories_trace
from viz.figures.cache import bytes_text


@pytest.mark.parametrize(("part", "heads"), [("keys", "all heads"), ("values", "this head")])
def test_cache_page_shows_what_the_cache_holds(part: str, heads: str) -> None:
    query = {"part": part, "heads": heads, "prefill": "3", "held": "5", "head": "H6"}
    app = open_page("KV cache", sentence=TOM, **query)
    trace, config = stories_trace(TOM), stories().config
    vectors = np.stack([getattr(record, part[0]) for record in trace.attention])
    lengths = np.linalg.norm(vectors, axis=-1)
    expected = lengths.mean(axis=1) if heads == "all heads" else lengths[:, 6]
    shown = z(chart(app, "filling").data[0])
    assert shown[:, :5] == pytest.approx(expected[:, :5], abs=1e-4)
    assert np.isnan(shown[:, 5:]).all()
    per_token = 2 * config.n_layers * config.n_kv_heads * config.d_head * 4
    held, each, full = facts(app).values()
    assert (held, each) == (bytes_text(5 * per_token), bytes_text(per_token))
    assert full == bytes_text(config.max_seq_len * per_token)
    assert latex_numbers(app.latex[-1].value.replace("{,}", ""))[-1] == 5 * per_token
    (check,) = (line for line in captions(inspected(app, "check")) if "Check passed" in line)
    errors = re.findall(r"\d\.\de-\d\d", check)
    assert max(map(float, errors)) < 1e-5


def test_cache_page_counts_known_models() -> None:
    app = open_page("KV cache", sentence=TOM, context="2048")
    (table,) = tables_shown(app)
    assert table["as published, fp16"]["GPT-3 175B"] == "9.66 GB"
    assert table["in 8 bits"]["GPT-3 175B"] == "4.83 GB"
    assert table["MHA"]["GPT-3 175B"] == "= published"
    assert table["GQA (8 KV heads)"]["GPT-2 small"] == "–", "12 heads cannot share 8"
    assert table["MLA"]["DeepSeek-V2"] == "= published"
    (line,) = (caption.value for caption in app.caption if "hypothetical" in caption.value)
    assert "GPT-2 small;" in line


def test_cache_settings_left_alone_follow_the_sentence() -> None:
    app = open_page("KV cache", sentence=TOM)
    for text in ("Tom", "Tom had a red", TOM, 300 * "word "):
        chosen(app, sentence=text)
        assert not app.exception
        assert lines(app, "error") == []
        assert not any("outside" in line or "not exist" in line for line in lines(app, "note"))
        assert 1 <= control(app, "prefill") <= control(app, "held") <= len(strip(app))
        assert set(query_of(app)) <= {"page", "sentence"}


def test_cache_page_measures_and_keeps_it(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", **VARIANTS["prefix"])
    app = open_page("KV cache", sentence="the cat")
    button(app, "Measure on this machine").click().run()
    assert any(found.label == "Measure again" for found in finished(app).button)
    without, *_, with_cache = (
        c for c in chart(app, "pace").data if c["name"] in ("without cache", "with cache")
    )
    assert without["x"] == with_cache["x"]
    assert (numbers(without["y"]) > 0).all()
    said = captions(inspected(app, "check"))
    assert any("passed: both ways gave the same logits" in line for line in said)
    chosen(app, sentence="the mat")
    assert chart(app, "pace").data[0]["y"] == without["y"]
