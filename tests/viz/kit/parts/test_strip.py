"""Protects the model at a glance: what is sent of a run, and how its parts are reached."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.model.builders import tiny_model, tiny_trace
from tests.screen import HOSTILE, MARKUP
from tests.viz.builders import stories_trace
from tests.viz.kit.gallery import Gallery
from viz.kit.parts import strip

WAYS = {"tokens": "Tokens", "embed": "E", "layer": "Attention", "end": "Next", "called": "next"}
LOOKS = """links => links.map(link => {
    const context = link.querySelector('canvas').getContext('2d');
    return [link.tabIndex, String(context.getImageData(22, 22, 1, 1).data)];
})"""


@pytest.mark.parametrize("text", ["Tom ran home.", "The cat sat. " * 20])
def test_its_maps_are_the_means_of_the_heads_and_small_to_send(text: str) -> None:
    trace = stories_trace(text)
    part = strip.strip_part(trace)
    n = len(part.spec["labels"])
    shown = trace.tokens[-11:] if len(trace.tokens) > 12 else trace.tokens
    assert n <= 12
    pattern, mask = (part.shared[name].array for name in ("pattern", "mask"))
    for record, own, may in zip(trace.attention, pattern, mask, strict=True):
        last = np.array([record.pattern[head, -1] for head in range(8)]).mean(axis=0)
        assert own[-1, -len(shown) :] == pytest.approx(last[-len(shown) :], abs=1e-6)
        assert not may[1, 2:].any()
        assert own.shape == may.shape == (n, n)
    assert len(json.dumps(part.spec)) < 4_000 + 60 * len(trace.tokens)


def test_each_of_thirty_layers_is_reached_by_keys_and_markup_is_text(gallery: Gallery) -> None:
    trace = tiny_trace(tiny_model(n_layers=30))
    main = replace(trace.main, labels=(HOSTILE, *trace.main.labels[1:]))
    part = strip.strip_part(replace(trace, streams=(main,)), best=(HOSTILE, 0.25))
    gallery.show(strip.at(part, WAYS, "layer", "decoder.attn.3"))
    shown = gallery.read()
    layers = [one for one in shown["parts"] if (one["name"] or "").startswith("Layer")]
    assert [one["name"] for one in layers] == [f"Layer {i}" for i in range(30)]
    assert [i for i, one in enumerate(layers) if one["isLit"]] == [3]
    assert layers[29]["to"].endswith("attention=decoder.attn&layer=29")
    assert shown["tokens"][-1]["label"] == HOSTILE
    links = gallery.get_by_role("link", name=re.compile(r"Layer \d+"))
    assert [x for x in links.all_text_contents() if x] == ["0", "5", "10", "15", "20", "25"]
    gallery.press("ArrowRight " * 27, "Layer 3")
    expect(links.last).to_be_focused()
    tabs, centres = zip(*links.evaluate_all(LOOKS), strict=True)
    assert tabs == (*[-1] * 29, 0)
    assert len({*centres}) > 1
    assert gallery.locator(MARKUP).count() == 0
