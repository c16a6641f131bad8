"""Attention in the browser: what a test waits for, points at, and reads."""

import re

import numpy as np
from playwright.sync_api import Page, expect

from model.trace import AttentionRecord
from tests.viz.builders import latex_numbers

VIEWS = ("map", "lines", "sentence", "whatif", "compare", "summary")
MAP = ".hl-view-map .js-plotly-plot"
DRAWN = """selector => document.querySelector(selector).data[0].z.map(row => Array.from(row))"""
# Where a cell is, once the map is drawn and lies still from one frame to the next.
PLACE = """async ([selector, row, column]) => {
    for (let before = '', place = []; ; before = String(place)) {
        await new Promise(requestAnimationFrame);
        const chart = document.querySelector(selector), {xaxis, yaxis} = chart._fullLayout;
        chart.scrollIntoView({block: 'center'});
        const {left, top} = chart.getBoundingClientRect();
        place = [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
        if (String(place) === before && !chart.closest('[data-busy]')) return place;
    }
}"""
TILE = """([layer, head]) => {
    const maps = document.querySelector('.hl-overview'), image = maps.querySelector('image');
    image.scrollIntoView({block: 'center'});
    const {left, top, width, height} = image.getBoundingClientRect();
    const [layers, heads] = maps.ariaLabel.match(/\\d+/g).map(Number); // "All 6 layers and 8 heads"
    return [left + (head + 0.4) * width / heads, top + (layer + 0.4) * height / layers];
}"""


def wait_for(page: Page, head: str, view: str = "map", stage: str = "weights") -> None:
    """Wait until Attention has drawn this."""
    state = re.compile(f"{head} {view} {stage}$")
    part = page.locator(".hl-live[data-drawn]:not([data-part=why])")
    expect(part).to_have_attribute("data-drawn", state)


def shown(page: Page, selector: str = MAP) -> np.ndarray:
    """The values of a heat map."""
    return np.array(page.evaluate(DRAWN, selector), dtype=float)


def point_at(page: Page, row: int, column: int) -> tuple[float, float]:
    """Move the mouse onto a cell of the map; again where that has moved meanwhile."""
    place: list[float] = []
    while (at := page.evaluate(PLACE, [MAP, row, column])) != place:
        place = at
        page.mouse.move(place[0] - 1, place[1] - 1)
        page.mouse.move(place[0], place[1])
    return place[0], place[1]


def pin(page: Page, row: int, column: int) -> None:
    """Click a cell of the map."""
    page.mouse.click(*point_at(page, row, column))


def open_head(page: Page, layer: int, head: int) -> None:
    """Click a tile of the overview."""
    page.mouse.click(*page.evaluate(TILE, [layer, head]))


def number(page: Page, name: str) -> float:
    """One number of the panel; the last in its text."""
    text = page.locator(f"[data-number={name}]").text_content()
    return latex_numbers(text.replace("−", "-"))[-1 if name == "output" else 0]


def terms(page: Page) -> dict[str, list[float]]:
    """The numbers below the terms of the formula, by the step they belong to."""
    found = page.locator(".hl-formula [data-value]").evaluate_all(
        "nodes => nodes.map(node => [node.dataset.value, node.textContent])"
    )
    numbers: dict[str, list[float]] = {}
    for step, text in found:
        plain = re.sub(r"([-+]) ", r"\1", text.replace("−", "-"))
        numbers.setdefault(step, []).extend(latex_numbers(plain))
    return numbers


def choose(page: Page, name: str, value: str) -> None:
    """Click a radio button of Attention."""
    radio = page.locator(f"input[name^=hl-{name}][value={value}]")
    radio.evaluate("node => node.scrollIntoView({block: 'center'})")  # not below the sticky bar
    radio.click(force=True)


def steps_of(record: AttentionRecord, head: int) -> dict[str, np.ndarray]:
    """Every step of one head in float64."""
    q, k = (x[head].astype(np.float64) for x in (record.q, record.k))
    product = q @ k.T
    scaled = product / np.sqrt(q.shape[1])
    return {
        "product": product,
        "scaled": scaled,
        "biased": scaled,
        "masked": np.where(record.mask, scaled, np.nan),
        "weights": np.where(record.mask, record.pattern[head], np.nan),
        "output": record.z[head],
    }
