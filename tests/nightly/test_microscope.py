"""Protects the microscope in a real browser: what it shows of a head is what the model computed."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import axe_playwright_python
import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from model.analysis.heads import strongest_pair
from model.analysis.summary import summarise_patterns
from model.trace import AttentionRecord, Trace
from tests.conftest import PageLog
from tests.screen import (
    HOSTILE,
    PATIENCE,
    TOM,
    content,
    download,
    pick,
    picked,
    query,
    strip,
    visit,
    wait_until_idle,
)
from tests.viz.builders import csv_rows, latex_numbers, stories_trace
from viz import theme
from viz.figures.labels import token_labels
from viz.frame.examples import examples

AXE = next(iter(axe_playwright_python.__path__)) + "/axe.min.js"
VIEWS = ("map", "lines", "sentence", "whatif", "compare", "summary")
FIRST = examples()[0].sentence
LONG = "One day a little girl named Lily went to the park with her mom. " * 3
DRAWN = """selector => document.querySelector(selector).data[0].z.map(row => Array.from(row))"""
PLACE = """([selector, row, column]) => {
    const chart = document.querySelector(selector), {xaxis, yaxis} = chart._fullLayout;
    chart.scrollIntoView({block: 'center'});
    const {left, top} = chart.getBoundingClientRect();
    return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
}"""
WATCH_TOPS = """() => {
    window.tops = new Set();
    const look = () => {
        window.tops.add(document.querySelector('.hl-live').getBoundingClientRect().top);
        requestAnimationFrame(look);
    };
    look();
}"""
TILE = """([layer, head]) => {
    const frame = document.querySelector('.hl-frame:not(.hl-frame-hover)');
    const image = document.querySelector('.hl-overview image');
    image.scrollIntoView({block: 'center'});
    const {left, top} = image.getBoundingClientRect();
    const pitch = frame.width.baseVal.value;
    return [left + (head + 0.4) * pitch, top + (layer + 0.4) * pitch];
}"""
TILE_BOXES = """() => {
    const image = document.querySelector('.hl-overview image').getBoundingClientRect();
    return {left: image.left, top: image.top, pitch: image.width / 8};
}"""
# The share of a tile that its cells fill, by the share that they should, sideways and down.
FILLED = """async () => {
    const image = new Image();
    image.src = document.querySelector('.hl-overview image').getAttribute('href');
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height).data;
    const pitch = document.querySelector('.hl-frame:not(.hl-frame-hover)').width.baseVal.value;
    const right = pixels.filter((x, i) => i % 4 === 3 && x && i < 4 * image.width / 8).length;
    const down = Array.from({length: Math.floor(image.height / 6)}, (_, y) =>
        pixels[4 * y * image.width + 3]).filter(Boolean).length;
    return Math.min(right / image.width * 8, down / image.height * 6) / ((pitch - 3) / pitch);
}"""
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
MAP = ".hl-view-map .js-plotly-plot"


def wait_for(page: Page, head: str, view: str = "map", stage: str = "weights") -> None:
    """Wait until the microscope has drawn this."""
    state = re.compile(f"{head} {view} {stage}$")
    expect(page.locator(".hl-live")).to_have_attribute("data-drawn", state)


def shown(page: Page, selector: str = MAP) -> np.ndarray:
    """The values of a heat map."""
    return np.array(page.evaluate(DRAWN, selector), dtype=float)


def point_at(page: Page, row: int, column: int) -> tuple[float, float]:
    """Move the mouse onto a cell of the map."""
    x, y = page.evaluate(PLACE, [MAP, row, column])
    page.mouse.move(x - 1, y - 1)
    page.mouse.move(x, y)
    return x, y


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
    """Click a radio button of the microscope."""
    radio = page.locator(f"input[name=hl-{name}][value={value}]")
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


def test_type_click_pin_read(page: Page) -> None:
    """The whole way of a person: sentence, head, cell, and its numbers to four digits."""
    visit(page)
    page.get_by_label("Sentence", exact=True).fill(TOM)
    trace = stories_trace(TOM)
    expect(strip(page)).to_have_text(token_labels(trace.tokens))
    wait_until_idle(page)
    open_head(page, 4, 1)
    wait_for(page, "L4 H1")
    record = trace.attention[4]
    for row, column in [(9, 4), (11, 0), (5, 5)]:
        pin(page, row, column)
        expect(page.locator(".hl-cell-title small")).to_contain_text("pinned")
        steps = {
            name: x[row, column] for name, x in steps_of(record, 1).items() if name != "output"
        }
        assert number(page, "product") == pytest.approx(steps["product"], abs=2e-4)
        assert number(page, "scaled") == pytest.approx(steps["scaled"], abs=1e-4)
        assert number(page, "masked") == pytest.approx(steps["scaled"], abs=1e-4)
        assert number(page, "weights") == pytest.approx(steps["weights"], abs=1e-4)
        assert number(page, "output") == pytest.approx(record.z[1, row, 0], abs=1e-4)
        title = page.locator(".hl-cell-title bdi")
        expect(title).to_have_text([token_labels(trace.tokens)[i] for i in (row, column)])
    page.wait_for_url(re.compile("cell=5-5"))
    wait_until_idle(page)
    assert (picked(page, "Layer"), picked(page, "Head")) == ("L4", "H1")
    assert query(page) | {"sentence": TOM, "layer": "4", "head": "1"} == query(page)
    assert terms(page)["weights"][-1] == pytest.approx(record.pattern[1, 5, 5], abs=1e-4)


def test_every_stage_is_the_model_s(page: Page) -> None:
    visit(page, sentence=TOM, layer="1", head="6")
    record = stories_trace(TOM).attention[1]
    for stage, values in steps_of(record, 6).items():
        if stage == "biased":
            expect(page.locator("input[name=hl-stage][value=biased]")).to_be_disabled()
            continue
        choose(page, "stage", stage)
        wait_for(page, "L1 H6", stage=stage)
        assert shown(page) == pytest.approx(values, abs=1e-5, rel=1e-5, nan_ok=True), stage
        expect(page.locator(f"math[data-stage={stage}]")).to_be_visible()
        lit = page.locator(".hl-formula .hl-now").evaluate_all("x => x.map(y => y.dataset.of)")
        assert set(lit) == {stage}


def test_hover_shows_the_masked_cell_as_masked(page: Page) -> None:
    visit(page, sentence=TOM)
    point_at(page, 2, 9)
    expect(page.locator("[data-number=masked]")).to_have_text("−∞")
    expect(page.locator("[data-term=masked]")).to_have_text("mask: hidden")
    assert number(page, "weights") == 0
    point_at(page, 9, 2)
    expect(page.locator("[data-term=masked]")).to_have_text("mask: open")


def test_pinned_cell_survives_stage_and_head_and_comes_back_from_the_url(page: Page) -> None:
    visit(page, sentence=TOM)
    pin(page, 8, 3)
    choose(page, "stage", "scaled")
    open_head(page, 0, 2)
    wait_for(page, "L0 H2", stage="scaled")
    point_at(page, 4, 4)
    expect(page.locator(".hl-cell-title small")).to_have_text("query 8, key 3, pinned")
    expected = steps_of(stories_trace(TOM).attention[0], 2)["product"][8, 3]
    assert number(page, "product") == pytest.approx(expected, abs=2e-4)
    page.wait_for_url(re.compile("cell=8-3"))
    page.wait_for_url(re.compile("stage=scaled"))
    wait_until_idle(page)
    other = page.context.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(page.url)
    wait_for(other, "L0 H2", stage="scaled")
    expect(other.locator(".hl-cell-title small")).to_have_text("query 8, key 3, pinned")
    other.close()
    page.keyboard.press("Escape")


def test_keyboard_alone_reaches_every_cell(page: Page) -> None:
    visit(page, sentence="The dog ran.", layer="0", head="0")
    tokens = token_labels(stories_trace("The dog ran.").tokens)
    page.locator(".hl-overview").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    wait_for(page, "L0 H2")
    page.locator(".hl-view-map .hl-map").focus()
    seen = set()
    page.keyboard.press("Home")
    for _ in tokens:
        page.keyboard.press("ArrowUp")
    for row in range(len(tokens)):
        page.keyboard.press("Home")
        for column in range(len(tokens)):
            expect(page.locator(".hl-cell-title small")).to_have_text(f"query {row}, key {column}")
            seen.add((row, column))
            page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    assert len(seen) == len(tokens) ** 2
    expect(page.locator("[aria-live=polite]")).to_contain_text(f"{tokens[-1]} attends to")
    page.keyboard.press("Enter")
    expect(page.locator(".hl-cell-title small")).to_contain_text("pinned")
    page.keyboard.press("Escape")
    expect(page.locator(".hl-cell-title small")).not_to_contain_text("pinned")


def test_overview_names_heads_and_opens_means(page: Page) -> None:
    visit(page, sentence=TOM)
    trace = stories_trace(TOM)
    page.mouse.move(*page.evaluate(TILE, [3, 5]))
    pattern = trace.attention[3].pattern[5]
    row, column = strongest_pair(pattern)
    labels = token_labels(trace.tokens)
    assert column not in (0, row)
    assert habits(trace)[3][5] is None
    expect(page.locator(".hl-heads .hl-caption")).to_have_text(
        f"L3 H5 · strongest: {labels[row]} → {labels[column]} {pattern[row, column]:.3f}"
        " (first token and self left out)"
    )
    page.locator(".hl-heads .hl-bar").nth(2).click()
    wait_for(page, "L2 H4", view="summary")
    expected = trace.attention[2].pattern.mean(axis=0)
    values = shown(page, ".hl-view-summary .js-plotly-plot")
    assert values[trace.attention[2].mask] == pytest.approx(
        expected[trace.attention[2].mask], abs=1e-6
    )


@pytest.mark.parametrize("over", ["layer", "head", "all"])
def test_summaries_are_python_s(page: Page, over: str) -> None:
    visit(page, sentence=TOM, view="summary", how="maximum", over=over, layer="3", head="2")
    wait_for(page, "L3 H2", view="summary")
    records = stories_trace(TOM).attention
    patterns = np.stack([record.pattern for record in records])
    expected = summarise_patterns(
        patterns, "maximum", over, {"layer": 3, "head": 2, "all": 0}[over]
    )
    values = shown(page, ".hl-view-summary .js-plotly-plot")
    assert values[records[0].mask] == pytest.approx(expected[records[0].mask], abs=1e-6)


def test_what_if_shows_both_sides(page: Page) -> None:
    visit(page, sentence=TOM, view="whatif", layer="2", head="1")
    wait_for(page, "L2 H1", view="whatif")
    record = stories_trace(TOM).attention[2]
    scores = record.scores[1].astype(np.float64)
    changes = {
        "scale": softmax_rows(np.where(record.mask, scores * np.sqrt(32), -np.inf)),
        "mask": softmax_rows(scores),
        "temperature": softmax_rows(np.where(record.mask, scores / 2, -np.inf)),
    }
    for change, expected in changes.items():
        choose(page, "change", change)
        says = page.locator(".hl-view-whatif [role=status]")
        entropy = np.mean([-(row[row > 0] * np.log2(row[row > 0])).sum() for row in expected])
        expect(says).to_contain_text(f"{entropy:.3f} modified")
        open_cells = np.ones_like(record.mask) if change == "mask" else record.mask
        changed = shown(page, ".hl-view-whatif section:nth-child(2) .js-plotly-plot")
        assert changed[open_cells] == pytest.approx(expected[open_cells], abs=1e-5)
    leaked = changes["mask"][~record.mask].sum() / len(scores)
    choose(page, "change", "mask")
    expect(page.locator(".hl-view-whatif [role=status]")).to_contain_text(f"{100 * leaked:.1f} %")


def softmax_rows(scores: np.ndarray) -> np.ndarray:
    """Softmax of each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_compare_two_heads_and_two_sentences(page: Page) -> None:
    visit(page, sentence=TOM, view="compare", layer="1", head="3", other="5-2")
    wait_for(page, "L1 H3", view="compare")
    trace, mask = stories_trace(TOM), stories_trace(TOM).attention[0].mask
    delta = ".hl-view-compare section:nth-child(3) .js-plotly-plot"
    expected = trace.attention[1].pattern[3] - trace.attention[5].pattern[2]
    assert shown(page, delta)[mask] == pytest.approx(expected[mask], abs=1e-6)
    choose(page, "against", "sentence")
    box = page.get_by_label("Second sentence")
    second = "Sam had a blue ball."
    box.fill(second)
    box.press("Enter")
    page.wait_for_url(re.compile(f"second={quote(second, safe='.').replace('%20', '.')}"))
    other = stories_trace(second).attention[1].pattern[3]
    page.wait_for_function(
        f"n => document.querySelector({json.dumps(delta)})?.data?.[0].z.length === n",
        arg=len(other),
    )
    n = len(other)
    expected = trace.attention[1].pattern[3][:n, :n] - other
    assert shown(page, delta)[mask[:n, :n]] == pytest.approx(expected[mask[:n, :n]], abs=1e-6)
    expect(page.locator(".hl-view-compare [role=status]")).to_contain_text(f"the first {n}")


def test_lines_hold_the_mass_and_one_token_s_shades_are_its_weights(page: Page) -> None:
    visit(page, sentence=TOM, view="lines", layer="4", head="1", mass="0.5")
    wait_for(page, "L4 H1", view="lines")
    pattern = stories_trace(TOM).attention[4].pattern[1]
    ordered = -np.sort(-pattern, axis=1)
    kept = (np.cumsum(ordered, axis=1) - ordered < 0.5 - 1e-9).sum()
    expect(page.locator(".hl-view-lines .hl-caption")).to_contain_text(f"{kept} lines")
    segments = page.eval_on_selector_all(
        ".hl-lines path", "paths => paths.map(p => p.getAttribute('d').split('M').length - 1)"
    )
    assert sum(segments) == kept
    choose(page, "view", "sentence")
    page.get_by_label("Token", exact=True).select_option("8")
    top = np.argsort(-pattern[8])[:1]
    labels = token_labels(stories_trace(TOM).tokens)
    name = f"{labels[8]} attends to: {labels[top[0]]} {pattern[8, top[0]]:.3f}"
    expect(page.locator(".hl-sentence").first).to_have_attribute("aria-label", re.compile(name))


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


def test_lost_connection_says_what_is_missing(page: Page, page_log: PageLog) -> None:
    visit(page, sentence=TOM, layer="0", head="0")
    wait_for(page, "L0 H0")
    page.route("**/live/arrays/**", lambda route: route.abort())
    open_head(page, 1, 1)
    expect(page.locator(".hl-live [role=alert]")).to_contain_text("The app does not answer")
    expect(page.locator(".hl-title")).to_have_text("L0 H0")  # what is shown keeps its name
    record = stories_trace(TOM).attention[0]
    mask = record.mask
    assert shown(page)[mask] == pytest.approx(record.pattern[0][mask], abs=1e-5)
    open_head(page, 0, 0)
    wait_for(page, "L0 H0")
    expect(page.locator(".hl-live [role=alert]")).to_be_hidden()
    page.unroute("**/live/arrays/**")
    open_head(page, 1, 1)
    wait_for(page, "L1 H1")
    page_log.console_errors.clear()


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
    wait_until_idle(page)
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


def test_example_shows_its_pair(page: Page) -> None:
    visit(page)
    example = examples()[1]
    pick(page, "Examples", example.title)
    place = "query {}, key {}, pinned".format(*example.cell.split("-"))
    expect(page.locator(".hl-cell-title small")).to_have_text(place)
    page.get_by_label("Sentence", exact=True).fill(TOM)
    expect(strip(page)).to_have_text(token_labels(stories_trace(TOM).tokens))
    expect(page.locator(".hl-cell-title small")).not_to_contain_text("pinned")
    open_head(page, 1, 1)  # the example must not come back with what is sent later
    wait_for(page, "L1 H1")
    page.wait_for_url("**layer=1**")  # Python has heard of it
    pick(page, "Layer", "L3")
    wait_for(page, "L3 H1")
    expect(strip(page)).to_have_text(token_labels(stories_trace(TOM).tokens))


def test_exports_are_what_is_on_screen(page: Page) -> None:
    visit(page, sentence='He said "no, no" <b>.', layer="3", head="1", stage="scaled")
    trace = stories_trace('He said "no, no" <b>.')
    expected = steps_of(trace.attention[3], 1)["scaled"]
    save_as = page.get_by_role("group", name="Save what is on screen")
    file = download(page, save_as.get_by_role("button", name="CSV"))
    assert file.suggested_filename == "headlight-l3-h1-scaled.csv"
    header, *rows = csv_rows(content(file))
    labels = [f"{i} {label}" for i, label in enumerate(token_labels(trace.tokens))]
    assert header[1:] == [row[0] for row in rows] == labels
    assert np.array([row[1:] for row in rows], float) == pytest.approx(expected, abs=1e-5)
    file = download(page, save_as.get_by_role("button", name="SVG"))
    drawing = "".join(ElementTree.fromstring(content(file)).itertext())
    assert "L3 H1" in drawing
    assert "said" in drawing
    file = download(page, save_as.get_by_role("button", name="PNG"))
    assert content(file).startswith(b"\x89PNG\r\n")


def test_saved_page_works_alone(page: Page, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The HTML file opens offline from the disk, and hovering shows the same numbers."""
    visit(page, sentence=HOSTILE, layer="2", head="3")
    file = download(page, page.get_by_role("button", name="HTML"))
    path = tmp_path_factory.mktemp("saved") / "view.html"
    path.write_bytes(content(file))
    context = page.context.browser.new_context(
        offline=True, viewport={"width": 1300, "height": 900}
    )
    alone = context.new_page()
    errors: list[str] = []
    alone.on("pageerror", lambda error: errors.append(str(error)))
    alone.on(
        "request",
        lambda request: errors.append(request.url) if request.url.startswith("http") else None,
    )
    alone.goto(path.as_uri())
    wait_for(alone, "L2 H3")
    point_at(alone, 7, 3)
    expected = stories_trace(HOSTILE).attention[2].pattern[3, 7, 3]
    assert number(alone, "weights") == pytest.approx(expected, abs=1e-4)
    open_head(alone, 0, 0)
    expect(alone.locator("[role=alert]")).to_contain_text("not in the saved file")
    expect(alone.locator(".hl-title")).to_have_text("L2 H3")
    record = stories_trace(HOSTILE).attention[2]
    still = shown(alone)[record.mask]
    assert still == pytest.approx(record.pattern[3][record.mask], abs=1e-5)
    assert alone.evaluate("window.hacked") is None
    assert errors == []
    context.close()


def test_theme_is_followed_at_once(page: Page) -> None:
    visit(page)
    page.get_by_test_id("stMainMenuButton").click()
    page.get_by_test_id("stMainMenuItem-theme-Dark").click()
    dark = tuple(int(theme.DARK.text[i : i + 2], 16) for i in (1, 3, 5))
    title = page.locator(".hl-live")
    expect(title).to_have_css("color", f"rgb({dark[0]}, {dark[1]}, {dark[2]})")


@pytest.mark.parametrize("sentence", ["x", "dog dog dog dog", HOSTILE, "😀 “q” 'x'\n<b>&lt;"])
def test_tokens_are_labelled_as_themselves(page: Page, sentence: str) -> None:
    visit(page, sentence=sentence)
    labels = token_labels(stories_trace(sentence).tokens)
    last = len(labels) - 1
    for view in VIEWS:
        choose(page, "view", view)
        wait_for(page, r"L2 H4", view=view)
    choose(page, "view", "map")
    wait_for(page, "L2 H4")
    point_at(page, last, 0)
    expect(page.locator(".hl-cell-title bdi")).to_have_text([labels[last], labels[0]])
    short = [label if len(label) <= 16 else f"{label[:15]}…" for label in labels]
    ticks = page.locator(".hl-view-map .hl-tick-row")
    expect(ticks.first).to_have_text(short[0])
    step = -(-len(short) // ticks.count())
    expect(ticks).to_have_text(short[::step])  # a long sentence names every second token
    assert page.evaluate("window.hacked") is None


def test_microscope_stands_still_while_a_view_is_chosen(page: Page) -> None:
    visit(page, sentence=HOSTILE)  # tokens in two lines: the badge decides where they break
    expect(page.get_by_test_id("stPopover").filter(has_text="Verified")).to_be_visible()
    page.evaluate(WATCH_TOPS)
    for view in VIEWS:
        choose(page, "view", view)
        wait_for(page, "L2 H4", view=view)
        page.wait_for_url(f"**view={view}**" if view != "map" else "**")
        wait_until_idle(page)
    assert page.evaluate("tops.size") == 1


def test_head_chosen_above_is_shown_below(page: Page) -> None:
    visit(page, sentence=TOM)
    pick(page, "Layer", "L5")
    wait_for(page, "L5 H4")
    example = examples()[1]
    pick(page, "Examples", example.title)
    wait_for(page, f"L{example.layer} H{example.head}")
    record = stories_trace(example.sentence).attention[example.layer]
    page.wait_for_function(
        "n => document.querySelector('.hl-view-map .js-plotly-plot').data[0].z.length === n",
        arg=len(record.mask),
    )
    assert shown(page)[record.mask] == pytest.approx(
        record.pattern[example.head][record.mask], abs=1e-5
    )


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


def test_a_chip_lies_in_the_corner_of_its_own_tile(page: Page) -> None:
    visit(page, sentence=FIRST)
    tiles = page.evaluate(TILE_BOXES)
    chips = page.locator(".hl-chip rect").evaluate_all(
        "x => x.map(y => y.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])"
    )
    places = [
        divmod(i, 8)
        for i, habit in enumerate(chain.from_iterable(habits(stories_trace(FIRST))))
        if habit is not None
    ]
    for (layer, head), (left, top, right, bottom) in zip(places, chips, strict=True):
        x, y = tiles["left"] + head * tiles["pitch"], tiles["top"] + layer * tiles["pitch"]
        assert x - 1 <= left
        assert right <= x + tiles["pitch"]
        assert y - 1 <= top
        assert bottom <= y + tiles["pitch"] / 2


def test_the_formula_has_the_numbers_of_the_hovered_cell(page: Page) -> None:
    visit(page, sentence=TOM, layer="2", head="5")
    record = stories_trace(TOM).attention[2]
    scores = record.scores[5].astype(float)
    for row, column in [(9, 4), (3, 3), (2, 9)]:
        point_at(page, row, column)
        expect(page.locator(".hl-cell-title small")).to_have_text(f"query {row}, key {column}")
        found = terms(page)
        assert found["product"] == [
            pytest.approx(steps_of(record, 5)["product"][row, column], abs=2e-4)
        ]
        assert found["scaled"] == [pytest.approx(np.sqrt(32), abs=1e-4)]
        assert "biased" not in found, "this model adds none"
        total = np.log(np.exp(scores[row, : row + 1]).sum())
        weight = record.pattern[5, row, column] if column <= row else 0
        assert found["weights"] == pytest.approx([-total, weight], abs=1e-4)
        z, *share, dimension = found["output"]
        assert z == pytest.approx(record.z[5, row, 0], abs=1e-4)
        assert share == pytest.approx([weight, record.v[5, column, 0]], abs=1e-4)
        assert dimension == 0
        assert found["masked"] == ([0] if column <= row else [])
    assert page.locator(".katex").count() == 0, "the formula stands once"


def test_the_first_sentence_needs_no_scrolling(page: Page) -> None:
    """Below the bar and the heading 700 of 900 pixels are left: all heads, the map and its cell."""
    page.set_viewport_size({"width": 1400, "height": 900})
    visit(page, sentence=FIRST)
    wait_for(page, "L2 H4")
    top = page.locator(".hl-live").bounding_box()["y"]
    boxes = {
        name: page.locator(name).bounding_box()
        for name in (".hl-overview", ".hl-view-map .hl-map", ".hl-cell-panel", ".hl-formula")
    }
    for name, box in boxes.items():
        assert box["y"] + box["height"] - top <= 690, name
    right = boxes[".hl-overview"]["x"] + boxes[".hl-overview"]["width"]
    assert right <= boxes[".hl-view-map .hl-map"]["x"], "side by side"
    assert boxes[".hl-overview"]["y"] - top < 40


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
        wait_until_idle(page)
    page.wait_for_timeout(600)
    assert page.evaluate("shifts.reduce((sum, entry) => sum + entry.value, 0)") <= 0.05


def test_few_tokens_fill_their_tiles(page: Page) -> None:
    visit(page, sentence="Hello")
    assert page.evaluate(FILLED) == pytest.approx(1, abs=0.1)


def test_hovering_the_grid_moves_nothing(page: Page) -> None:
    """Of a long sentence the numbers of the cell stand below the overview and what it says."""
    page.set_viewport_size({"width": 1400, "height": 900})
    visit(page, sentence=LONG)
    assert len(stories_trace(LONG).tokens) > 36
    panel = page.locator(".hl-cell-panel")
    expect(page.locator(".hl-heads").locator(panel)).to_be_visible()
    page.evaluate(TILE, [0, 0])
    tops = {panel.bounding_box()["y"]}
    said = set()
    for layer, head in np.ndindex(6, 8):
        page.mouse.move(*page.evaluate(TILE, [layer, head]))
        said.add(page.locator(".hl-heads .hl-caption").text_content())
        tops.add(panel.bounding_box()["y"])
    assert len(said) == 48
    assert len(tops) == 1


def test_a_click_on_the_overview_leaves_no_box(page: Page) -> None:
    visit(page, sentence=FIRST)
    overview = page.locator(".hl-overview")
    open_head(page, 1, 1)
    wait_for(page, "L1 H1")
    expect(overview).to_be_focused()
    expect(overview).to_have_css("outline-style", "none")
    page.keyboard.press("ArrowRight")
    wait_for(page, "L1 H2")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(overview).to_be_focused()
    expect(overview).not_to_have_css("outline-style", "none")  # by keyboard it is needed


def test_what_cannot_be_clicked_does_not_look_so(page: Page) -> None:
    visit(page, sentence=FIRST)
    clear = "rgba(0, 0, 0, 0)"
    for part in (".hl-cell-title bdi", ".hl-cell-panel .hl-numbers div"):
        for node in page.locator(part).all():
            expect(node).to_have_css("background-color", clear)
            expect(node).to_have_css("border-left-width", "0px")
            expect(node).to_have_css("border-radius", "0px")


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


@pytest.mark.parametrize("width", [800, 390])
def test_narrow_window_scrolls_no_way_but_down(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    visit(page, sentence=TOM)
    for view in VIEWS:
        choose(page, "view", view)
        wait_for(page, "L2 H4", view=view)
        wide = page.locator(".hl-live").evaluate("x => x.scrollWidth - x.clientWidth")
        assert wide <= 0, view
