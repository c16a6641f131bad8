"""Protects the page Findings in a real browser: each line opens its view, and Back comes back."""

from playwright.sync_api import Page, expect

from model.analysis.findings import strongest_copy
from tests.screen import query, settle, visit
from tests.viz.apps import TOM
from tests.viz.builders import stories_trace


def test_a_line_opens_the_arrow_it_speaks_of_and_back_comes_back(page: Page) -> None:
    visit(page, page="Findings", sentence=TOM)
    lines = page.locator(".hl-findings li")
    expect(lines).to_have_count(5)
    copy = strongest_copy(stories_trace(TOM))
    assert copy is not None
    lines.nth(1).get_by_role("link").click()
    page.wait_for_function("location.search.includes('page=Attention')")
    settle(page, "Attention")
    address = query(page)
    assert address["cell"] == f"{copy.query}-{copy.key}"
    assert (int(address["layer"]), int(address["head"])) == (copy.site.layer, copy.head)
    expect(page.locator(".hl-operands h3")).to_contain_text(f"query {copy.query}, key {copy.key}")
    page.go_back()
    page.wait_for_function("location.search.includes('page=Findings')")
    expect(lines).to_have_count(5)
