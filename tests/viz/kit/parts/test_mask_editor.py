"""Protects the mask editor: no click is lost, and no old weight is shown as the model's answer."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.trace import Trace
from tests.model.builders import softmax
from tests.viz.builders import causal, stories_trace
from tests.viz.harness import as_sent, at_rest, open_instrument, receive
from tests.viz.kit.gallery import OFFERED
from viz.frame.settings import EDITS
from viz.kit.parts.mask_editor import NextTokens, mask_editor_part

LAYER, HEAD = 2, 4
HARNESS = """async () => {
    globalThis.edits = await import('/kit/edits.js');
}"""
PLACE = """([row, column]) => {
    const chart = document.querySelector('.js-plotly-plot'), {xaxis, yaxis} = chart._fullLayout;
    const {left, top} = chart.getBoundingClientRect();
    return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
}"""
SHOWN = """() => document.querySelector('.js-plotly-plot').data[0].z.map(row => Array.from(row))"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    """A sentence of the shipped model."""
    return stories_trace("The animal was too tired.")


def with_mask(trace: Trace, mask: np.ndarray) -> Trace:
    """The trace with one layer's patterns as they are under another mask."""
    record = trace.attention[LAYER]
    weights = softmax(np.where(mask, record.scores, -1e9)) * mask
    changed = dataclasses.replace(record, mask=mask, pattern=weights.astype(np.float32))
    records = (*trace.attention[:LAYER], changed, *trace.attention[LAYER + 1 :])
    return dataclasses.replace(trace, attention=records)


def answer(trace: Trace, edits: str, acked: int = 0) -> dict[str, Any]:
    """What Python sends for some edits, once it has acknowledged so many turns."""
    base = causal(len(trace.tokens))
    mask = base.copy()
    for pair in filter(None, edits.split(".")):
        mask[tuple(map(int, pair.split("-")))] ^= True
    data = mask_editor_part(
        with_mask(trace, mask),
        "a key",
        trace.attention[LAYER].site,
        HEAD,
        base,
        NextTokens("Next token", [("He", 0.25, 0.5), ("She", 0.5, 0.0)]),
        {"edits": edits},
    )
    return as_sent(data, acked)


def click(page: Page, row: int, column: int) -> None:
    """Press and release the mouse on a cell."""
    page.mouse.click(*page.evaluate(PLACE, [row, column]))


def wait_for(page: Page, edits: str) -> None:
    """Wait until the numbers on screen are those for these edits."""
    page.wait_for_function("edits => instrument.settings?.edits === edits", arg=edits)
    expect(page.locator(".hl-live[data-waiting]")).to_have_count(0)
    at_rest(page)


def open_editor(page: Page, data: dict[str, Any]) -> None:
    """Open a new editor and wait until it shows its first numbers."""
    open_instrument(page, data)
    wait_for(page, data["settings"]["edits"])


def last_sent(page: Page, edits: str) -> int:
    """Wait until Python was sent these edits; the turn it was sent them in."""
    page.wait_for_function("edits => sent.at(-1)?.changes.edits === edits", arg=edits)
    return page.evaluate("sent.at(-1).turn")


def send(page: Page, data: dict[str, Any]) -> None:
    """Let the editor have an answer."""
    receive(page, data)


def shown_pattern(page: Page) -> np.ndarray:
    """The weights of the map; hidden cells are no numbers."""
    return np.array(page.evaluate(SHOWN), dtype=float)


def test_fast_clicks_all_count(bare: Page, trace: Trace) -> None:
    """Answers come late and for fewer edits; until the last, the figures are dimmed."""
    open_editor(bare, answer(trace, ""))
    click(bare, 4, 1)
    expect(bare.locator(".hl-live[data-waiting]")).to_have_count(1)
    turn = last_sent(bare, "4-1")
    for cell in ((3, 2), (4, 2), (3, 2), (1, 3)):
        click(bare, *cell)
    send(bare, answer(trace, "4-1", turn))
    last = last_sent(bare, "1-3.4-1.4-2")
    expect(bare.locator(".hl-live[data-waiting]")).to_have_count(1)
    expect(bare.locator(".hl-said")).to_contain_text("the model is running")
    final = answer(trace, "1-3.4-1.4-2", last)
    send(bare, final)
    wait_for(bare, "1-3.4-1.4-2")
    mask, weights = (OFFERED[final["arrays"][name]["id"]] for name in ("mask", "pattern"))
    pattern = np.where(mask, weights, np.nan)
    assert shown_pattern(bare) == pytest.approx(pattern, nan_ok=True)
    assert bare.locator(".hl-said b").inner_text() == f"{pattern[1, 3]:.4f}"
    expect(bare.locator(".hl-dist [data-after]").first).to_have_attribute("data-after", "0.5")
    expect(bare.locator("[data-edits]")).to_contain_text("3 cells changed")


def test_python_has_the_last_word(bare: Page, trace: Trace) -> None:
    """A page may drop edits, as it does with another sentence."""
    open_editor(bare, answer(trace, ""))
    click(bare, 4, 1)
    send(bare, answer(trace, "", last_sent(bare, "4-1")))
    wait_for(bare, "")


def test_painting_gives_every_cell_the_first_ones_state(bare: Page, trace: Trace) -> None:
    open_editor(bare, answer(trace, "4-1"))
    bare.mouse.move(*bare.evaluate(PLACE, [4, 0]))
    bare.mouse.down()
    bare.mouse.move(*bare.evaluate(PLACE, [4, 3]))
    bare.mouse.up()
    turn = last_sent(bare, "4-0.4-1.4-2.4-3")
    send(bare, answer(trace, "4-0.4-1.4-2.4-3", turn))
    wait_for(bare, "4-0.4-1.4-2.4-3")


def test_by_keyboard(bare: Page, trace: Trace) -> None:
    open_editor(bare, answer(trace, ""))
    bare.locator(".hl-map").focus()
    for key in ("PageDown", "Home", "ArrowUp", "ArrowRight", "Space"):
        bare.keyboard.press(key)
    row = len(trace.tokens) - 2
    expect(bare.locator("[aria-live]")).to_contain_text("“animal” is hidden from")
    send(bare, answer(trace, f"{row}-1", last_sent(bare, f"{row}-1")))
    wait_for(bare, f"{row}-1")
    bare.keyboard.press("Enter")
    send(bare, answer(trace, "", last_sent(bare, "")))
    wait_for(bare, "")
    weight = trace.attention[LAYER].pattern[HEAD, row, 1]
    expect(bare.locator("[aria-live]")).to_contain_text(f"attends to “animal”: {weight:.4f}")


def test_buttons_for_a_row_and_a_key(bare: Page, trace: Trace) -> None:
    """They act on the marked cell, which a click on a label moves, and take themselves back."""
    open_editor(bare, answer(trace, ""))
    bare.locator(".hl-tick-row").nth(2).click()
    bare.locator(".hl-tick-column").nth(1).click()
    row, key = bare.locator("[data-do=row]"), bare.locator("[data-do=key]")
    row.click()
    last_sent(bare, "2-0.2-1.2-2")
    expect(bare.locator("[data-empty]")).to_have_text(
        "“was” may attend to nothing: its row is zero."
    )
    row.click()
    key.click()
    column = ".".join(f"{i}-1" for i in range(1, len(trace.tokens)))
    last_sent(bare, column)
    key.click()
    last_sent(bare, "")
    row.click()
    bare.locator("[data-do=reset]").click()
    last_sent(bare, "")


def test_a_token_is_never_markup(bare: Page, trace: Trace) -> None:
    data = answer(trace, "3-1")
    data["spec"]["stream"]["labels"] = ["<b>x</b>"] * len(trace.tokens)
    data["spec"]["bars"] = [{"label": "<img src=x>", "before": 0.5, "after": None}]
    open_editor(bare, data)
    assert bare.locator(".hl-live :is(bdi b, img)").count() == 0
    expect(bare.locator("[data-edits]")).to_contain_text("<b>x</b>")
    expect(bare.locator(".hl-dist")).to_contain_text("not a number")


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", []),
        ("2-1.0-3", [3, 9]),
        ("0-0.0-0", [0]),
        ("3-0.0-4.x.1-.-1.1.5-99999999999", []),  # outside a matrix of 3 × 4, or no cell at all
    ],
)
def test_edits_as_text(text: str, cells: Sequence[int], bare: Page) -> None:
    read = bare.evaluate("text => [...edits.readEdits(text, 3, 4)].sort((a, b) => a - b)", text)
    assert read == cells
    written = bare.evaluate("cells => edits.writtenEdits(new Set(cells), 4)", cells[::-1])
    assert written == ".".join(f"{i // 4}-{i % 4}" for i in cells)


def test_edits_are_spelled_as_in_the_address(bare: Page) -> None:
    """The browser reads what Python writes there, and the other way round."""
    edits, cells = EDITS.given(n=5), ((0, 3), (2, 1), (4, 4))
    places = bare.evaluate("text => [...edits.readEdits(text, 5, 5)]", edits.text(cells))
    assert [divmod(place, 5) for place in places] == list(cells)
    written = bare.evaluate("places => edits.writtenEdits(new Set(places), 5)", places)
    assert edits.nearest(written) == (cells, None)


def test_a_fast_mouse_skips_no_cell(bare: Page) -> None:
    ends = {"row": 0, "column": 0}, {"row": 2, "column": -5}
    passed = bare.evaluate("([a, b]) => edits.cellsBetween(a, b)", list(ends))
    assert [cell["column"] for cell in passed] == [-1, -2, -3, -4, -5]
    assert [cell["row"] for cell in passed] == [0, 1, 1, 2, 2]
