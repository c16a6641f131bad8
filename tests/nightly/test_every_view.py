"""Protects pages from moving while somebody reads or leads a tour."""

import time

import pytest
from playwright.sync_api import Page, Route, expect

from tests.screen import settle, visit

# What moved without being asked to within half a second, as the browser itself scores it.
SHIFTS = """() => {
    if (window.shifts) return;  // a page of several tests has this script several times
    window.shifts = [];
    const named = node => node?.closest?.('[class*=st-key]')?.className.match(/st-key-[^ ]+/)?.[0];
    new PerformanceObserver(list => {
        for (const {hadRecentInput, value, sources} of list.getEntries())
            if (!hadRecentInput)
                window.shifts.push({value, moved: sources.map(({node, previousRect, currentRect}) =>
                    `${named(node) ?? node?.nodeName}: ${previousRect.y} to ${currentRect.y}`)});
    }).observe({type: 'layout-shift', buffered: true});
}"""
MOST_SHIFTED = 0.05
LATE_SECONDS = 3
N_STEPS = "() => document.querySelector('.hl-tour progress').max"


@pytest.mark.parametrize("width", [1440, 1280, 390])
@pytest.mark.parametrize(
    "title", ["Home", "Attention", "Next token", "Masks", "Patching", "Explanation"]
)
def test_a_page_comes_without_moving_what_is_there(page: Page, title: str, width: int) -> None:
    """Also where the font of signs comes late: a sign is a word until then."""
    page.set_viewport_size({"width": width, "height": {390: 844, 1280: 720}.get(width, 900)})
    page.route("**/*MaterialSymbols*", _late)
    page.add_init_script(f"({SHIFTS})()")
    visit(page, page=title)
    page.evaluate("document.fonts.ready.then(() => {})")
    page.wait_for_timeout(1000)
    settle(page)
    shifts = page.evaluate("shifts")
    assert score(shifts) <= MOST_SHIFTED, [seen for seen in shifts if seen["value"] > 0.001]
    for how_far in page.locator("[class*=st-key-how-far]").all():
        expect(how_far).to_be_in_viewport(ratio=1)  # below figures that are longer than the window


def score(shifts: list[dict]) -> float:
    """How much moved in all."""
    return sum(shift["value"] for shift in shifts)


def _late(route: Route) -> None:
    time.sleep(LATE_SECONDS)
    route.continue_()


def test_a_tour_goes_by_keyboard_alone_and_nothing_jumps(page: Page) -> None:
    page.add_init_script(f"({SHIFTS})()")
    visit(page, page="Masks", tour="05-masks")
    settle(page)
    page.wait_for_timeout(1000)  # what hears the keys comes last
    panel = page.locator(".hl-tour")
    moved = {}
    for number in range(2, int(page.evaluate(N_STEPS)) + 1):
        page.keyboard.press("ArrowRight")
        expect(panel).to_contain_text(f"{number} of ")
        settle(page)
        page.evaluate("shifts.length = 0")  # that another page came was asked for
        page.wait_for_timeout(1000)  # what the browser draws after the script has ended
        moved[number] = page.evaluate("shifts")
    assert {number: seen for number, seen in moved.items() if score(seen) > MOST_SHIFTED} == {}
