"""Home opens at once: a recorded run stands where the live one will, and gives way to it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect
from starlette.datastructures import Headers

from tests.conftest import PageLog
from tests.screen import PATIENCE, pick, picked, query, settle, turn_to
from tests.serving import Proxy, RunningApp
from viz.guard import Access, refusal_of

# The recorded run stands in a shadow that is closed; here it is opened, to be looked at.
OPENED = """const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
    return attach.call(this, {...options, mode: 'open'});
};"""
MOVED = """() => document.querySelector('[inert]').shadowRoot
    .querySelector('.hl-home-axis b').getBoundingClientRect().x > %d"""
SIZES = [(1280, 720), (390, 844), (1920, 1080)]
# What comes below them stands as high as the sentence that is said at that moment.
PLACES = (".hl-home-scroller", ".hl-home-tokens button")


@pytest.fixture
def first_visit(browser: Browser, app_url: str, page_log: PageLog) -> Iterator[Page]:
    """A page of a browser that was never here."""
    context = browser.new_context(base_url=app_url)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(OPENED)
    says = page_log.console_errors
    page.on("console", lambda line: says.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: says.append(str(error)))
    yield page
    context.close()
    assert says == []


def place_of(within: Locator, selector: str) -> list[float]:
    """Left, top and width of the first of its kind; heights follow from the first place."""
    box = within.locator(selector).first.bounding_box()
    assert box is not None
    return [box["x"], box["y"], box["width"]]


def test_a_recorded_run_plays_until_the_live_one_goes_on(first_visit: Page) -> None:
    for width, height in SIZES:
        first_visit.set_viewport_size({"width": width, "height": height})
        assert_goes_on(first_visit)


def assert_goes_on(page: Page) -> None:
    """Home is loaded; what comes live stands where the recorded run stood, and goes on with it."""
    held = list[Route]()
    # Without it no live part can be drawn.
    page.route("**/live/main.js", lambda route: held.append(route), times=1)
    page.goto("/", wait_until="commit")
    recorded, live = page.locator("[inert]"), page.locator(".hl-live:has(.hl-home)")
    words = recorded.locator(".hl-home-tokens button")
    expect(words.first).to_be_visible()
    expect(recorded).to_have_attribute("aria-hidden", "true")
    expect(recorded).to_contain_text("Recorded run")
    dot = recorded.locator(".hl-home-axis b").bounding_box()["x"]
    page.wait_for_function(MOVED % (dot + 20))
    moved = recorded.locator(".hl-home-axis b").bounding_box()["x"]
    assert page.evaluate("document.documentElement.dataset.settled") is None
    assert page.evaluate("document.querySelector('.hl-home')") is None, "it counts as none"
    before, said = [place_of(recorded, name) for name in PLACES], words.all_text_contents()
    held.pop().continue_()
    page.locator("html[data-settled]").wait_for(state="attached")
    expect(recorded).to_have_count(0)
    settle(page, "Home")
    at = live.locator(".hl-home-axis b").bounding_box()["x"]
    assert at >= moved - 2, "it begins again"  # both may have reached the end, to the pixel
    expect(live).to_contain_text("Live")
    assert live.locator(".hl-home-tokens button").all_text_contents() == said
    for place, name in zip(before, PLACES, strict=True):
        assert place_of(live, name) == pytest.approx(place, abs=2), name


def test_under_a_name_it_does_not_answer_to_the_page_says_so_and_nothing_else(
    first_visit: Page, page_log: PageLog
) -> None:
    """A proxy hands on the page; with modules and the socket a browser names the site: refused."""
    said = refusal_of(Headers({"host": "localhost", "origin": "https://x.example"}), Access())
    first_visit.route(re.compile("(?<!/refused).js$"), lambda route: route.fulfill(status=403))
    first_visit.route("**/live/asked", lambda route: route.fulfill(status=403, body=said))
    first_visit.goto("/")
    expect(first_visit.get_by_role("alert")).to_have_text(str(said))
    assert first_visit.evaluate("document.body.innerText") == said
    first_visit.close()  # what the browser says of a module that was refused may come late
    page_log.console_errors.clear()


def test_behind_a_proxy_all_works_and_what_does_not_come_through_is_said(
    first_visit: Page, app: RunningApp, page_log: PageLog
) -> None:
    """It cuts its place off; the line breaks; a page that came without a WebSocket stayed empty."""
    page, line = first_visit, first_visit.get_by_role("alert")
    badge = page.get_by_text("Verified:")
    with Proxy(app).running() as proxy:
        page.goto(f"{proxy.url}/?page=Attention&layer=2")
        settle(page, "Attention")
        assert picked(page, "Layer") == "L2"
        expect(badge).to_be_visible()
        proxy.cut()
        expect(line).to_contain_text("connection to the app is lost")
        expect(badge).to_be_hidden()
        pick(page, "Layer", "L4")
        proxy.hands_on_sockets = True
        expect(line).to_have_count(0)
        page.wait_for_url("**layer=4**")
        settle(page, "Attention")
        expect(badge).to_be_visible()
        assert (picked(page, "Layer"), query(page)["layer"]) == ("L4", "4")
        turn_to(page, "Tokens")
        assert page.url.startswith(f"{proxy.url}/?page=Tokens")
        proxy.hands_on_sockets = False
        page.goto(f"{proxy.url}/?page=Attention")
        expect(line).to_contain_text("WebSocket (_stcore/stream) does not come through")
        proxy.hands_on_sockets = True
        settle(page, "Attention")
        expect(line).to_have_count(0)
        page.goto("about:blank")
    page_log.console_errors.clear()
