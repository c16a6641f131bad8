"""Protects attention by hand: each key redraws every step as Python computes it."""

import numpy as np
import pytest
from playwright.sync_api import expect

from model.analysis.worked import Example, read_cells, work_out
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made
from viz.pages.lessons.by_hand import EXAMPLES

CELLS = """name => [...document.querySelectorAll(`td[data-number="${name}"]`)]
    .map(cell => cell.textContent.replace('−', '-').replace('∞', 'Infinity'))"""


@pytest.fixture
def page(gallery: Gallery) -> Gallery:
    """The gallery with the first of the examples."""
    gallery.show(made.by_hand())
    gallery.get_by_text("Sizes, mask, heads").click()
    return gallery


def drawn(page: Gallery, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers of one step as they are printed."""
    return np.array([float(text) for text in page.evaluate(CELLS, name)]).reshape(shape)


def assert_drawn(page: Gallery, example: Example) -> None:
    """Every step of every head is what the model's own functions make of the numbers."""
    worked = work_out(example)
    for name in ("products", "scores", "weights", "z"):
        for head, array in enumerate(getattr(worked, name)):
            shown = drawn(page, f"hand.{name}.{head}", array.shape)
            np.testing.assert_allclose(shown, array, atol=5.1e-4)
    if worked.output is not None:
        shown = drawn(page, "hand.output", worked.output.shape)
        np.testing.assert_allclose(shown, worked.output, atol=5.1e-4)


def test_every_example_is_drawn_as_python_computes_it(page: Gallery) -> None:
    for given in EXAMPLES[1:]:
        page.get_by_label("Example", exact=True).select_option(label=given.name)
        s = given.settings
        example = Example(
            *read_cells(s["cells"]), s["heads"], s["masking"], s["valid"], s["scaled"]
        )
        assert_drawn(page, example)


def test_a_cell_that_is_typed_redraws_all_and_one_that_is_none_nothing(page: Gallery) -> None:
    cell = page.get_by_label("K row 2, column 1")
    cell.fill("−1,5")
    assert cell.input_value() == "−1,5"
    assert_drawn(page, Example(*read_cells("1,0;0,1|1,0;-1.5,1|1,0;0,1|")))
    assert page.sent() == {"cells": "1,0;0,1|1,0;-1.5,1|1,0;0,1|"}
    cell.fill("1e99")
    expect(page.locator(".hl-hand-fault")).to_contain_text("K row 2, column 1: type a number")
    assert_drawn(page, Example(*read_cells("1,0;0,1|1,0;-1.5,1|1,0;0,1|")))
    assert cell.input_value() == "1e99", "what a person types stays"
    cell.fill("2")
    expect(page.locator(".hl-hand-fault")).to_have_text("")
    assert_drawn(page, Example(*read_cells("1,0;0,1|1,0;2,1|1,0;0,1|")))


def test_sizes_heads_and_masks_are_changed_here(page: Gallery) -> None:
    page.get_by_label("two heads").check()
    cell = page.get_by_label("W_O row 2, column 2")
    assert cell.input_value() == "1"
    assert cell.evaluate("cell => cell.offsetWidth >= cell.parentElement.clientWidth"), "all of it"
    assert_drawn(page, Example(*read_cells("1,0;0,1|1,0;0,1|1,0;0,1|1,0;0,1"), 2))
    page.get_by_label("two heads").uncheck()
    page.get_by_label("causal", exact=True).check()
    page.get_by_label("÷ √d").uncheck()
    page.get_by_role("slider", name="Tokens").fill("3")
    grown = read_cells("1,0;0,1;0,0|1,0;0,1;0,0|1,0;0,1;0,0|")
    assert_drawn(page, Example(*grown, masking="causal", is_scaled=False))


def test_each_size_keeps_what_the_others_and_the_hand_did(page: Gallery) -> None:
    page.get_by_label("Q row 1, column 1").fill("7")
    for name, n in (("Tokens", "4"), ("Columns of Q, K", "3"), ("Columns of V", "5")):
        page.get_by_role("slider", name=name).fill(n)
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('[aria-label=Given] table')].map(table =>
            [table.querySelectorAll('tr').length, table.querySelectorAll('td').length])"""
    )
    assert sizes == [[4, 12], [4, 12], [4, 20]]
    assert page.get_by_label("Q row 1, column 1").input_value() == "7"
    page.get_by_label("Example", exact=True).select_option(label="Two tokens")
    expect(page.get_by_role("slider", name="Columns of V")).to_have_value("2")
    expect(page.get_by_role("slider", name="Tokens")).to_have_value("2")


def test_a_cell_says_how_it_came_about_by_mouse_and_by_keyboard(page: Gallery) -> None:
    line = page.locator(".hl-hand-line")
    page.locator('td[data-number="hand.products.0"]').first.hover()
    expect(line).to_have_text("q · k: row 1, column 1 q1·k1=1.000×1.000+0×0=1.000")
    assert page.locator(".hl-marked input").count() == 0
    assert page.locator("input.hl-marked").count() == 4  # a query and a key
    page.locator('td[data-number="hand.weights.0"]').first.focus()
    page.keyboard.press("ArrowRight")
    expect(line).to_contain_text("softmax: row 1, column 2")
    expect(line.locator("mfrac > msup")).to_have_text("e0")
    expect(line.locator("mfrac > mrow")).to_have_text("e0.707+e0")
    expect(line.locator("math > :last-child")).to_have_text("0.330")
