"""Protects a text while it is written: without runs of the page, steered, and its file."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import PageLog
from tests.model.builders import softmax
from tests.screen import (
    PATIENCE,
    TOM,
    content,
    download,
    settle,
    visit,
)
from tests.viz.builders import csv_rows, stories, stories_trace
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
    assert sum("/live/texts/" in url for url in asked) > 2
    text = page.locator(".hl-text").inner_text()
    page.route("**/live/texts/**", lambda route: route.abort())
    page.get_by_role("button", name="Start again").click()
    expect(page.locator(".hl-note-line")).to_have_text("")
    page.get_by_role("button", name="Continue").wait_for()
    expect(generated(page)).to_have_count(40)
    assert page.locator(".hl-text").inner_text() == text
    page.unroute("**/live/texts/**")
    page_log.console_errors.clear()


def test_a_slider_moved_while_it_writes_acts_and_leaves_a_mark(page: Page) -> None:
    """And whoever opens the link afterwards finds the same text."""
    visit(page, page="Next token", sentence=TOM, new_tokens="60", seed="11")
    page.get_by_role("button", name="Start", exact=False).first.click()
    generated(page).nth(3).wait_for()
    page.get_by_label("Temperature", exact=True).fill("1.7")
    mark = page.locator(".hl-marked-token")
    expect(mark).to_have_attribute("title", re.compile("from here on temperature 0.8 → 1.7"))
    page.get_by_role("button", name="Continue").wait_for()
    settle(page)
    text = page.locator(".hl-text").inner_text()
    other = page.context.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(page.url)
    expect(generated(other)).to_have_count(generated(page).count())
    assert other.locator(".hl-text").inner_text() == text
    assert other.locator(".hl-marked-token").inner_text() == mark.inner_text()
    other.close()


def test_distribution_download_has_the_whole_vocabulary(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, inspect="export")
    file = download(page, page.get_by_role("button", name="Distribution (CSV)"))
    header, *rows = csv_rows(content(file))
    assert header == ["id", "token", "logit", "model", "sampled_from", "kept"]
    assert {len(row) for row in rows} == {6}
    assert sorted(int(row[0]) for row in rows) == list(range(stories().config.vocab_size))
    probs = np.zeros(len(rows))
    for token_id, _, _, prob, *_ in rows:
        probs[int(token_id)] = float(prob)
    assert probs == pytest.approx(softmax(stories_trace(TOM).logits[-1]), abs=1e-6)
    assert sum(float(row[4]) for row in rows) == pytest.approx(1, abs=1e-5)
