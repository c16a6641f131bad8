"""Protects Patching and Explanation in a real browser: they fill in and are clicked."""

import re

import numpy as np
from playwright.sync_api import Page, expect

from tests.screen import PLACE, drawn, figure, visit
from tests.walks.test_experiments import GIRL

FIRST = "The animal didn't cross the street because it was too tired."


def click(page: Page, key: str, row: float, column: float) -> None:
    """Click a place of a figure."""
    page.mouse.click(*page.evaluate(PLACE, [key, 0, row, column]))


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
