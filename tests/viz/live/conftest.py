"""A page of the app's own for the tests of a file."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.viz.live.harness import bare_page


@pytest.fixture(scope="module")
def bare(browser: Browser, app_url: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page with nothing on it; the file's HARNESS, if it has one, has been run in it."""
    with bare_page(browser, app_url, getattr(request.module, "HARNESS", "() => {}")) as page:
        yield page
