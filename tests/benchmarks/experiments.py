"""How long the experiments on a run take to show, at 32 tokens, from click or address to figures.

Asked: a head off → everything redrawn at most 150 ms; 48 heads ranked at most 0.5 s, the first ones
visible at once; a patching grid of 6 layers × 32 tokens × 3 places at most 3 s, filling in.
"""

import statistics
from collections.abc import Sequence
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from tests.benchmarks.page import sentences_of_32
from tests.benchmarks.rounds import app_and_browser
from tests.screen import PLACE

REDRAWN = ("loss-change", "answers", "pattern-after")
GRIDS = ("patched-resid-pre", "patched-attn-out", "patched-ffn-out")
# What each figure shows now, and the milliseconds from the next press until all of them differ.
PREPARE = """keys => {
    const charts = keys.map(key => `.st-key-figure-${key} .js-plotly-plot`);
    const now = () => charts.map(chart => JSON.stringify(
        document.querySelector(chart)?.calcdata?.map(points => {
            const {x, y, z} = points[0].trace;
            return [x, y, z].map(values => values && Array.from(values, row =>
                row?.length && typeof row !== 'string' ? Array.from(row) : row));
        })));
    window.before = now();
    window.taken = new Promise(resolve => addEventListener('pointerdown', async () => {
        const started = performance.now();
        while (now().some((shown, at) => shown === window.before[at]))
            await new Promise(done => requestAnimationFrame(done));
        resolve(performance.now() - started);
    }, {capture: true, once: true}));
}"""
# Watches maps fill in from the beginning of the page: when each had its first cell and its last.
WATCH = """keys => {
    window.first = {};
    window.last = {};
    const look = () => {
        for (const key of keys) {
            const chart = document.querySelector(`.st-key-figure-${key} .js-plotly-plot`);
            const cells = [...(chart?.calcdata?.[0]?.[0]?.trace?.z ?? [])].flatMap(row => [...row]);
            const known = cells.filter(cell => cell !== null && !Number.isNaN(cell)).length;
            if (known) window.first[key] ??= performance.now();
            if (known && known === cells.length) window.last[key] ??= performance.now();
        }
        requestAnimationFrame(look);
    };
    look();
}"""
FILLED = "keys => keys.every(key => window.last?.[key])"


def measure() -> dict[str, float]:
    """Switch heads off, then open the two pages that fill in, each for several sentences."""
    with app_and_browser() as (browser, url):
        sentences = sentences_of_32()[:6]
        off = _heads_off(browser, url, sentences[0])
        ranked, patched = (
            [
                _filled(browser, url, keys, page=page, sentence=sentence)
                for sentence in sentences[1:]
            ]
            for page, keys in (("Ablation", ["head-costs"]), ("Patching", GRIDS))
        )
    return {
        "a head off → all figures redrawn, p50, ms (asked ≤ 150)": statistics.median(off[2:]),
        "a head off → all figures redrawn, worst, ms": max(off[2:]),
        "48 heads ranked, first cell → last, p50, ms (asked ≤ 500)": statistics.median(ranked[1:]),
        "three grids, first cell → last, p50, ms (asked ≤ 3000)": statistics.median(patched[1:]),
    }


def _heads_off(browser: Browser, url: str, sentence: str) -> list[float]:
    """Heads below the one looked at, each switched off in its turn beside those before it."""
    page = _open(browser, url, page="Ablation", sentence=sentence, layer="L4")
    page.wait_for_function(FILLED, arg=["head-costs"], timeout=60_000)
    times = []
    for number in range(16):
        page.wait_for_timeout(1500)
        x, y = page.evaluate(PLACE, ["head-costs", 0, number // 8, number % 8])
        page.wait_for_timeout(300)
        page.evaluate(PREPARE, list(REDRAWN))
        page.mouse.click(x, y)
        times.append(page.evaluate("() => window.taken"))
    page.close()
    return times


def _filled(browser: Browser, url: str, keys: Sequence[str], **query: str) -> float:
    """From the first cell of any map until all are full."""
    page = _open(browser, url, **query)
    page.wait_for_function(FILLED, arg=list(keys), timeout=60_000)
    first, last = page.evaluate("() => [window.first, window.last].map(Object.values)")
    page.close()
    return max(last) - min(first)


def _open(browser: Browser, url: str, **query: str) -> Page:
    """A page that watches its maps from the start, in a window that shows all of them."""
    page = browser.new_page(viewport={"width": 1440, "height": 2400})
    page.add_init_script(
        f"addEventListener('DOMContentLoaded', () => ({WATCH})({[*GRIDS, 'head-costs']}))"
    )
    page.goto(f"{url}/?{urlencode(query)}")
    return page
