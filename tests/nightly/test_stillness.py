"""Protects what stays where it is: charts that change, figures' heights, phones, another theme."""

from playwright.sync_api import Page, expect

from tests.screen import (
    figure,
    settle,
    visit,
)

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
