"""What benchmarks share: the app with a browser of its own, and medians over rounds."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser import find_browser
from tests.serving import BROWSER_FLAGS, running_app


@contextmanager
def app_and_browser() -> Iterator[tuple[Browser, str]]:
    """A browser, and where the app answers."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_FLAGS)
        with running_app(Path(folder) / "log.txt") as app:
            yield browser, app.url
        browser.close()


def medians(variants: Sequence[Callable[[], object]], n_rounds: int, warm_up: int) -> list[float]:
    """Median milliseconds of each, over rounds in which each runs once: they share the machine."""
    rounds = [[_milliseconds(variant) for variant in variants] for _ in range(n_rounds)]
    return [statistics.median(times) for times in zip(*rounds[warm_up:], strict=True)]


def _milliseconds(variant: Callable[[], object]) -> float:
    started = time.perf_counter()
    variant()
    return 1000 * (time.perf_counter() - started)
