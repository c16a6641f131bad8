"""Protects the model at a glance: what is sent of a run, and how its parts are reached."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.model.builders import tiny_model, tiny_trace
from tests.screen import HOSTILE
from tests.viz.builders import stories_trace
from viz.kit.parts import strip

WAYS = {"tokens": "Tokens", "embed": "E", "layer": "Attention", "end": "Next", "called": "next"}
CENTRE = """canvas => Array.from(
    canvas.getContext('2d').getImageData(22, 22, 1, 1).data.slice(0, 3))"""


@pytest.mark.parametrize("text", ["Tom ran home.", "The cat sat. " * 20])
def test_its_maps_are_the_means_of_the_heads_and_small_to_send(text: str) -> None:
    trace = stories_trace(text)
    part = strip.strip_part(trace)
    n = len(part.spec["labels"])
    sent = np.frombuffer(base64.b64decode(part.spec["maps"]["bdata"]), np.uint8)
    shown = trace.tokens[-11:] if len(trace.tokens) > 12 else trace.tokens
    assert n <= 12
    for record, own in zip(trace.attention, sent.reshape(-1, n, n), strict=True):
        last = np.array([record.pattern[head, -1] for head in range(8)]).mean(axis=0)
        assert own[-1, -len(shown) :] == pytest.approx(
            1 + 254 * np.sqrt(last[-len(shown) :]), abs=0.6
        )
        assert not own[1, 2:].any(), "masked"
    assert len(json.dumps(part.spec)) < 4_000 + 60 * len(trace.tokens)


def test_each_of_thirty_layers_is_reached_by_keys_and_markup_is_text(
    bare: Page, tmp_path: Path
) -> None:
    trace = tiny_trace(tiny_model(n_layers=30))
    main = replace(trace.main, labels=(HOSTILE, *trace.main.labels[1:]))
    part = strip.strip_part(replace(trace, streams=(main,)), best=(HOSTILE, 0.25))
    strip.at(part, WAYS, "layer", "decoder.attn.3").save(tmp_path / "strip.html")
    bare.goto((tmp_path / "strip.html").as_uri())
    nav = bare.get_by_role("navigation", name="Map of the model")
    layers = nav.locator("a[data-layer]")
    expect(layers).to_have_count(30)
    names = [layers.nth(i).get_attribute("aria-label") for i in range(30)]
    assert names == [f"Layer {i}" for i in range(30)]
    numbers = layers.locator("> span:last-child").all_text_contents()
    assert [x for x in numbers if x] == ["0", "5", "10", "15", "20", "25"]
    assert nav.locator("[aria-current]").get_attribute("aria-label") == "Layer 3"
    nav.get_by_role("link", name="Layer 3", exact=True).focus()
    for _ in range(26):
        bare.keyboard.press("ArrowRight")
    focused = nav.locator(":focus")
    expect(focused).to_have_attribute("data-with", "attention=decoder.attn&layer=29")
    bare.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("data-with", "attention=decoder.attn&layer=29")
    expect(nav.locator("a[tabindex='0']")).to_have_count(1)
    assert nav.locator("img, b").count() == 0
    expect(nav.locator("bdi").last).to_have_text(HOSTILE)
    assert len({tuple(layers.nth(i).locator("canvas").evaluate(CENTRE)) for i in range(30)}) > 1
