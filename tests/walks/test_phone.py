"""A person holds a phone: a finger does what a mouse does."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.screen import PATIENCE, TOM, settle, visit


@pytest.fixture(scope="module")
def phone(browser: Browser, app_url: str) -> Iterator[Page]:
    """A page of 390 pixels that is touched."""
    context = browser.new_context(
        base_url=app_url, viewport={"width": 390, "height": 844}, has_touch=True
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


def test_the_rail_covers_the_page_until_a_page_is_tapped(phone: Page) -> None:
    visit(phone, page="Attention", sentence=TOM)
    phone.get_by_test_id("stExpandSidebarButton").tap()
    expect(phone.get_by_role("heading", name="Attention", exact=False)).to_be_hidden()
    phone.get_by_role("link", name="Heads", exact=True).tap()
    settle(phone, "Heads")
    expect(phone.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    expect(phone.get_by_role("heading", name="Heads", exact=False).first).to_be_visible()


def test_a_page_opens_at_its_top_however_far_the_one_before_was_scrolled(phone: Page) -> None:
    visit(phone, page="Home", sentence=TOM)
    phone.locator(".hl-findings a").first.tap()  # below the map
    settle(phone, "Attention")
    assert phone.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0


def test_a_finger_paints_a_mask(phone: Page) -> None:
    visit(phone, page="Masks", scene="edit", sentence=TOM)
    chart = phone.locator(".hl-mask-editor .hl-map .js-plotly-plot")
    chart.evaluate("chart => chart.scrollIntoView({block: 'center'})")
    place = """(chart, [row, column]) => {
        const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
        return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
    }"""
    scrolled = phone.get_by_test_id("stMain").evaluate("main => main.scrollTop")
    session = phone.context.new_cdp_session(phone)
    for kind, cell in (("touchStart", [6, 0]), ("touchMove", [6, 2]), ("touchMove", [6, 4])):
        x, y = chart.evaluate(place, cell)
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(phone.locator("[data-edits]")).to_contain_text("5 cells changed")
    phone.wait_for_url("**edits=6-0.6-1.6-2.6-3.6-4*")
    settle(phone)
    expect(phone.locator(".hl-live[data-waiting]")).to_have_count(0)  # the model has answered
    assert phone.get_by_test_id("stMain").evaluate("main => main.scrollTop") == scrolled


def test_both_bands_of_a_translation_keep_their_names(phone: Page) -> None:
    """They stand with the tokens while the rest scrolls below them."""
    visit(phone, page="Home", source="A dog runs.", model="translate")
    names = phone.locator(".hl-home-bands > span")
    expect(names).to_have_text(["Encoder", "Decoder"])
    box = phone.locator(".hl-home-scroller")
    box.evaluate("box => (box.scrollIntoView({block: 'end'}), box.scrollTo({left: 300}))")
    for i in range(2):
        expect(names.nth(i)).to_be_in_viewport(ratio=1)
