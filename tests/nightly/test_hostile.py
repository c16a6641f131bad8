"""Protects the page from sentences that try to be more than text."""

from playwright.sync_api import Page

from tests.conftest import PageLog
from tests.hostile import PLANTED, Outcome, open_all, sentences, type_all, watch
from tests.screen import visit
from tests.serving import RunningApp


def test_there_are_many() -> None:
    assert len(sentences()) >= 380


def test_what_would_be_noticed(page: Page, page_log: PageLog) -> None:
    """The check itself: markup planted in the page is seen."""
    page.goto("about:blank")
    for planted in ("<img src=x>", "<a href='javascript:1'>a</a>", "<iframe></iframe>"):
        page.set_content("<p>text</p>")
        assert not page.evaluate(PLANTED)
        page.set_content(planted)
        assert page.evaluate(PLANTED), planted
    page_log.console_errors.clear()


def test_some_typed_and_some_in_the_address(app: RunningApp, page: Page) -> None:
    outcome = Outcome()
    watch(page, app, outcome)
    visit(page)
    texts = sentences()
    every = 40  # all go through the command line, in tests/model/commands
    type_all(page, texts[::every], outcome)
    short = [text for text in texts[7 :: 4 * every] if len(text) < 2000]
    for _ in open_all(page, short, outcome):
        pass
    assert outcome.tried == len(texts[::every]) + len(short)
    assert (outcome.executed, outcome.page_errors, outcome.foreign) == ([], [], [])
    assert "Traceback" not in app.log.read_text(encoding="utf-8", errors="replace")
