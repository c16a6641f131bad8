"""How long a change of scheme or mask takes to show, at 64 tokens.

Asked: within 300 ms. Timed from the click to the figures that answer it: for a scheme the figure
of its first scene, for a kind of mask its matrix and the pattern under it, for an
edited cell the pattern and the next-token bars of the model under that mask.
"""

import statistics
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from tests.benchmarks.rounds import app_and_browser, rounds_of

TEXT = (
    "The old bear walked slowly up the hill and looked at the bright moon. He saw a big red ball "
    "and a little dog by the tree. The dog ran to the old house and the bear went home to his bed. "
    "Then the dog came back with a red ball and gave it to the little bear with joy."
)
ROUNDS = 6
# The figure that each tab opens with. Instruments have a class.
TABS = {
    "RoPE": ".hl-rotation svg",
    "Learned": ".st-key-figure-wave .main-svg",
    "ALiBi": ".st-key-figure-slopes .main-svg",
    "None": ".st-key-figure-order .main-svg",
    "All schemes": ".st-key-figure-order .main-svg",
}
KINDS = ("sliding window", "prefix", "global tokens + window", "none", "causal")
DRAWN = ".st-key-figure-mask .heatmaplayer image, .st-key-figure-pattern .heatmaplayer image"
FRAME = "const frame = () => new Promise(resolve => requestAnimationFrame(resolve));"
# Milliseconds until the selector finds something; it does not on the tab before.
TAB_SHOWN = f"""async ([label, selector]) => {{
    {FRAME}
    const radio = [...document.querySelectorAll('.st-key-scheme button')]
        .find(button => button.innerText.trim() === label);
    const started = performance.now();
    radio.click();
    while (!document.querySelector(selector)) await frame();
    return performance.now() - started;
}}"""
MAPS = f"""() => [...document.querySelectorAll('{DRAWN}')]
    .map(image => image.getAttribute('href') ?? image.getAttribute('xlink:href'))"""
KIND_SHOWN = f"""async label => {{
    {FRAME}
    const maps = {MAPS}, before = maps();
    const radio = [...document.querySelectorAll('.st-key-mask button')]
        .find(button => button.innerText.trim() === label);
    const started = performance.now();
    radio.click();
    const isNew = after => after.length >= 2 && after.every(image => !before.includes(image));
    while (!isNew(maps())) await frame();
    return performance.now() - started;
}}"""
EDIT_SHOWN = f"""async ([row, column]) => {{
    {FRAME}
    const root = document.querySelector('.hl-live:has(.hl-mask-editor)');
    const chart = root.querySelector('.js-plotly-plot'), {{xaxis, yaxis}} = chart._fullLayout;
    chart.scrollIntoView({{block: 'center'}});
    const box = chart.getBoundingClientRect();
    const at = {{bubbles: true, button: 0, isPrimary: true, pointerType: 'mouse',
        clientX: box.left + xaxis._offset + xaxis.c2p(column),
        clientY: box.top + yaxis._offset + yaxis.c2p(row)}};
    const target = document.elementFromPoint(at.clientX, at.clientY), started = performance.now();
    target.dispatchEvent(new PointerEvent('pointerdown', at));
    target.dispatchEvent(new PointerEvent('pointerup', at));
    while (root.matches('[data-waiting], [data-busy]')) await frame();
    return performance.now() - started;
}}"""


def measure() -> dict[str, float]:
    """Click through schemes, kinds of mask and cells of the editor, each several times."""
    with app_and_browser() as (browser, url):
        first = _schemes(_open(browser, url, page="Positional encoding", scheme="compare"))
        kinds = _kinds(_open(browser, url, page="Masks"))
        edits = _edits(_open(browser, url, page="Masks", scene="edit"))
    return {
        **_figures("other scheme, its first figure", first),
        **_figures("other kind of mask, matrix and pattern", kinds),
        **_figures("edited cell, pattern and next tokens", edits),
    }


def _figures(name: str, times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        f"{name}, p50, ms (asked ≤ 300)": statistics.median(ordered),
        f"{name}, p95, ms": ordered[int(0.95 * len(ordered))],
    }


def _open(browser: Browser, url: str, **query: str) -> Page:
    """A page at 64 tokens, in a window high enough that all of it is laid out."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{url}/?{urlencode({'sentence': TEXT} | query)}")
    page.wait_for_selector(".st-key-inspector-head button", timeout=120_000)
    page.wait_for_timeout(2000)
    return page


def _schemes(page: Page) -> list[float]:
    """Each tab in turn; the first round loads the models."""
    times = []
    for number in rounds_of(ROUNDS):
        for label, selector in TABS.items():
            taken = page.evaluate(TAB_SHOWN, [label, selector])
            page.wait_for_timeout(1200)
            if number:
                times.append(taken)
    return times


def _kinds(page: Page) -> list[float]:
    times = []
    for number in rounds_of(ROUNDS):
        for kind in KINDS:
            taken = page.evaluate(KIND_SHOWN, kind)
            page.wait_for_timeout(1000)
            if number:
                times.append(taken)
    return times


def _edits(page: Page) -> list[float]:
    """Cells no one has touched, so that nothing is remembered."""
    page.wait_for_selector(".hl-live:not([data-busy]):has(.hl-mask-editor)")
    times = []
    for number in rounds_of(4 * ROUNDS):
        times.append(page.evaluate(EDIT_SHOWN, [40 + number % 20, 3 + number]))
        page.wait_for_timeout(600)
    return times[min(2, len(times) - 1) :]
