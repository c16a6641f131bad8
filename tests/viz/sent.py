"""What the browser is sent for a sentence, compared with what the model did."""

import html

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.heads import strongest_pair
from model.trace import Trace
from tests.viz.builders import live_data, live_json
from viz.labels import token_labels, word_groups, word_labels
from viz.live import store as offered


def assert_model_is_sent(app: AppTest, trace: Trace) -> None:
    """What the browser gets for a sentence: every head at a glance, labels, the arrays of each."""
    data = live_data(app)
    assert_sentence_is_sent(data, trace)
    (group,) = data["groups"]
    assert (group["name"], group["queries"], group["keys"]) == ("decoder.attn", *2 * ["decoder"])
    assert [x["address"] for x in group["sites"]] == [x.site.address for x in trace.attention]
    patterns = np.stack([record.pattern for record in trace.attention])
    n_layers, n_heads, n_tokens, _ = patterns.shape
    assert (group["n_layers"], group["n_heads"]) == (n_layers, n_heads)
    tiles = offered.array(data["arrays"]["decoder.attn.tiles"]["id"])
    assert_tiles_are_sent(tiles, patterns, trace.attention[0].mask)
    sharpness = patterns[:, :, min(1, n_tokens - 1) :].max(axis=-1).mean(axis=-1)
    assert np.array(group["sharpness"]) == pytest.approx(sharpness, abs=6e-5)
    for layer, head in np.ndindex(n_layers, n_heads):
        query, key, weight = group["strongest"][layer][head]
        assert (query, key) == strongest_pair(patterns[layer, head])
        assert weight == pytest.approx(patterns[layer, head, query, key], abs=1e-6)
    assert len(live_json(app)) <= 100_000


def assert_sentence_is_sent(data: dict, trace: Trace) -> None:
    """Labels as text and escaped for axes, words, and the arrays that its browser may ask for."""
    stream, prefix = data["streams"]["decoder"], data.get("prefix", "")
    assert stream["labels"] == token_labels(trace.tokens)
    assert stream["words"] == word_groups(trace.tokens)
    assert stream["word_labels"] == word_labels(trace.tokens, stream["words"])
    for axis, labels in {"axis": "labels", "word_axis": "word_labels"}.items():
        short = [label if len(label) <= 16 else label[:15] + "…" for label in stream[labels]]
        assert list(map(html.unescape, stream[axis])) == short
        assert not set("<>$%") & set("".join(stream[axis]))
    for record in trace.attention:
        found = offered.array(data["arrays"][f"{prefix}{record.site.address}.pattern"]["id"])
        np.testing.assert_allclose(found, record.pattern, atol=1e-6)


def assert_tiles_are_sent(sent: np.ndarray, patterns: np.ndarray, mask: np.ndarray) -> None:
    """Small maps are the roots of the weights; of a long sentence the largest of each block."""
    block = -(-len(mask) // 48)
    starts = range(0, len(mask), block)
    largest, allowed = (
        np.maximum.reduceat(np.maximum.reduceat(values, starts, axis=-2), starts, axis=-1)
        for values in (patterns, mask)
    )
    n_layers, n_heads, size, _ = largest.shape
    assert sent.shape == (n_layers, n_heads, size, size)
    levels = np.round(2 + 253 * np.sqrt(largest))
    assert (sent[..., ~allowed] == 1).all()
    assert np.abs(sent - levels)[..., allowed].max() <= 1
