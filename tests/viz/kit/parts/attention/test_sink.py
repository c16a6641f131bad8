"""Protects hidden attention sinks: what is hidden is hatched and said, and no number changes."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.screen import content, download
from tests.viz.builders import csv_rows, stories_trace
from tests.viz.harness import as_sent, open_instrument
from tests.viz.kit.parts.made import attention_settings
from viz.digits import digits
from viz.kit.parts.attention import attention_part
from viz.labels import token_labels

SENTENCE = "Lily saw a big red ball, and Lily gave the ball to Tom."
LAYER, HEAD = 3, 4
HIDDEN = "Hatched: the first token, hidden by choice. Its weights are what they are"
FIRST = "(first token left out)"


def open_attention(page: Page, **changes: Any) -> None:  # noqa: ANN401
    """The head with the sink hidden, unless it is to be shown."""
    settings = attention_settings(layer=LAYER, head=HEAD, **{"hide_first": True} | changes)
    data = attention_part(stories_trace(SENTENCE), "a key", "stories", settings)
    open_instrument(page, as_sent(data), width=1180)
    state = re.compile(f" {settings['view']} ")
    expect(page.locator(".hl-live")).to_have_attribute("data-drawn", state)


def weights(layer: int = LAYER, head: int = HEAD) -> np.ndarray:
    """The weights of a head as the trace has them, in float64."""
    return stories_trace(SENTENCE).attention[layer].pattern[head].astype(float)


def saved(page: Page) -> np.ndarray:
    """The numbers of the CSV file."""
    _, *rows = csv_rows(content(download(page, page.get_by_role("button", name="CSV"))))
    return np.array([row[1:] for row in rows], float)


def strokes(page: Page, view: str) -> int:
    """How many strokes the hatching of a view's first map has."""
    path = "selector => document.querySelector(selector)._fullLayout.shapes[0].path"
    return page.evaluate(path, f".hl-view-{view} .js-plotly-plot").count("M")


def test_the_head_has_a_sink() -> None:
    assert weights()[1:, 0].mean() > 1 / 3


def test_sums_entropy_and_the_file_are_of_the_true_weights(bare: Page) -> None:
    open_attention(bare)
    pattern, labels = weights(), token_labels(stories_trace(SENTENCE).tokens)
    logs = np.log2(pattern, out=np.zeros_like(pattern), where=pattern > 0)
    entropies = -(pattern * logs).sum(axis=1)
    tips = bare.locator(".hl-view-map .hl-bar title").all_text_contents()
    for i, (label, bits) in enumerate(zip(labels, entropies, strict=True)):
        assert tips[i].startswith(f"{label}: row entropy {digits(bits, 2)} bits")
    received = digits(pattern[:, 0].sum(), 2)
    assert tips[len(labels)].startswith(f"{labels[0]}: total attention received {received};")
    assert saved(bare) == pytest.approx(pattern, abs=1e-6)
    expect(bare.locator(".hl-view-map .hl-main .hl-caption")).to_contain_text(HIDDEN)


def test_hidden_cells_are_hatched_and_not_drawn(bare: Page) -> None:
    cells = "document.querySelector('.hl-view-map .js-plotly-plot').data[0].z.map(row => row[0])"
    open_attention(bare)
    assert all(cell is None or np.isnan(cell) for cell in bare.evaluate(f"() => {cells}"))
    with_sink = strokes(bare, "map")
    open_attention(bare, hide_first=False)
    assert bare.evaluate(f"() => {cells}")[5] == pytest.approx(weights()[5, 0], abs=1e-6)
    assert strokes(bare, "map") < with_sink
    expect(bare.locator(".hl-view-map .hl-main .hl-caption")).not_to_contain_text("Hatched")


def test_strongest_is_looked_for_where_the_words_say(bare: Page) -> None:
    open_attention(bare, view="summary")
    mean = stories_trace(SENTENCE).attention[LAYER].pattern.mean(axis=0)
    label = bare.locator(".hl-view-summary .hl-map").get_attribute("aria-label") or ""
    left = mean * (1 - np.eye(len(mean)))
    left[:, 0] = 0
    assert f"Strongest pairs (first token and self left out): {_first(left)}" in label
    expect(bare.locator(".hl-view-summary .hl-caption")).to_contain_text("Rows sum to one.")
    expect(bare.locator(".hl-view-summary .hl-caption")).to_contain_text(HIDDEN)


def _first(values: np.ndarray) -> str:
    labels = token_labels(stories_trace(SENTENCE).tokens)
    row, column = np.unravel_index(values.argmax(), values.shape)
    return f"{labels[row]} attends to {labels[column]} {digits(values[row, column], 3)};"


def test_compared_weights_are_the_true_ones(bare: Page) -> None:
    open_attention(bare, view="compare", other=[LAYER, 0])
    delta = weights() - weights(head=0)
    mean = np.abs(delta)[np.tri(len(delta), dtype=bool)].mean()
    caption = bare.locator(".hl-view-compare [role=status]")
    expect(caption).to_contain_text(f"over cells not masked: {digits(mean)}.")
    expect(caption).to_contain_text(HIDDEN)
    assert saved(bare) == pytest.approx(delta, abs=2e-6)
    spoken = bare.locator(".hl-view-compare .hl-map").last.get_attribute("aria-label") or ""
    assert "Largest absolute differences (first token and self left out): " in spoken


def test_lines_say_of_what_they_are_a_share(bare: Page) -> None:
    open_attention(bare, view="lines", mass=0.8)
    rest = weights().copy()
    rest[:, 0] = 0
    ordered = -np.sort(-rest, axis=1)
    wanted = 0.8 * rest.sum(axis=1, keepdims=True)
    kept = ((np.cumsum(ordered, axis=1) - ordered < wanted - 1e-9) & (ordered > 0)).sum()
    caption = bare.locator(".hl-view-lines .hl-caption")
    expect(caption).to_contain_text(
        f"80 % of its weight on all but the first token, which is hidden by choice: {kept} lines."
    )
    assert saved(bare) == pytest.approx(weights(), abs=1e-6)


def test_one_token_names_the_largest_of_the_rest(bare: Page) -> None:
    open_attention(bare, view="sentence", token=8)
    titles = bare.locator(".hl-view-sentence h3 small")
    largest = digits(weights()[8, 1:].max(), 3)
    expect(titles.first).to_have_text(f"largest {FIRST} {largest}")
    expect(bare.locator(".hl-sentence").first).to_have_attribute(
        "aria-label", re.compile(re.escape(f" {FIRST}: "))
    )
    expect(bare.locator(".hl-sentence").first.locator("g").first.locator("path")).to_have_count(1)
    expect(bare.locator(".hl-view-sentence .hl-caption")).to_contain_text(HIDDEN)
    assert saved(bare) == pytest.approx(weights(), abs=1e-6)
    open_attention(bare, view="sentence", token=0)
    expect(titles.last).to_have_text("hidden by choice")
