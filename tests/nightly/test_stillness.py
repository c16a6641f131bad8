"""Protects what stays where it is: charts that change, figures' heights, phones, another theme."""

import pytest
from playwright.sync_api import Page, expect

from tests.screen import (
    TOM,
    figure,
    picked,
    query,
    settle,
    settling,
    visit,
)
from tests.viz.builders import stories_trace

LONG = " ".join(5 * ["The old bear walked up the hill and saw the moon."])
WATCH = """() => {
    globalThis.gone = [];
    globalThis.shift = 0;
    const charts = node => node.nodeType === 1
        ? [node, ...node.querySelectorAll('*')].filter(x => x.matches('.js-plotly-plot')) : [];
    new MutationObserver(records => {
        for (const {removedNodes} of records)
            for (const node of removedNodes) gone.push(...charts(node).map(x => x.className));
    }).observe(document.body, {childList: true, subtree: true});
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) shift += entry.value;
    }).observe({type: 'layout-shift'});
}"""


def test_another_kind_of_mask_takes_no_chart_off_the_page(page: Page) -> None:
    visit(page, page="Masks", sentence=LONG)
    page.wait_for_timeout(1500)
    page.evaluate(WATCH)
    for kind in ("sliding window", "prefix", "global tokens + window", "padding", "none", "causal"):
        page.evaluate("() => { shift = 0; }")
        page.get_by_role("radio", name=kind, exact=True).click()
        title = figure(page, "mask").locator(".gtitle")
        expect(title).to_have_text(f"The mask: {kind}")
        settle(page)
        page.wait_for_timeout(500)
        assert page.evaluate("gone") == [], kind
        assert page.evaluate("shift") <= 0.05, kind


def test_a_clicked_cell_of_the_lens_is_looked_at_below(page: Page) -> None:
    visit(page, page="Logit lens", sentence=TOM, layer="1", after="2")
    chart = figure(page, "lens").locator(".js-plotly-plot")
    x, y = chart.evaluate("""chart => {
        const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
        return [left + xaxis._offset + xaxis.c2p(5), top + yaxis._offset + yaxis.c2p(4)];
    }""")
    page.mouse.move(x - 3, y - 3)
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    title = figure(page, "most-likely").locator(".gtitle")
    label = stories_trace(TOM).tokens[5].strip() or "."
    expect(title).to_have_text(f"Most likely tokens: L3, after “{label}”")
    settle(page)
    assert picked(page, "Layer") == "L3"
    assert query(page).items() >= {"layer": "3", "after": "5"}.items()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_nothing_moves_when_writing_starts_and_ends(page: Page, width: int, height: int) -> None:
    """Also within half a second of the click, when the browser's own score leaves it out."""
    page.set_viewport_size({"width": width, "height": height})
    visit(page, page="Next token", sentence=TOM, new_tokens="12")
    first = page.get_by_role("button", name="Start", exact=True)
    if width > height:
        last = page.get_by_test_id("stSelectbox").filter(has_text="At the context limit")
        place = last.bounding_box()
        assert abs(place["y"] + place["height"] - first.bounding_box()["y"] - 40) < 30, "one line"
    page.wait_for_timeout(1500)  # the badge comes last
    page.evaluate(WATCH)
    for name in ("Start", "Continue"):
        with settling(page):
            page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("button", name="Continue")).to_be_visible()
    page.wait_for_timeout(500)
    assert page.evaluate("shift") <= 0.05


def test_home_stands_still_while_it_writes(page: Page) -> None:
    """What stops it stays under the pointer."""
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, page="Home", sentence="Once upon a time", temperature="0.3")
    page.wait_for_timeout(1500)  # the badge comes last
    page.evaluate(WATCH)
    tokens = page.locator(".hl-home-tokens button")
    play = page.locator(".hl-home-next .hl-primary")
    place = play.bounding_box()
    play.click()
    expect(tokens.nth(8)).to_be_attached()
    play.click()
    expect(play).to_have_text("Generate")
    now = play.bounding_box()
    assert max(abs(now["x"] - place["x"]), abs(now["y"] - place["y"])) < 1
    assert page.evaluate("shift") <= 0.05
