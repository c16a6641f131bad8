"""Protects Attention where something is late, and everybody who uses it."""

from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.attention import VIEWS, choose, shown, wait_for
from tests.conftest import PageLog
from tests.screen import TOM, arrive, settle
from tests.viz.builders import stories_trace
from viz.frame.examples import examples

AXE = next(iter(axe_playwright_python.__path__)) + "/axe.min.js"
FIRST = examples()[0].sentence
# What can be tapped in Attention and is lower than 32 pixels; a radio is tapped by its words.
LOW_TARGETS = """() => ['button', 'select', 'input']
    .flatMap(kind => [...document.querySelectorAll(`.hl-live ${kind}`)])
    .filter(node => node.checkVisibility())
    .map(node => node.matches('[type=radio], [type=checkbox]') ? node.closest('label') : node)
    .filter(node => node.getBoundingClientRect().height < 32)
    .map(node => `${node.outerHTML.slice(0, 90)} ${node.getBoundingClientRect().height}`)"""


def test_a_late_answer_does_not_replace_a_newer_one(page: Page) -> None:
    """The mean is asked for and comes after the maximum that was asked for later."""
    arrive(page, sentence=TOM, view="summary", over="layer", layer="2", head="4")
    wait_for(page, "L2 H4", view="summary")
    held: list[Route] = []
    page.route("**/kit/arrays/**", lambda route: route.continue_() if held else held.append(route))
    page.get_by_role("combobox", name="Over").select_option("all")
    page.get_by_role("combobox", name="Summary").select_option("maximum")
    says = page.locator(".hl-view-summary .hl-caption")
    expect(says).to_contain_text("Maximum over all heads of all layers")
    for route in held:
        route.continue_()
    settle(page)
    page.wait_for_timeout(500)
    expect(says).to_contain_text("Maximum over all heads of all layers")
    records = stories_trace(TOM).attention
    patterns = np.stack([record.pattern for record in records])
    values = shown(page, ".hl-view-summary .js-plotly-plot")
    expected = patterns.max(axis=(0, 1))
    assert values[records[0].mask] == pytest.approx(expected[records[0].mask], abs=1e-6)


def test_without_plotly_a_line_says_so_and_trying_again_helps(
    page: Page, page_log: PageLog
) -> None:
    page.route("**/plotly.min.js", lambda route: route.abort())
    page.goto("/?page=Attention&layer=2&head=4")
    alert = page.locator(".hl-live [role=alert]")
    expect(alert).to_contain_text("plotly.js did not load")
    page.unroute("**/plotly.min.js")
    alert.get_by_role("button", name="Try again").click()
    wait_for(page, "L2 H4")
    settle(page)
    page_log.console_errors.clear()


@pytest.fixture(params=["light", "dark"])
def themed(page: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page in a light and a dark theme."""
    page.emulate_media(color_scheme=request.param)
    yield page


def test_axe_finds_nothing_serious(themed: Page) -> None:
    arrive(themed, sentence=TOM, layer="2", head="4")
    for view in VIEWS:
        choose(themed, "view", view)
        wait_for(themed, "L2 H4", view=view)
        assert violations(themed.locator(".hl-live")) == [], view


def violations(part: Locator) -> list[str]:
    """What axe-core calls serious or critical in a part of the page."""
    page = part.page
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = part.evaluate("async part => (await axe.run(part)).violations")
    return [
        f"{item['id']}: {node['html'][:150]}"
        for item in found
        if item["impact"] in ("serious", "critical")
        for node in item["nodes"]
    ]


def test_a_finger_finds_everything(page: Page) -> None:
    """On a phone what is tapped is 32 pixels high at least, and the formula scrolls by itself."""
    page.set_viewport_size({"width": 390, "height": 844})
    arrive(page, sentence=FIRST, layer="2", head="4")
    for view in [*VIEWS[1:], "map"]:
        choose(page, "view", view)
        wait_for(page, "L2 H4", view=view)
        low = page.evaluate(LOW_TARGETS)
        assert low == [], view
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, view
    formula = page.locator(".hl-formula")
    assert formula.evaluate("node => node.scrollWidth - node.clientWidth") > 50
    expect(formula).to_have_css("background-attachment", "local, local, scroll, scroll")
    formula.evaluate("node => node.scrollTo(1000, 0)")
    assert formula.evaluate("node => node.scrollLeft") > 50
