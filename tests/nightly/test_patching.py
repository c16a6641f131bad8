"""Protects Patching and Explanation in a real browser: they fill in and are clicked."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.screen import PLACE, drawn, figure, query, visit

GIRL = "The girl lost the ball, so"
FIRST = "The animal didn't cross the street because it was too tired."


def click(page: Page, key: str, row: float, column: float) -> None:
    """Click a place of a figure."""
    page.mouse.click(*page.evaluate(PLACE, [key, 0, row, column]))


def test_a_grid_finds_the_subject_and_a_cell_leads_to_its_head(page: Page) -> None:
    visit(page, page="Patching", sentence=GIRL)
    (stream,) = drawn(page, "patched-resid-pre")
    assert stream[0].argmax() == 1
    assert stream[0, 1] == pytest.approx(1, abs=1e-4)
    assert np.isfinite(stream).all()
    marked = page.locator(".hl-marked bdi")
    expect(marked).to_have_text(["girl", "boy"])
    click(page, "patched-z", 3, 4)
    page.wait_for_url("**patch=z.3.4*")
    expect(page.get_by_role("heading", name="L3 H4")).to_be_visible()
    page.locator(".hl-way", has_text="L3 H4").click()
    page.wait_for_url("**page=Attention*")
    assert (query(page)["layer"], query(page).get("head", "4")) == ("3", "4")


def test_another_pair_is_chosen_and_another_second_sentence_typed(page: Page) -> None:
    visit(page, page="Patching", sentence=GIRL)
    page.get_by_role("combobox", name="Pairs").select_option("What Mia wants to help")
    expect(page.locator(".hl-marked bdi")).to_have_text(["bird", "frog"])
    figure(page, "patching-estimate").locator(".main-svg").first.wait_for()
    box = page.get_by_role("textbox", name="Second sentence")
    expect(box).to_have_value("Mia saw a little frog. She wanted to help the")
    box.fill("Mia saw a frog. She wanted to help the")
    expect(page.locator(".hl-error")).to_have_text(
        "the first sentence has 11 tokens, the second 10; they part at “little” and “frog”: give "
        "both as many"
    )
    box.fill("Mia saw a little dog. She wanted to help the")
    expect(page.locator(".hl-marked bdi")).to_have_text(["bird", "dog"])
    expect(page.locator(".hl-error")).to_have_count(0)


def test_arrows_are_points_and_the_named_ones_lead_to_their_heads(page: Page) -> None:
    visit(page, page="Explanation", sentence=FIRST)
    effects, *rings = drawn(page, "arrows")
    assert effects.size == 6 * 8 * 13
    assert len(rings) == 4
    page.get_by_role("radio", name="value-weighted norm").click()
    page.wait_for_url("**measure=norms*")
    expect(figure(page, "arrows").locator(".xtitle")).to_have_text("value-weighted norm")
    expect(page.locator(".hl-way")).to_have_count(3)
    page.locator(".hl-way").first.click()
    page.wait_for_url(re.compile("page=Attention.*cell=12-"))


def test_the_metric_is_chosen_and_everything_follows(page: Page) -> None:
    visit(page, page="Explanation", sentence=GIRL, inspect="formula")
    expect(page.locator(".katex").first).to_be_visible()
    (before, *_) = drawn(page, "arrows")
    page.goto(page.url + "&asked=loss")
    figure(page, "token-worth").locator(".main-svg").first.wait_for()
    (after, *_) = drawn(page, "arrows")
    assert np.abs(after - before).max() > 0.1
    expect(page.locator(".hl-facts", has_text="loss of “she”")).to_be_visible()
