"""The real app in a real browser, for every test that asks for `page`.

A page that logs an error to the console, or sends a request to anywhere but the app, fails its
test when it closes, whatever the test was about.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import hypothesis
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.browser import find_browser
from tests.serving import BROWSER_FLAGS, RunningApp, running_app

# No test asserts a timing, so none may fail because the machine was busy.
hypothesis.settings.register_profile("headlight", hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("headlight")


BROWSER_FIXTURES = {"app", "browser", "page"}
# These draw whole pages on shipped models, train, or start programs: seconds for each file.
SLOW = (
    "tests/model/analysis/test_timing.py",
    "tests/model/commands/",
    "tests/model/test_family.py",
    "tests/model/test_stories.py",
    "tests/model/training/test_interrupts.py",
    "tests/model/training/test_run.py",
    "tests/model/training/test_trainer.py",
    "tests/viz/frame/test_address.py",
    "tests/viz/frame/test_bar.py",
    "tests/viz/frame/test_navigation.py",
    "tests/viz/pages/",
    "tests/viz/test_runs.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the app or a browser, and what is slow: `make quick` leaves both out."""
    for item in items:
        if BROWSER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@dataclass
class PageLog:
    """What a page did unasked. A test that provokes an error clears the list it caused."""

    console_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Start the real app once for all tests; stop it at the end."""
    with running_app(tmp_path_factory.mktemp("app") / "log.txt") as running:
        yield running


@pytest.fixture(scope="session")
def app_url(app: RunningApp) -> str:
    """Where the app answers, without a slash at the end."""
    return app.url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests. While it runs, a test cannot call `asyncio.run` in this thread."""
    path = find_browser()
    if path is None:
        pytest.fail("no Chromium or Chrome found; `python -m tests.browser` installs one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page_log() -> PageLog:
    """What this test's page did unasked; both lists must be empty at the end."""
    return PageLog()


@pytest.fixture
def page(browser: Browser, app_url: str, page_log: PageLog) -> Iterator[Page]:
    """A fresh visitor's page, not yet anywhere: `page.goto("/")` opens the app."""
    context = browser.new_context(base_url=app_url, viewport={"width": 1440, "height": 900})
    page = context.new_page()

    def keep_request(url: str) -> None:
        if is_foreign(url, app_url):
            page_log.foreign_requests.append(url)

    def keep_error(message: ConsoleMessage) -> None:
        if message.type == "error":
            page_log.console_errors.append(f"{message.text} ({message.location['url']})")

    context.on("request", lambda request: keep_request(request.url))
    context.on("console", keep_error)
    context.on("weberror", lambda web_error: page_log.console_errors.append(str(web_error.error)))
    page.on("websocket", lambda websocket: keep_request(websocket.url))
    yield page
    context.close()
    assert not page_log.foreign_requests, "requests left the machine"
    assert not page_log.console_errors, "the page logged errors"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the end of the app's log to the report of a failed browser test."""
    report = yield
    app = getattr(item, "funcargs", {}).get("app")
    if report.failed and app is not None:
        report.sections.append(("log of the app", app.last_lines()))
    return report


def is_foreign(url: str, app_url: str) -> bool:
    """Whether fetching an address asks a server other than the app."""
    address = urlsplit(url)
    if address.scheme == "blob":
        address = urlsplit(address.path)
    return address.scheme not in ("data", "about") and address.netloc != urlsplit(app_url).netloc
