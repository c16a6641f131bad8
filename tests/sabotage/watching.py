"""Asking the page in a real browser whether it notices a fault."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

from tests.browser import find_browser
from tests.sabotage.faults import FAULTS, Fault
from tests.sabotage.planting import ROOT, SENTENCE, planted
from tests.screen import wait_until_idle
from tests.serving import BROWSER_FLAGS, RunningApp, running_app

DRAWN = (
    ".js-plotly-plot .main-svg, .hl-dist li, .hl-cells td, .hl-targets, .hl-lines path, "
    ".hl-sentence rect, .hl-meanings td, .hl-box"
)
SITE = ROOT / "tests" / "sabotage" / "site"
LOADING_MS = 60_000
PATIENCE_MS = 40_000  # a quiet machine says it within 2 s; an app with a fault has just begun
MEASURING_MS = 120_000  # and what a button begins, such as a measurement of time
# The badge above every page once it is red, and the names of the checks behind it that failed.
RED = "() => /check(s)? failed/.test(document.querySelector('[data-testid=stPopover]')?.innerText)"

VERIFIED = """() => [...document.querySelectorAll('.hl-verdict, .hl-badge')]
    .some((node) => node.textContent.startsWith('✓'))"""


@dataclass(frozen=True)
class Seen:
    """What a page said of a fault, and after how many seconds from its drawing."""

    said: list[str]
    seconds: float


@contextmanager
def watcher() -> Iterator["Watcher"]:
    """A browser, and the app without a fault for faults of the browser's own scripts."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        expect.set_options(timeout=LOADING_MS)
        browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_FLAGS)
        with running_app(Path(folder) / "log.txt") as app:
            yield Watcher(browser, app, Path(folder))
        browser.close()


@dataclass(frozen=True)
class Watcher:
    """Opens the page of a fault and waits for what it says."""

    browser: Browser
    app: RunningApp
    folder: Path

    def watch(self, fault: Fault) -> Seen:
        """Plant a fault and look; `said` is empty where nothing turns red."""
        if fault.file.endswith(".js"):
            return self._look(fault, self.app.url)
        python = os.pathsep.join([str(SITE), os.environ.get("PYTHONPATH", "")])
        environment = {"HEADLIGHT_FAULT": str(FAULTS.index(fault)), "PYTHONPATH": python}
        with running_app(self.folder / "faulty.txt", environment=environment) as app:
            return self._look(fault, app.url)

    def _look(self, fault: Fault, url: str) -> Seen:
        context = self.browser.new_context(base_url=url, viewport={"width": 1400, "height": 900})
        page = context.new_page()
        if fault.file.endswith(".js"):
            name = fault.file.removeprefix("viz/")
            page.route(f"**/{name}", lambda route: _answer(route, fault))
        query = {"page": fault.seen_on, "sentence": SENTENCE, "model": fault.model, **fault.query}
        page.goto("/?" + urlencode(query))
        try:
            return _said(page, fault.then, fault.press)
        finally:
            context.close()


def _answer(route: Route, fault: Fault) -> None:
    route.fulfill(body=planted(fault), content_type="text/javascript")


def _said(page: Page, then: str, press: str) -> Seen:
    page.locator(DRAWN).first.wait_for(timeout=LOADING_MS)
    if then:
        _type(page, then)
    if press:
        wait_until_idle(page)  # a button of a page that is still running may not be heard
        page.get_by_role("button", name=press).click()
    patience = MEASURING_MS if press else PATIENCE_MS
    start = time.monotonic()
    try:
        page.wait_for_function(RED, timeout=patience)
    except TooLate:
        return Seen([], patience / 1000)
    seconds = time.monotonic() - start
    page.get_by_test_id("stPopover").get_by_role("button").first.click()
    names = page.locator(".hl-checks .hl-failed td:first-child")
    names.first.wait_for()
    return Seen(names.all_inner_texts(), seconds)


def _type(page: Page, sentence: str) -> None:
    """Type another sentence once the first one's page says that it is right, and let it be run."""
    page.wait_for_function(VERIFIED, timeout=LOADING_MS)
    page.get_by_label("Sentence", exact=True).fill(sentence)
