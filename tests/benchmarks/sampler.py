"""How long a movement of a slider takes until everything is redrawn, at a large vocabulary.

Asked: at most 16 ms a frame at 50,257 tokens. Timed is all that runs on an `input` event, and the
layout after it: the filters over the whole vocabulary, the bars, the curve, the table.
"""

import math
import statistics

import numpy as np

from model.decoding.filters import DEFAULT_ORDER
from tests.benchmarks.rounds import app_and_browser, rounds_of
from tests.viz.kit.gallery import Gallery, served
from viz.kit.parts.writing import WrittenText, writing_part
from viz.kit.sampling import distribution_of

VOCABULARY = 50_257
MOVES = 150
DRAG = """async (moves) => {
    const { root, distribution } = instrument;
    while (!distribution.data) await new Promise(requestAnimationFrame);
    const input = root.querySelector('[data-setting=temperature]');
    const spent = [];
    for (let i = 0; i < moves; i++) {
        input.value = 0.3 + (2 * i) / moves;
        const started = performance.now();
        input.dispatchEvent(new Event('input', {bubbles: true}));
        root.getBoundingClientRect();
        spent.push(performance.now() - started);
        await new Promise(requestAnimationFrame);
    }
    return spent.slice(10);
}"""


def measure() -> dict[str, float]:
    """Median and 95th percentile over a drag of the temperature."""
    logits = (3 * np.random.default_rng(0).normal(size=VOCABULARY)).astype(np.float32)
    sampling = {"temperature": 1, "top_k": None, "top_p": 0.95, "min_p": 0.01}
    settings = sampling | {
        "order": list(DEFAULT_ORDER),
        "at": None,
        "averaged": False,
        "rests": 0,
    }
    tokens = [f" token {i}" for i in range(VOCABULARY)]
    text = WrittenText(["Once", " upon"], [], [math.nan, 0.5], {}, "L0 H0", False, "")
    shown = distribution_of("x", 2, logits, tokens)
    part = writing_part("x", text, [shown], settings)
    with app_and_browser() as (browser, _), served() as url:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        gallery = Gallery(page, f"{url}/")
        gallery.open()
        gallery.show(part, width=1300)
        spent = sorted(page.evaluate(DRAG, 10 + len(rounds_of(MOVES - 10))))
    return {
        "drag at 50,257 tokens, p50, ms (asked ≤ 16)": statistics.median(spent),
        "drag at 50,257 tokens, p95, ms": spent[int(0.95 * len(spent))],
    }
