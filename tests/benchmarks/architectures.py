"""How soon an answer follows the hand where the model is no decoder: a stroke, an English sentence.

Asked: a stroke of the pen → class bars and map at most 100 ms; a new English sentence of twelve
words, beam search of width 5, → the last German word at most 400 ms.
"""

import statistics

from playwright.sync_api import Page

from tests.benchmarks.rounds import app_and_browser

STROKES = 35  # each at a place of its own: one drawn twice changes nothing
SKETCH = ".st-key-sketch .hl-live"
TRANSLATION = ".st-key-home .hl-live"
SENTENCES = (
    "Three young men in red shirts play football on a green field.",
    "A little girl with a blue hat sits on a big brown horse.",
    "Two black dogs run through the snow behind a man in red.",
    "An old woman buys some fruit from a man at the street market.",
    "A group of people stand in front of a large white old building.",
    "The boy in the yellow jacket jumps over a small wall of stone.",
)
# A short stroke, then the milliseconds until the bars and the map over the picture are others.
STROKE = f"""async (number) => {{
    const root = document.querySelector('{SKETCH}');
    const pad = root.querySelector('canvas'), box = pad.getBoundingClientRect();
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    const drawn = () => [
        root.querySelector('.hl-sketch-bars').innerText,
        [...root.querySelectorAll('.hl-sketch-patch')].map(x => x.outerHTML).join(),
    ];
    const event = (type, x, y) => new PointerEvent(type, {{bubbles: true, isPrimary: true,
        pointerType: 'mouse', clientX: box.left + x * box.width,
        clientY: box.top + y * box.height}});
    const x = 0.2 + 0.6 * (number % 7) / 6, y = 0.2 + 0.6 * (number % 5) / 4, before = drawn();
    pad.dispatchEvent(event('pointerdown', x, y));
    const started = performance.now();
    pad.dispatchEvent(event('pointermove', x + 0.1, y + 0.05));
    while (drawn().some((now, i) => now === before[i])) await frame();
    const taken = performance.now() - started;
    dispatchEvent(event('pointerup', x + 0.1, y + 0.05));
    return taken;
}}"""
# The milliseconds until all of another translation is shown, counted from the word.
TRANSLATED = f"""async (before) => {{
    const started = performance.now();
    const key = () => document.querySelector('{TRANSLATION}').dataset.drawn.split(' ')[0];
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    while (key() === before) await frame();
    return performance.now() - started;
}}"""


def measure() -> dict[str, float]:
    """Draw strokes, then type sentences, in one browser."""
    with app_and_browser() as (browser, url):
        page = browser.new_page(base_url=url, viewport={"width": 1440, "height": 900})
        strokes, sentences = _strokes(page), _sentences(page)
    return {
        "a stroke → class bars and map, p50, ms (asked ≤ 100)": statistics.median(strokes),
        "a stroke → class bars and map, p95, ms": sorted(strokes)[int(0.95 * len(strokes))],
        "new English sentence, beam 5, p50, ms (asked ≤ 400)": statistics.median(sentences),
    }


def _strokes(page: Page) -> list[float]:
    page.goto("/?page=Vision")
    page.wait_for_selector(f"{SKETCH}[data-drawn*=' ']")
    page.wait_for_timeout(3_000)
    times = []
    for number in range(STROKES):
        times.append(page.evaluate(STROKE, number))
        page.wait_for_timeout(50)
    return times


def _sentences(page: Page) -> list[float]:
    page.goto("/?page=Translation&decode=beam&beams=5")
    page.wait_for_selector(f"{TRANSLATION}[data-drawn*=' ']")
    page.wait_for_timeout(3_000)
    box, times = page.get_by_role("textbox", name="English"), []
    for sentence in SENTENCES:
        drawn = page.locator(TRANSLATION).get_attribute("data-drawn") or ""
        before = drawn.partition(" ")[0]
        box.fill(sentence)
        box.press("Control+Enter")
        times.append(page.evaluate(TRANSLATED, before))
        page.wait_for_timeout(1_500)
    return times
