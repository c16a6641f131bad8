"""How soon a running stream of tokens stops after the click, and how fast tokens reach the page.

Asked: stopped within 200 ms. Timed from the click on Stop until the last token that was added.
"""

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser import find_browser
from tests.serving import BROWSER_FLAGS, running_app

STOPS = 8
TOKENS = 230
# Starts, waits for some tokens, stops, and says when the last token came after the click.
RUN = """async () => {
    const button = name => [...document.querySelectorAll('button')]
        .find(one => one.textContent.includes(name) && !one.disabled);
    const count = () => document.querySelectorAll('.hl-token-button.hl-new').length;
    const pause = () => new Promise(resolve => setTimeout(resolve, 5));
    const waited = async name => { while (!button(name)) await pause(); return button(name); };
    const before = count();
    (await waited('Start')).click();
    while (count() < 12 || count() === before) await pause();
    const [from, started] = [count(), performance.now()];
    while (performance.now() - started < 600) await pause();
    const rate = (count() - from) / (performance.now() - started) * 1000;
    const stop = await waited('Stop');
    let n = count(), last = 0;
    const clicked = performance.now();
    stop.click();
    while (performance.now() - clicked < 1500) {
        if (count() !== n) { n = count(); last = performance.now() - clicked; }
        await pause();
    }
    return [last, rate];
}"""


def measure() -> dict[str, float]:
    """The slowest and the median stop, and tokens a second on the page."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_FLAGS)
        with running_app(Path(folder) / "log.txt") as app:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(f"{app.url}/?page=Generate&sentence=Once&new_tokens={TOKENS}")
            page.get_by_role("button", name="Start").wait_for(timeout=60_000)
            runs = [_one(page) for _ in range(STOPS)][1:]  # the first one warms up
        browser.close()
    stops, rates = [stop for stop, _ in runs], [rate for _, rate in runs]
    return {
        "click on Stop to the last token, p50, ms": statistics.median(stops),
        "click on Stop to the last token, worst, ms (asked ≤ 200)": max(stops),
        "tokens a second on the page": statistics.median(rates),
    }


def _one(page: Page) -> list[float]:
    page.wait_for_timeout(500)
    return page.evaluate(RUN)
