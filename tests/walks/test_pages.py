"""Protects every page: it opens with all its figures, in silence, and everybody can read it."""

from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.screen import CHARTS, FITS, HOSTILE, MARKUP, figure, visit
from tests.viz.builders import PAGES

PHONE: ViewportSize = {"width": 390, "height": 844}
AXE = Path(next(iter(axe_playwright_python.__path__))) / "axe.min.js"
# `region` is none of the serious ones, and the slowest but one.
OPTIONS = "{resultTypes: ['violations'], rules: {region: {enabled: false}}}"
SERIOUS = f"""async () => (await axe.run(document, {OPTIONS})).violations
    .filter(one => ['serious', 'critical'].includes(one.impact))
    .flatMap(one => one.nodes.map(node => one.id + ': ' + node.html.slice(0, 150)))"""
# plotly.js 4 has a button that uploads the chart, on by default.
SHARED = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(chart =>
    chart._context?.showSendToCloud || chart._context?.plotlyServerURL
    || [...chart.querySelectorAll('.modebar-btn')].some(x => /hare|loud/.test(x.dataset.title)))
    .length"""


def test_there_is_a_line_for_each() -> None:
    assert set(CHARTS) == set(PAGES)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_opens_and_axe_finds_nothing_serious(page: Page, theme: str) -> None:
    """Half of them in each theme, on a phone; what the console says fails it."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    visit(page, sentence=HOSTILE)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = {"the rail, which a phone hides": page.evaluate(SERIOUS)}
    page.set_viewport_size(PHONE)
    for title in list(CHARTS)[theme == "dark" :: 2]:
        visit(page, page=title, sentence=HOSTILE, swap="1-300")
        expect(page.get_by_test_id("stException")).to_have_count(0)
        for key in CHARTS[title]:
            expect(figure(page, key).locator(".main-svg").first).to_be_attached()
        page.wait_for_function(FITS)
        found[title] = page.evaluate(SERIOUS)
        assert page.locator(MARKUP).count() == 0, title
        assert page.evaluate(SHARED) == 0, title
    assert {title: faults for title, faults in found.items() if faults} == {}
