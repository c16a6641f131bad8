"""How fast tokens reach the page, how soon sliders and Stop act, and whether anything moves.

Asked: 60 tokens a second with everything shown; a token drawn with a slider's new value within
150 ms of its movement; stopped within 200 ms of the click; a layout shift score of at most 0.05.
"""

import statistics
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from tests.benchmarks.rounds import app_and_browser

RUNS = 6
SENTENCE = "The animal didn't cross the street because it was too tired."
TOKENS = 80
LONG = 230
# Notes what moves unasked from the first moment on, and when there were how many new tokens.
WATCH = """() => {
    globalThis.shifts = [];
    new PerformanceObserver(list => {
        for (const {value, hadRecentInput} of list.getEntries())
            if (!hadRecentInput) shifts.push(value);
    }).observe({type: 'layout-shift', buffered: true});
    const button = name => [...document.querySelectorAll('button')]
        .find(one => one.textContent.trim().endsWith(name) && !one.disabled);
    const pause = () => new Promise(resolve => setTimeout(resolve, 8));
    globalThis.count = (kind = 'new') => document.querySelectorAll(`.hl-${kind}`).length;
    globalThis.until = async test => {
        const last = performance.now() + 30_000;
        while (!test()) {
            if (performance.now() > last) throw new Error(`nothing came of ${test} in 30 s`);
            await pause();
        }
        return performance.now();
    };
    globalThis.press = async name => { await until(() => button(name)); button(name).click(); };
    globalThis.start = async () => {
        const before = count();
        await press(before ? 'Start again' : 'Start');
        if (before) await until(() => count() < before);
    };
}"""
# Tokens a second from the first new one to the last.
WRITE = """async n => {
    await start();
    const [first, from] = [await until(() => count()), count()];
    const last = await until(() => count() >= n);
    return (n - from) / (last - first) * 1000;
}"""
# Milliseconds from a movement of a slider to the token that is marked for it, some times.
STEER = """async () => {
    await start();
    await until(() => count() >= 12);
    const found = [];
    for (let i = 0; i < 2; i++) {  // more, and the text is at its end
        const input = document.querySelector('[data-setting=temperature]');
        const marks = count('marked-token');
        input.value = i % 2 ? 0.8 : 0.78;
        const moved = performance.now();
        input.dispatchEvent(new Event('input', {bubbles: true}));
        found.push(await until(() => count('marked-token') > marks) - moved);
        await until(() => performance.now() - moved > 450);
    }
    await press('Stop');
    return found;
}"""
# Milliseconds from the click on Stop until the last token that was added.
STOP = """async () => {
    await start();
    await until(() => count() >= 12);
    await press('Stop');
    const clicked = performance.now();
    let [n, last] = [count(), 0];
    while (performance.now() - clicked < 1500) {
        const now = await until(() => true);
        if (count() !== n) [n, last] = [count(), now - clicked];
        await new Promise(resolve => setTimeout(resolve, 8));
    }
    return last;
}"""


def measure() -> dict[str, float]:
    """Medians, the slowest stop, and the largest layout shift score of a visit."""
    with app_and_browser() as (browser, url):
        _opened(browser, url, TOKENS).close()  # warms up
        page = _opened(browser, url, TOKENS)
        at_first = _shift(page)
        rates = [_run(page, WRITE, TOKENS) for _ in range(RUNS)][1:]
        moved = _shift(page) - at_first
        page.close()
        page = _opened(browser, url, LONG)
        steers = [ms for _ in range(4) for ms in _run(page, STEER)]
        # Each on a page of its own: a new text may be longer than a stopped one at once.
        stops = [_run(_opened(browser, url, LONG), STOP) for _ in range(RUNS)]
    return {
        "tokens a second on the page (asked ≥ 60)": statistics.median(rates),
        "slider moved to the token drawn with it, p50, ms (asked ≤ 150)": statistics.median(steers),
        "slider moved to the token drawn with it, worst, ms": max(steers),
        "click on Stop to the last token, p50, ms": statistics.median(stops),
        "click on Stop to the last token, worst, ms (asked ≤ 200)": max(stops),
        "layout shift score of the first load (asked ≤ 0.05)": at_first,
        "layout shift score while texts are written (asked ≤ 0.05)": moved,
    }


def _opened(browser: Browser, url: str, n_tokens: int) -> Page:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(120_000)
    page.add_init_script(f"({WATCH})()")
    query = {"page": "Next token", "sentence": SENTENCE, "new_tokens": str(n_tokens)}
    page.goto(f"{url}/?{urlencode(query)}")
    page.locator(".hl-live[data-drawn*=' ']").wait_for()
    page.wait_for_timeout(3000)
    return page


def _shift(page: Page) -> float:
    return page.evaluate("shifts.reduce((sum, value) => sum + value, 0)")


def _run(page: Page, script: str, *given: object) -> Any:  # noqa: ANN401  each gives its own
    page.wait_for_timeout(700)
    return page.evaluate(script, *given)
