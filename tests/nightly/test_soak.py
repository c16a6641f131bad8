"""Protects a long visit: short forms of `python -m tests.soak` and `python -m tests.load`."""

import random

from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.load import Plan, load
from tests.screen import PATIENCE, turn_to, visit
from tests.serving import RunningApp
from tests.soak import Visitor
from viz.studio import PAGES

ROUNDS = 1
COLLECTIONS = 6
GROWTH = 1.05  # a kept expander a page, as there was, is 1.2


def nodes(page: Page, session: CDPSession, enough: float = 0.0) -> int:
    """DOM nodes that are held, on the page or not: the fewest seen until there are `enough` few.

    Figures that are read back are held until they are, and the browser frees nodes when it likes.
    """
    page.wait_for_load_state("networkidle")
    found = []
    for _ in range(COLLECTIONS):
        page.wait_for_timeout(1_000)
        session.send("HeapProfiler.collectGarbage")
        found.append(session.send("Memory.getDOMCounters")["nodes"])
        if found[-1] <= enough:
            break
    return min(found)


def test_no_page_leaves_its_elements_behind(browser: Browser, app: RunningApp) -> None:
    """In a process of its own: the browser counts what all pages of one hold."""
    page = browser.new_context(base_url=app.url).new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    session = page.context.new_cdp_session(page)
    visit(page)
    for entry in (*PAGES, PAGES[0]):
        turn_to(page, entry.title)
    before = nodes(page, session)
    for _ in range(ROUNDS):
        for entry in (*PAGES, PAGES[0]):
            turn_to(page, entry.title)
    after = nodes(page, session, enough=GROWTH * before)
    page.context.close()
    assert after <= GROWTH * before


def test_whatever_a_visitor_does_there_is_no_error(page: Page) -> None:
    """Errors of the page fail the test when it closes."""
    visit(page)
    visitor = Visitor(page, random.Random(3))
    for _ in range(15):
        visitor.act()
    assert len(visitor.done) >= 3, "several kinds of interaction"


def test_visitors_get_their_own_numbers(app: RunningApp) -> None:
    found = load(app, Plan(visitors=4, seconds=8, thinking=0.6))
    assert found["errors"] == 0, found["first errors"]
    assert found["texts"] >= 4
    assert found["maps checked"] >= 4
    assert found["maps that are not the visitor's own (asked 0)"] == 0
