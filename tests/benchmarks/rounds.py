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

is_tried = False  # whether a benchmark is only tried, not measured


def rounds_of(n: int) -> range:
    """As many rounds as a figure needs; two, of which one warms up, where it is only tried."""
    return range(min(n, 2) if is_tried else n)


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
    rounds = [[_milliseconds(variant) for variant in variants] for _ in rounds_of(n_rounds)]
    counted = rounds[min(warm_up, len(rounds) - 1) :]
    return [statistics.median(times) for times in zip(*counted, strict=True)]


def _milliseconds(variant: Callable[[], object]) -> float:
    started = time.perf_counter()
    variant()
    return 1000 * (time.perf_counter() - started)
