"""The real app in a real browser, for every test that asks for `page`.

A page that logs an error to the console, sends a request to anywhere but the app, or scrolls
sideways, fails its test when it closes, whatever the test was about.
"""

import os
import signal
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import hypothesis
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    WebError,
    WebSocket,
    expect,
    sync_playwright,
)

from model.sources.places import HOME
from tests.browser import find_browser
from tests.outside import Outside, outside
from tests.screen import FITS, PATIENCE
from tests.serving import BROWSER_FLAGS, RunningApp, running_app

# No test asserts a timing, so none may fail because the machine was busy.
hypothesis.settings.register_profile(
    "headlight", hypothesis.settings(), deadline=None, max_examples=30
)
hypothesis.settings.load_profile("headlight")

# A shell's background jobs ignore these, and their children do too: tests of signals must not.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
WALKS = "tests/walks/"
FAILED = pytest.StashKey[bool]()
# What is still being drawn may be wider for a moment.
FITS_AT_REST = f"() => !document.documentElement.dataset.settled || ({FITS})()"
BROWSER_FIXTURES = {"app", "browser"}
# These draw whole pages on shipped models, train, or start programs: seconds for each file.
SLOW = (
    "tests/model/analysis/test_timing.py",
    "tests/model/commands/",
    "tests/model/test_family.py",
    "tests/model/test_stories.py",
    "tests/model/test_tap.py::test_threads",
    "tests/model/training/test_interrupts.py",
    "tests/model/training/test_trainer.py",
    "tests/walks/test_walls.py",
    "tests/viz/frame/test_address.py",
    "tests/viz/frame/test_bar.py",
    "tests/viz/frame/test_navigation.py",
    "tests/viz/frame/test_settings.py::test_a_setting_comes",
    "tests/viz/frame/test_tours.py",
    "tests/viz/pages/",
    "tests/viz/test_runs.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the app or a browser, what is slow, and what only `make nightly` runs."""
    for item in items:
        if BROWSER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        if item.nodeid.startswith("tests/nightly/"):
            item.add_marker(pytest.mark.nightly)
    # The long ones first: what comes last should be short, or one process waits for the other.
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables that tests have recorded, whichever process ran them."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, table in report.user_properties:
            terminalreporter.section(name)
            terminalreporter.write_line(str(table))


@dataclass
class PageLog:
    """What a page did unasked. A test that provokes an error clears the list it caused."""

    console_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the tester has opened is not there, and nothing is added to it."""
    os.environ[HOME] = str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def world() -> Iterator[Outside]:
    """All other machines, as the app sees them."""
    with outside() as found:
        yield found


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, world: Outside) -> Iterator[RunningApp]:
    """Start the real app once for all tests; stop it at the end. It may ask nobody for anything."""
    log = tmp_path_factory.mktemp("app") / "log.txt"
    with running_app(log, environment=world.environment) as running:
        yield running
    assert not world.calls, "the app asked another machine for something"


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
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page_log() -> PageLog:
    """What this test's page did unasked; both lists must be empty at the end."""
    return PageLog()


@pytest.fixture(scope="session")
def profile(browser: Browser, app_url: str) -> Iterator[BrowserContext]:
    """What a browser keeps from visit to visit: above all what the app serves to be kept."""
    context = browser.new_context(base_url=app_url, viewport=VIEWPORT)
    yield context
    context.close()


@pytest.fixture
def page(
    request: pytest.FixtureRequest,
    profile: BrowserContext,
    app_url: str,
    page_log: PageLog,
    world: Outside,
) -> Iterator[Page]:
    """A fresh visitor's page, not yet at the app: `page.goto("/")` opens it.

    It is the one of the test before, if that passed: a new one takes three times as long to load,
    since the browser compiles the app's code for each. Its history alone goes on; of a walk the app
    stays open, too.
    """
    page = profile.pages[0] if profile.pages else profile.new_page()
    page.set_default_timeout(PATIENCE)

    def keep_request(request: Request) -> None:
        keep_address(request.url)

    def keep_socket(socket: WebSocket) -> None:
        keep_address(socket.url)

    def keep_address(url: str) -> None:
        if is_foreign(url, app_url):
            page_log.foreign_requests.append(url)

    def keep_error(message: ConsoleMessage) -> None:
        if message.type == "error":
            page_log.console_errors.append(f"{message.text} ({message.location['url']})")

    def keep_exception(web_error: WebError) -> None:
        page_log.console_errors.append(str(web_error.error))

    listeners = {"request": keep_request, "console": keep_error, "weberror": keep_exception}
    for event, listener in listeners.items():
        profile.on(event, listener)
    page.on("websocket", keep_socket)
    yield page
    is_walk = request.node.nodeid.startswith(WALKS)
    fits = not page.url.startswith(app_url) or page.evaluate(FITS_AT_REST)
    _leave(page, profile, app_url, request.node.stash.get(FAILED, False), stays=is_walk)
    page.remove_listener("websocket", keep_socket)
    for event, listener in listeners.items():
        profile.remove_listener(event, listener)
    assert fits, "the page scrolls sideways"
    assert not page_log.foreign_requests, "requests left the machine"
    assert not page_log.console_errors, "the page logged errors"
    assert not world.calls, "the app asked another machine for something"


def _leave(
    page: Page, profile: BrowserContext, app_url: str, has_failed: bool, *, stays: bool
) -> None:
    """The next visitor is another person: nothing this one chose, such as a theme, is kept."""
    storage = {"origin": app_url, "storageTypes": "local_storage,cookies"}
    session = profile.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", storage)
    session.detach()
    for opened in profile.pages if has_failed else profile.pages[1:]:
        opened.close()
    if not has_failed:
        page.unroute_all()
        if not stays:
            page.goto("about:blank")
        page.emulate_media(
            color_scheme="light", forced_colors="none", reduced_motion="no-preference"
        )
        page.set_viewport_size(VIEWPORT)
        page.mouse.move(1, 1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the end of the app's log to the report of a failed browser test, and remember that."""
    report = yield
    item.stash[FAILED] = report.failed
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
