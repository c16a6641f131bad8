"""Protects a page on a wall: large labels, a map that fills the height, keys, and the way back."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.screen import PATIENCE, query, rail, settle, settling, visit
from tests.viz.apps import TOM
from tests.viz.builders import stories_trace

WALL = {"width": 1920, "height": 1080}
LEAST_LABEL = 17.9  # pixels on the wall; 18 are asked for
# Pixels on screen of every visible piece of text in a part of the page, with the text.
TEXT_SIZES = """main => {
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode, parent = node.parentElement;
        if (!node.data.trim() || !parent.checkVisibility({visibilityProperty: true})) continue;
        if (parent.closest('.hl-hidden, .hl-formula sub, math, style, title')) continue;
        const box = main.getBoundingClientRect();
        const larger = box.width / main.offsetWidth;
        found.push([parseFloat(getComputedStyle(parent).fontSize) * larger, node.data.trim()]);
    }
    return found;
}"""
CELL = """([row, column]) => {
    const chart = document.querySelector('.hl-view-map .js-plotly-plot');
    const {left, top, width} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    const larger = width / chart.offsetWidth;
    return [left + larger * (xaxis._offset + xaxis.c2p(column)),
        top + larger * (yaxis._offset + yaxis.c2p(row))];
}"""


@pytest.fixture
def wall(page: Page) -> Iterator[Page]:
    """Attention, presented by its link on a large screen."""
    before = page.viewport_size
    page.set_viewport_size(WALL)
    page.set_default_timeout(PATIENCE)
    visit(page, sentence=TOM, layer="L4", head="H5")
    with settling(page):
        rail(page).get_by_role("link", name="Present", exact=True).click()
    expect(way_back(page)).to_be_visible()
    page.wait_for_function("() => document.querySelector('.hl-live').clientWidth > 1000")
    yield page
    page.evaluate("() => document.fullscreenElement && document.exitFullscreen()")
    page.set_viewport_size(before)


def way_back(page: Page) -> Locator:
    """The link that ends it."""
    return page.get_by_role("link", name="Leave (Esc)")


def test_labels_are_large_and_the_map_fills_the_height(wall: Page) -> None:
    expect(rail(wall)).to_be_hidden()
    expect(wall.get_by_test_id("stHeader")).to_be_hidden()
    main = wall.get_by_test_id("stMain")
    small = [text for size, text in main.evaluate(TEXT_SIZES) if size < LEAST_LABEL]
    assert small == []
    chart = wall.locator(".hl-view-map .js-plotly-plot")
    box = chart.bounding_box()
    assert WALL["height"] - 60 <= box["y"] + box["height"] <= WALL["height"]
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_home_fits_one_screen_and_another_sentence_can_be_typed(
    page: Page, size: tuple[int, int]
) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.set_default_timeout(PATIENCE)
    page.goto("/?page=Home&present=yes")
    settle(page, "Home")
    for part in (".hl-home-axis", ".hl-home-says", ".hl-home-next"):
        box = page.locator(part).bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= size[1], part
    page.get_by_label("Sentence").fill("One day a small")
    expect(page.locator(".hl-home-tokens button").last).to_have_text("small")
    page.set_viewport_size(before)


def test_the_mouse_finds_the_cell_it_is_on(wall: Page) -> None:
    tokens = [token.strip() for token in stories_trace(TOM).tokens]
    for row, column in ((9, 2), (4, 4), (11, 0)):
        x, y = wall.evaluate(CELL, [row, column])
        wall.mouse.move(x - 1, y - 1)
        wall.mouse.move(x, y)
        expect(wall.locator(".hl-operands h3")).to_contain_text(f"query {row}, key {column}")
        expect(wall.locator(".hl-operands h3")).to_contain_text(tokens[row])


def test_keys_go_from_view_to_view_and_back(wall: Page) -> None:
    wall.evaluate("() => document.activeElement.blur()")
    wall.keyboard.press("PageDown")
    settle(wall, "Heads")
    wall.wait_for_url("**page=Heads**")  # written at the end of a run
    assert query(wall)["present"] == "yes"
    wall.keyboard.press("ArrowLeft")
    settle(wall, "Attention")
    wall.keyboard.press("Escape")
    expect(way_back(wall)).to_have_count(0)
    expect(rail(wall)).to_be_visible()
    wall.wait_for_function("() => !location.search.includes('present')")
    assert (query(wall)["layer"], query(wall)["head"]) == ("4", "5")


def test_a_tour_goes_on_while_it_is_presented(page: Page) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto("/?page=Heads&tour=03-by-hand&present=yes")
    expect(way_back(page)).to_be_visible()
    count = page.locator(".hl-tour small")
    expect(count).to_contain_text("1 of ")
    settle(page, "Heads")
    ways = (("ArrowRight", "Attention by hand"), ("PageDown", "Attention by hand"))
    for (key, title), (here, there) in zip(ways, pairwise((1, 1, 2)), strict=True):
        expect(count).to_contain_text(f"{here} of ")
        page.keyboard.press(key)
        expect(count).to_contain_text(f"{there} of ")
        settle(page, title)
    page.mouse.move(700, 600)
    page.mouse.wheel(0, 600)
    expect(page.get_by_role("heading", level=1)).not_to_be_in_viewport()
    expect(way_back(page)).to_be_in_viewport(ratio=0.9)
    way_back(page).click()
    expect(way_back(page)).to_have_count(0)
    expect(count).to_contain_text("2 of ")
