"""Protects every page: it opens with all its figures, in silence, and everybody can read it."""

from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.conftest import VIEWPORT
from tests.screen import CHARTS, HOSTILE, arrive, figure, settle, visit
from tests.viz.builders import PAGES

PHONE: ViewportSize = {"width": 390, "height": 844}
AXE = Path(next(iter(axe_playwright_python.__path__))) / "axe.min.js"
# `region` is none of the serious ones, and the slowest but one.
OPTIONS = "{resultTypes: ['violations'], rules: {region: {enabled: false}}}"
SERIOUS = f"""async () => (await axe.run(document, {OPTIONS})).violations
    .filter(one => ['serious', 'critical'].includes(one.impact))
    .flatMap(one => one.nodes.map(node => one.id + ': ' + node.html.slice(0, 150)))"""
# What the sentence would be, were it not text.
MARKUP = "img[src='x'], .hl-text b, .hl-strip b, text.nums b, .ytick tspan[style*=bold]"
# Nothing scrolls sideways but what is wider than the screen, in its own frame.
FITS = """() => {
    const main = document.querySelector('[data-testid=stMain]'), {scrollWidth} = main;
    const isFramed = formula => formula.scrollWidth <= formula.clientWidth + 1
        || getComputedStyle(formula).overflowX === 'auto';
    return scrollWidth <= main.clientWidth && document.documentElement.scrollWidth <= innerWidth
        && [...main.querySelectorAll('.katex-display')].every(isFramed);
}"""


def test_there_is_a_line_for_each() -> None:
    assert set(CHARTS) == set(PAGES)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_opens_and_axe_finds_nothing_serious(page: Page, theme: str) -> None:
    """Half of them in each theme, every other on a phone first; what the console says fails it."""
    page.emulate_media(color_scheme=theme)
    arrive(page, sentence=HOSTILE)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = {}
    here, there = VIEWPORT, PHONE
    for title in list(CHARTS)[theme == "dark" :: 2]:
        visit(page, page=title, sentence=HOSTILE)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        for key in CHARTS[title]:
            expect(figure(page, key).locator(".main-svg").first).to_be_attached()
        for size in (here, there):
            page.set_viewport_size(size)
            page.wait_for_function(FITS)
            settle(page, title)
            assert page.evaluate(FITS), title
            if size is VIEWPORT:
                found[title] = page.evaluate(SERIOUS)
        assert page.locator(MARKUP).count() == 0, title
        here, there = there, here  # the next opens as this one stands, and is drawn once less
    assert {title: faults for title, faults in found.items() if faults} == {}
    assert page.evaluate("window.hacked") is None
