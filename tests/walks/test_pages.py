"""Protects every page: it opens with all its figures, in silence, and everybody can read it."""

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page, expect

from tests.screen import CHARTS, arrive, figure, turn_to
from tests.viz.builders import PAGES

AXE = Path(next(iter(axe_playwright_python.__path__))) / "axe.min.js"
SERIOUS = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .filter(({impact}) => ['serious', 'critical'].includes(impact))
    .flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 150)}`))"""


def test_every_page_opens_and_axe_finds_nothing_serious(page: Page) -> None:
    """Each once, every second one dark, with all its figures; what the console says fails it."""
    found = {}
    for is_dark, theme in enumerate(("light", "dark")):
        page.emulate_media(color_scheme=theme)
        arrive(page)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        for title in list(CHARTS)[is_dark::2]:
            turn_to(page, title)
            expect(page.get_by_test_id("stException")).to_have_count(0)
            for key in CHARTS[title]:
                expect(figure(page, key).locator(".main-svg").first).to_be_attached()
            found[title] = page.evaluate(SERIOUS)
    assert set(found) == set(PAGES)
    assert {title: faults for title, faults in found.items() if faults} == {}
