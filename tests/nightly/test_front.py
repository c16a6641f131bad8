"""Protects the frame in a real browser: the rail, the address, Back and Forward."""

import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.nightly.picture import PICTURE, take
from tests.screen import (
    CHARTS,
    TOM,
    query,
    settle,
    visit,
)
from tests.viz.builders import OWN_MODEL
from tests.walks.test_way import go


def test_a_cell_and_its_head_come_back_with_back(page: Page) -> None:
    """What belongs to a sentence is not lost when Back changes the sentence, too."""
    visit(page, sentence=TOM, layer="1", head="3", cell="5-2")
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    sentence.fill("a cat")
    sentence.blur()
    page.wait_for_url("**sentence=a+cat**")
    settle(page)
    assert "cell" not in query(page)
    go(page, "back")
    expect(sentence).to_have_value(TOM)
    settle(page, "Attention")
    settle(page)
    assert query(page)["cell"] == "5-2"


# --- Home ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (1280, 720)])
def test_home_needs_no_scrolling(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    visit(page, page="Home")
    home = page.locator(".hl-home").bounding_box()
    assert home is not None and home["y"] <= 220
    assert home["y"] + home["height"] <= height


def test_the_readme_shows_home_as_it_is(page: Page) -> None:
    """Another browser's letters differ by a few levels of grey, another page by much more."""
    shown, stored = (
        np.asarray(Image.open(source).convert("RGB"), dtype=float)
        for source in (BytesIO(take(page)), PICTURE)
    )
    assert shown.shape == stored.shape
    assert np.abs(shown - stored).mean() < 1, "`python -m tests.nightly.picture` takes it anew"


# --- tours --------------------------------------------------------------------------------------


def test_what_a_step_is_about_comes_into_sight_below_its_sentences(page: Page) -> None:
    """The formula stands far below the fold; whoever scrolls away from it is left alone."""
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, page="Attention", layer="3", head="2", tour="03-by-hand", step="3")
    formula, panel = page.locator(".hl-formula").first, page.locator(".hl-tour")
    expect(formula).to_be_in_viewport(ratio=1)
    expect(panel).to_be_in_viewport(ratio=1)
    page.mouse.move(640, 500)
    page.mouse.wheel(0, -2000)
    expect(formula).not_to_be_in_viewport()
    page.get_by_role("textbox", name="Sentence", exact=True).fill("Tom ran home")
    settle(page)
    page.wait_for_timeout(1500)
    expect(formula).not_to_be_in_viewport()
    panel.get_by_role("link", name="Next").click()
    expect(page.locator(".hl-view-map .hl-map")).to_be_in_viewport(ratio=1)


FIGURES = ".hl-live > *:visible, .hl-figure .js-plotly-plot, .hl-diagram"
DEEPEST = {(1400, 900): 220, (1280, 720): 220, (390, 844): 360}


def test_the_first_figure_stands_high_on_every_page(page: Page) -> None:
    """At each size of the window, which changes while the page is open."""
    for title in CHARTS.keys() - {"Notation"}:
        page.set_viewport_size({"width": 1400, "height": 900})
        visit(page, page=title, model=OWN_MODEL.get(title, "stories"))
        first = page.locator(FIGURES).first
        for (width, height), deepest in DEEPEST.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(500)  # what follows the size by script
            settle(page)
            assert first.bounding_box()["y"] <= deepest, (title, width)


def test_the_caret_waits_in_the_box_on_home_alone(page: Page) -> None:
    visit(page, page="Home", sentence="Tom")
    expect(page.get_by_role("textbox", name="Sentence", exact=True)).to_be_focused()
    page.keyboard.type(" ran.")
    expect(page).to_have_url(re.compile(r"sentence=Tom\+ran"))
    page.goto("/?page=Attention&sentence=Tom")
    settle(page, "Attention")
    expect(page.get_by_role("textbox", name="Sentence", exact=True)).not_to_be_focused()
