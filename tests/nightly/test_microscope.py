"""Protects the microscope in a real browser: what it shows of a head is what the model computed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from model.analysis.heads import strongest_pair
from model.trace import Trace
from tests.conftest import PageLog
from tests.microscope import (
    TILE,
    VIEWS,
    choose,
    open_head,
    shown,
    wait_for,
)
from tests.screen import (
    TOM,
    settle,
    visit,
)
from tests.viz.builders import stories_trace
from viz.figures.labels import token_labels
from viz.frame.examples import examples

AXE = next(iter(axe_playwright_python.__path__)) + "/axe.min.js"
FIRST = examples()[0].sentence
WATCH_SHIFTS = """() => {
    window.shifts = [];
    const keep = list => shifts.push(...list.getEntries());
    new PerformanceObserver(keep).observe({type: 'layout-shift'});
}"""
# What can be tapped in the microscope and is lower than 32 pixels; a radio is tapped by its words.
LOW_TARGETS = """() => ['button', 'select', 'input', '.hl-word']
    .flatMap(kind => [...document.querySelectorAll(`.hl-live ${kind}`)])
    .filter(node => node.checkVisibility())
    .map(node => node.matches('.hl-word') ? node.querySelector('rect')
        : node.matches('[type=radio], [type=checkbox]') ? node.closest('label') : node)
    .filter(node => node.getBoundingClientRect().height < 32)
    .map(node => `${node.outerHTML.slice(0, 90)} ${node.getBoundingClientRect().height}`)"""


def test_hidden_first_token_and_merged_words(page: Page) -> None:
    sentence = "Dorothy whispered unbelievably."
    trace = stories_trace(sentence)
    assert any(label.startswith("…") for label in token_labels(trace.tokens))
    visit(page, sentence=sentence, view="summary", layer="0", head="0")
    wait_for(page, "L0 H0", view="summary")
    chart = ".hl-view-summary .js-plotly-plot"
    page.get_by_label("Hide attention sink (first token)").check()
    page.wait_for_function(f"document.querySelector({json.dumps(chart)}).data[0].z.at(-1)[0] !== 0")
    expect(page.locator(".hl-view-summary .hl-map")).not_to_have_attribute(
        "aria-label", re.compile(f"attends to {token_labels(trace.tokens)[0]} ")
    )
    assert np.isnan(shown(page, chart)[:, 0]).all()
    page.get_by_label("Merge subwords").check()
    page.wait_for_function(
        f"n => document.querySelector({json.dumps(chart)}).data[0].z.length === n",
        arg=len(sentence.replace(".", " .").split()),
    )
    page.get_by_label("Hide attention sink (first token)").uncheck()
    page.wait_for_function(f"document.querySelector({json.dumps(chart)}).data[0].z.at(-1)[0] > 0")
    assert np.nansum(shown(page, chart), axis=1) == pytest.approx(1, abs=1e-5)


def test_a_late_answer_does_not_replace_a_newer_one(page: Page) -> None:
    """The mean is asked for and comes after the maximum that was asked for later."""
    visit(page, sentence=TOM, view="summary", over="layer", layer="2")
    wait_for(page, "L2 H4", view="summary")
    held: list[Route] = []
    page.route("**/mean/all/**", lambda route: held.append(route))
    page.get_by_role("combobox", name="Over").select_option("all")
    page.get_by_role("combobox", name="Summary").select_option("maximum")
    says = page.locator(".hl-view-summary .hl-caption")
    expect(says).to_contain_text("Maximum over all heads of all layers")
    for route in held:
        route.continue_()
    settle(page)
    page.wait_for_timeout(500)
    expect(says).to_contain_text("Maximum over all heads of all layers")
    records = stories_trace(TOM).attention
    patterns = np.stack([record.pattern for record in records])
    values = shown(page, ".hl-view-summary .js-plotly-plot")
    expected = patterns.max(axis=(0, 1))
    assert values[records[0].mask] == pytest.approx(expected[records[0].mask], abs=1e-6)


def test_without_plotly_a_line_says_so_and_trying_again_helps(
    page: Page, page_log: PageLog
) -> None:
    page.route("**/plotly.min.js", lambda route: route.abort())
    page.goto("/?page=Attention")
    alert = page.locator(".hl-live [role=alert]")
    expect(alert).to_contain_text("plotly.js did not load")
    page.unroute("**/plotly.min.js")
    alert.get_by_role("button", name="Try again").click()
    wait_for(page, "L2 H4")
    page_log.console_errors.clear()


@pytest.fixture(params=["light", "dark"])
def themed(page: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page in a light and a dark theme."""
    page.emulate_media(color_scheme=request.param)
    yield page


def test_axe_finds_nothing_serious(themed: Page) -> None:
    visit(themed, sentence=TOM)
    for view in VIEWS:
        choose(themed, "view", view)
        wait_for(themed, "L2 H4", view=view)
        assert violations(themed.locator(".hl-live")) == [], view


def violations(part: Locator) -> list[str]:
    """What axe-core calls serious or critical in a part of the page."""
    page = part.page
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = part.evaluate("async part => (await axe.run(part)).violations")
    return [
        f"{item['id']}: {node['html'][:150]}"
        for item in found
        if item["impact"] in ("serious", "critical")
        for node in item["nodes"]
    ]


def habits(trace: Trace) -> list[list[tuple[str, float] | None]]:
    """What each head of a causal decoder does most, and its number, told row by row."""
    n_tokens = len(trace.tokens)
    rows = range(1, n_tokens)
    found = []
    for pattern in np.concatenate([record.pattern for record in trace.attention]).astype(float):
        entropies = [-sum(p * np.log(p) for p in pattern[i, : i + 1] if p > 0) for i in rows]
        twins = [[j for j in range(i) if trace.ids[j] == trace.ids[i]] for i in rows]
        copied = [pattern[i, same].sum() for i, same in zip(rows, twins, strict=True) if same]
        means = {
            "prev": np.mean([pattern[i, i - 1] for i in rows]),
            "first": np.mean([pattern[i, 0] for i in rows]),
            "self": np.mean([pattern[i, i] for i in rows]),
            "same": np.mean(copied) if copied else 0.0,
            "broad": np.mean([h / np.log(i + 1) for h, i in zip(entropies, rows, strict=True)]),
        }
        name = max(
            (name for name in means if means[name] >= (0.8 if name == "broad" else 1 / 3)),
            key=lambda name: means[name],
            default=None,
        )
        found.append(name and (name, float(means[name])))
    n_heads = len(trace.attention[0].pattern)
    return [found[i : i + n_heads] for i in range(0, len(found), n_heads)]


def test_each_head_says_what_it_does(page: Page) -> None:
    """A word on its small map, a line with the number above the large one, and the text for all."""
    visit(page, sentence=FIRST, layer="0", head="4")
    known = habits(stories_trace(FIRST))
    words = [habit[0] for layer in known for habit in layer if habit]
    assert {"prev", "broad"} <= set(words), "else little is compared"
    assert None in known[2]
    expect(page.locator(".hl-chip text")).to_have_text(words)
    name, value = known[0][4]
    assert name == "prev"
    n_queries = len(stories_trace(FIRST).tokens) - 1
    expect(page.locator(".hl-does")).to_have_text(
        f"On this sentence: attends to the previous token, {value:.2f} on average"
        f" over {n_queries} queries."
    )
    page.mouse.move(*page.evaluate(TILE, [0, 4]))
    expect(page.locator(".hl-heads .hl-caption")).to_contain_text(
        f"L0 H4 · previous token {value:.2f} · strongest: "
    )
    spoken = page.locator(".hl-overview").get_attribute("aria-label")
    assert f"previous token: {words.count('prev')}, such as L0 H4 {value:.2f}" in spoken
    open_head(page, 2, 4)
    wait_for(page, "L2 H4")
    pattern = stories_trace(FIRST).attention[2].pattern[4]
    row, column = strongest_pair(pattern)
    labels = token_labels(stories_trace(FIRST).tokens)
    expect(page.locator(".hl-does")).to_have_text(
        "On this sentence: no single role; its strongest pair is "
        f"{labels[row]} → {labels[column]}, {pattern[row, column]:.2f} "
        "(first token and self left out)."
    )


@pytest.mark.parametrize("size", [(1400, 900), (1280, 720), (390, 844)])
def test_views_come_without_moving_what_is_there(page: Page, size: tuple[int, int]) -> None:
    """The browser's own count of layout shifts, each view drawn for the first time."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    visit(page, sentence=FIRST)
    wait_for(page, "L2 H4")
    page.locator(".hl-live").evaluate("node => node.scrollIntoView()")
    page.wait_for_timeout(600)
    page.evaluate(WATCH_SHIFTS)
    for view in [*VIEWS[1:], "map"]:
        page.locator(f"input[name=hl-view][value={view}]").evaluate("input => input.click()")
        wait_for(page, "L2 H4", view=view)
        settle(page)
    page.wait_for_timeout(600)
    assert page.evaluate("shifts.reduce((sum, entry) => sum + entry.value, 0)") <= 0.05


def test_a_finger_finds_everything(page: Page) -> None:
    """On a phone what is tapped is 32 pixels high at least, and the formula scrolls by itself."""
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, sentence=FIRST)
    for view in [*VIEWS[1:], "map"]:
        choose(page, "view", view)
        wait_for(page, "L2 H4", view=view)
        low = page.evaluate(LOW_TARGETS)
        assert low == [], view
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, view
    formula = page.locator(".hl-formula")
    assert formula.evaluate("node => node.scrollWidth - node.clientWidth") > 50
    expect(formula).to_have_css("background-attachment", "local, local, scroll, scroll")
    formula.evaluate("node => node.scrollTo(1000, 0)")
    assert formula.evaluate("node => node.scrollLeft") > 50
