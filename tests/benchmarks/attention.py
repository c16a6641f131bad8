"""How fast Attention answers, beside what is asked, and beside BertViz on the same arrays.

Asked, at 64 tokens on `stories`: hover to operands 16 ms, another head or stage 100 ms.
Overview of 12 × 12 heads: 0.4 s and 1 MB at 128 tokens, 1.5 s at 512.
"""

import json
import statistics
import time
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from model.trace import Stream
from tests.benchmarks.bertviz_peer import draw_model_view
from tests.benchmarks.rounds import app_and_browser, rounds_of
from tests.screen import settle
from tests.viz.builders import random_patterns
from tests.viz.harness import as_sent
from tests.viz.kit.gallery import open_page, served
from viz.kit.part import Part
from viz.kit.parts.attention import patterns_part

HOVERS = 200
PICKS = 24
WORD = " dog"
DRAWN = ".hl-live[data-drawn*=' ']"
# Milliseconds from a pointer event to the operands in place and laid out, all over the map.
HOVER = """async (times) => {
    const map = document.querySelector('.hl-view-map .hl-map');
    const panel = document.querySelector('.hl-operands');
    const {xaxis, yaxis} = map.querySelector('.js-plotly-plot')._fullLayout;
    const box = map.querySelector('.js-plotly-plot').getBoundingClientRect();
    const spent = [];
    for (let i = 0; i < times; i++) {
        const share = (i * 0.618) % 1, other = (i * 0.414) % 1;
        const at = {clientX: box.left + xaxis._offset + share * xaxis._length,
                    clientY: box.top + yaxis._offset + other * yaxis._length, bubbles: true};
        const started = performance.now();
        map.firstChild.dispatchEvent(new PointerEvent('pointermove', at));
        panel.getBoundingClientRect();
        spent.push(performance.now() - started);
        await new Promise(requestAnimationFrame);
    }
    return spent;
}"""
# Milliseconds from an action to the frame after Attention says it has drawn.
UNTIL_DRAWN = """async ([action, places]) => {
    const root = document.querySelector('.hl-live');
    const acts = {
        head: ([layer, head]) => {
            const picture = document.querySelector('.hl-overview');
            const chosen = picture.querySelector('.hl-frame:not(.hl-frame-hover)');
            const frame = chosen.getBoundingClientRect();
            const [, ...names] = root.dataset.drawn.match(/L(\\d+) H(\\d+)/);
            const [chosenLayer, chosenHead] = names.map(Number);
            picture.dispatchEvent(new MouseEvent('click', {bubbles: true,
                clientX: frame.left + frame.width * (head - chosenHead + 0.5),
                clientY: frame.top + frame.height * (layer - chosenLayer + 0.5)}));
        },
        stage: (name) => document.querySelector(`input[name^=hl-stage][value=${name}]`).click(),
    };
    const spent = [];
    for (const place of places) {
        const before = root.dataset.drawn;
        const started = performance.now();
        acts[action](place);
        while (root.dataset.drawn === before) await new Promise(resolve => setTimeout(resolve));
        await new Promise(requestAnimationFrame);
        spent.push(performance.now() - started);
        await new Promise(resolve => setTimeout(resolve, 450));
    }
    return spent;
}"""
# Milliseconds from what Python says to the picture of all heads, decoded.
OVERVIEW = """async (data) => {
    const { PartHost } = await import(new URL('/kit/hosts/streamlit.js', location.href));
    globalThis.host?.destroy();
    const root = document.createElement('main');
    root.className = 'hl-live';
    document.body.replaceChildren(root);
    const started = performance.now();
    globalThis.host = new PartHost(root, {});
    host.receive(data);
    while (!root.querySelector('.hl-overview image')) await new Promise(requestAnimationFrame);
    const loaded = new Image();
    loaded.src = root.querySelector('.hl-overview image').getAttribute('href');
    await loaded.decode();
    await new Promise(requestAnimationFrame);
    return performance.now() - started;
}"""
SIZES = ((12, 128, "0.4", "1"), (12, 512, "1.5", "1"), (32, 256, "0.5", "2"))


def measure() -> dict[str, float]:
    """All figures of Attention; the peer's only where it is installed."""
    with app_and_browser() as (browser, url):
        figures = _at_64(browser, url) | _overviews(browser)
        return figures | _beside_bertviz(browser, figures)


def _open(browser: Browser, url: str, n_tokens: int) -> Page:
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    query = {"page": "Attention", "sentence": "The" + WORD * (n_tokens - 1)}
    page.goto(f"{url}/?{urlencode(query)}")
    page.wait_for_selector(DRAWN, timeout=120_000)
    settle(page, "Attention")
    return page


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def _at_64(browser: Browser, url: str) -> dict[str, float]:
    page = _open(browser, url, 64)
    hovers = page.evaluate(HOVER, len(rounds_of(HOVERS)))
    heads = [[(3 * i) % 6, (5 * i) % 8] for i in (1 + n for n in rounds_of(PICKS))]
    picks = page.evaluate(UNTIL_DRAWN, ["head", heads])
    stages = ["output", "product", "scaled", "masked", "weights"] * len(rounds_of(4))
    steps = page.evaluate(UNTIL_DRAWN, ["stage", stages])
    page.close()
    return {
        "64 tokens: hover to operands, p50, ms": statistics.median(hovers),
        "64 tokens: hover to operands, p95, ms (asked ≤ 16)": _percentile(hovers, 0.95),
        "64 tokens: other head, p50, ms": statistics.median(picks),
        "64 tokens: other head, p95, ms (asked ≤ 100)": _percentile(picks, 0.95),
        "64 tokens: stage step, p50, ms": statistics.median(steps),
        "64 tokens: stage step, p95, ms (asked ≤ 100)": _percentile(steps, 0.95),
    }


def _overview_part(n_heads: int, n_tokens: int) -> tuple[Part, float]:
    """So many layers of so many heads, and the seconds their overview takes Python."""
    patterns = random_patterns(n_heads, n_heads, n_tokens=n_tokens)
    stream = Stream("decoder", "text", ("dog",) * n_tokens)
    started = time.perf_counter()
    part = patterns_part(list(patterns), stream, stream)
    return part, time.perf_counter() - started


def _overviews(browser: Browser) -> dict[str, float]:
    figures = {}
    with served() as url, browser.new_context() as context, open_page(context, url) as page:
        for n_heads, n_tokens, seconds, most in SIZES:
            part, making = _overview_part(n_heads, n_tokens)
            data = as_sent(part)
            drawing = statistics.median(page.evaluate(OVERVIEW, data) for _ in rounds_of(5))
            size = len(json.dumps(data)) + part.shared["attention.tiles"].array.nbytes
            name = f"{n_heads} × {n_heads} heads, {n_tokens} tokens"
            figures[f"{name}: overview, s (asked ≤ {seconds})"] = making + drawing / 1000
            figures[f"{name}: sent, MB (asked ≤ {most})"] = size / 1e6
    return figures


def _beside_bertviz(browser: Browser, ours: dict[str, float]) -> dict[str, float]:
    """BertViz' model view of the same arrays; empty where it is not installed."""
    tokens = [f"dog{i}" for i in range(128)]
    peer = draw_model_view(browser, random_patterns(12, 12, n_tokens=128), tokens)
    if peer is None:
        return {}
    own = ours["12 × 12 heads, 128 tokens: overview, s (asked ≤ 0.4)"]
    sent = ours["12 × 12 heads, 128 tokens: sent, MB (asked ≤ 1)"]
    seconds = peer.build_seconds + peer.seconds
    return {
        "BertViz model view, 12 × 12 heads, 128 tokens, s": seconds,
        "BertViz model view, 12 × 12 heads, 128 tokens, MB": peer.html_bytes / 1e6,
        "BertViz / Headlight, time": seconds / own,
        "BertViz / Headlight, size": peer.html_bytes / 1e6 / sent,
    }
