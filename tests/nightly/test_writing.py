"""Protects a text while it is written: without runs of the page, steered, and its file."""

from playwright.sync_api import Page, expect

from tests.conftest import PageLog
from tests.screen import (
    TOM,
    visit,
)
from tests.walks.test_generating import generated


def test_a_text_comes_without_runs_of_the_page_and_where_it_must_with_them(
    page: Page, page_log: PageLog
) -> None:
    visit(page, page="Next token", sentence=TOM, new_tokens="40", seed="11")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Start", exact=False).first.click()
    page.get_by_role("button", name="Continue").wait_for()
    expect(generated(page)).to_have_count(40)
    assert sum("/kit/answers/" in url for url in asked) > 2
    text = page.locator(".hl-text").inner_text()
    page.route("**/kit/answers/**", lambda route: route.abort())
    page.get_by_role("button", name="Start again").click()
    expect(page.locator(".hl-note-line")).to_have_text("")
    page.get_by_role("button", name="Continue").wait_for()
    expect(generated(page)).to_have_count(40)
    assert page.locator(".hl-text").inner_text() == text
    page.unroute("**/kit/answers/**")
    page_log.console_errors.clear()
