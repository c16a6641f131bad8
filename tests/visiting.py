"""Visitors of an app of one's own, who must see no error."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect

from tests.screen import PATIENCE
from tests.serving import RunningApp


@contextmanager
def visitor_of(browser: Browser, app: RunningApp, width: int = 1400) -> Iterator[Page]:
    """A page at the app; at the end nothing may have been said in its console."""
    context = browser.new_context(base_url=app.url, viewport={"width": width, "height": 900})
    page, errors = context.new_page(), []
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda x: errors.append(x.text) if x.type == "error" else None)
    yield page
    context.close()
    assert errors == []
