"""Protects the mask editor: no click is lost, and no old weight is shown as the model's answer."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from model.trace import Trace
from tests.model.builders import softmax
from tests.viz.builders import causal, stories_trace
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts.made import TEXT
from tests.viz.kit.rows import Has
from viz.digits import digits
from viz.frame.settings import EDITS
from viz.kit.part import Part
from viz.kit.parts.mask_editor import NextTokens, mask_editor_part

LAYER, HEAD = 2, 4
CALL = """async ([name, ...given]) => {
    const found = (await import('/kit/edits.js'))[name](...given);
    return found instanceof Set ? [...found] : found;
}"""
RUNS = "the model is running …"


def with_mask(trace: Trace, mask: np.ndarray) -> Trace:
    """The trace with one layer's patterns as they are under another mask."""
    record = trace.attention[LAYER]
    weights = softmax(np.where(mask, record.scores, -1e9)) * mask
    changed = dataclasses.replace(record, mask=mask, pattern=weights.astype(np.float32))
    records = (*trace.attention[:LAYER], changed, *trace.attention[LAYER + 1 :])
    return dataclasses.replace(trace, attention=records)


def answer(edits: str) -> Part:
    """What Python says under some edits."""
    trace = stories_trace(TEXT)
    base = causal(len(trace.tokens))
    mask = base.copy()
    for pair in filter(None, edits.split(".")):
        mask[tuple(map(int, pair.split("-")))] ^= True
    bars = NextTokens("Next token", [("He", 0.25, 0.5), ("She", 0.5, 0.0)])
    site = trace.attention[LAYER].site
    edited = with_mask(trace, mask)
    return mask_editor_part(edited, "a key", site, HEAD, base, bars, {"edits": edits})


def click(gallery: Gallery, row: int, column: int) -> None:
    """Press and release the mouse on a cell."""
    gallery.point_at("heatMap", row, column)
    gallery.mouse.down()
    gallery.mouse.up()


def test_fast_clicks_all_count(gallery: Gallery) -> None:
    """Answers come late and for fewer edits; until the last, the figures are dimmed."""
    gallery.show(answer(""))
    assert gallery.read()["waits"] is None
    click(gallery, 4, 1)
    assert gallery.read()["waits"] == RUNS
    assert gallery.sent() == {"edits": "4-1"}
    for cell in ((3, 2), (4, 2), (3, 2), (1, 3)):
        click(gallery, *cell)
    gallery.receive(answer("4-1"), acked=1)
    assert gallery.sent() == {"edits": "1-3.4-1.4-2"}
    shown = gallery.read()
    assert shown["waits"] == RUNS and RUNS in shown["cell"]
    final = answer("1-3.4-1.4-2")
    gallery.receive(final, acked=9)
    shown = gallery.read()
    pattern = np.where(final.arrays["mask"], final.arrays["pattern"], np.nan)
    assert shown["waits"] is None
    assert np.array(shown["map"]["values"], float) == pytest.approx(pattern, nan_ok=True)
    assert f": {digits(float(pattern[1, 3]))}" in shown["cell"]
    assert [row["after"] for row in shown["next"]["rows"]] == [0.5, 0]
    assert "3 cells changed" in shown["changed"]


def test_python_has_the_last_word(gallery: Gallery) -> None:
    """A page may drop edits, as it does with another sentence."""
    gallery.show(answer(""))
    click(gallery, 4, 1)
    gallery.sent()
    gallery.receive(answer(""), acked=1)
    shown = gallery.read()
    assert (shown["waits"], shown["changed"]) == (None, Has("No cell changed"))


def test_an_answer_is_read_aloud_to_who_asked_by_keyboard(gallery: Gallery) -> None:
    row = len(stories_trace(TEXT).tokens) - 2
    gallery.show(answer(""))
    gallery.press("PageDown Home ArrowUp ArrowRight Space", "Pattern of")
    assert "“animal” is hidden from" in gallery.read()["spoken"]
    assert gallery.sent() == {"edits": f"{row}-1"}
    gallery.receive(answer(f"{row}-1"), acked=1)
    gallery.press("Enter")
    assert gallery.sent() == {"edits": ""}
    gallery.receive(answer(""), acked=2)
    weight = stories_trace(TEXT).attention[LAYER].pattern[HEAD, row, 1]
    assert f"attends to “animal”: {digits(float(weight))}" in gallery.read()["spoken"]


def test_buttons_for_a_row_and_a_key(gallery: Gallery) -> None:
    """They act on the marked cell, which a click on a label moves, and take themselves back."""
    gallery.show(answer(""))
    labels = gallery.locator("text")
    labels.filter(has_text="was").first.click()
    labels.filter(has_text="animal").last.click()
    row = gallery.get_by_role("button", name="row: was")
    key = gallery.get_by_role("button", name="queries: animal")
    row.click()
    assert gallery.sent() == {"edits": "2-0.2-1.2-2"}
    assert gallery.read()["empty"].strip() == "“was” may attend to nothing: its row is zero."
    row.click()
    key.click()
    column = ".".join(f"{i}-1" for i in range(1, len(stories_trace(TEXT).tokens)))
    assert gallery.sent() == {"edits": column}
    key.click()
    assert gallery.sent() == {"edits": ""}
    row.click()
    gallery.get_by_role("button", name="Reset").click()
    assert gallery.sent() == {"edits": ""}


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", []),
        ("2-1.0-3", [3, 9]),
        ("0-0.0-0", [0]),
        ("3-0.0-4.x.1-.-1.1.5-99999999999", []),  # outside a matrix of 3 × 4, or no cell at all
    ],
)
def test_edits_as_text(text: str, cells: Sequence[int], gallery: Gallery) -> None:
    assert sorted(gallery.evaluate(CALL, ["readEdits", text, 3, 4])) == cells
    written = gallery.evaluate(CALL, ["writtenEdits", cells[::-1], 4])
    assert written == ".".join(f"{i // 4}-{i % 4}" for i in cells)


def test_edits_are_spelled_as_in_the_address(gallery: Gallery) -> None:
    """The browser reads what Python writes there, and the other way round."""
    edits, cells = EDITS.given(n=5), ((0, 3), (2, 1), (4, 4))
    places = gallery.evaluate(CALL, ["readEdits", edits.text(cells), 5, 5])
    assert [divmod(place, 5) for place in places] == list(cells)
    written = gallery.evaluate(CALL, ["writtenEdits", places, 5])
    assert edits.nearest(written) == (cells, None)


def test_a_fast_mouse_skips_no_cell(gallery: Gallery) -> None:
    ends = {"row": 0, "column": 0}, {"row": 2, "column": -5}
    passed = gallery.evaluate(CALL, ["cellsBetween", *ends])
    assert [(cell["row"], cell["column"]) for cell in passed] == [
        *((0, -1), (1, -2), (1, -3), (2, -4), (2, -5))
    ]
