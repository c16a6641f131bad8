"""Protects what stays where it is: charts that change, figures' heights, phones, another theme."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.nightly.test_browser import css
from tests.screen import (
    PATIENCE,
    TOM,
    drawn,
    figure,
    look,
    picked,
    query,
    visit,
    wait_until_idle,
)
from tests.viz.builders import stories_trace
from viz import theme

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
VIEWS = {
    "sinusoidal": {"page": "Positions"},
    "learned": {"page": "Positions", "scheme": "learned"},
    "rope": {"page": "Positions", "scheme": "rope"},
    "alibi": {"page": "Positions", "scheme": "alibi"},
    "none": {"page": "Positions", "scheme": "none"},
    "compare": {"page": "Positions", "scheme": "compare"},
    "kinds": {"page": "Masks", "mask": "sliding_window"},
    "edit": {"page": "Masks", "masks": "edit"},
    "leak": {"page": "Masks", "masks": "leak"},
    "padding": {"page": "Masks", "masks": "padding"},
    "order": {"page": "Masks", "masks": "order"},
    "shift": {"page": "Masks", "masks": "shift"},
    "lens": {"page": "Logit lens"},
    "cache": {"page": "KV cache"},
}
UNFRAMED = """() => [...document.querySelectorAll('.stMain .katex-display')].filter(formula =>
    formula.scrollWidth > formula.clientWidth + 1 && getComputedStyle(formula).overflowX !== 'auto'
).length"""


def open_view(page: Page, name: str) -> None:
    """One of the views, drawn."""
    page.goto("/?" + urlencode({"sentence": TOM} | VIEWS[name]))
    page.locator(".js-plotly-plot .main-svg, .hl-targets").first.wait_for()
    wait_until_idle(page)


def test_another_kind_of_mask_takes_no_chart_off_the_page(page: Page) -> None:
    visit(page, page="Masks", sentence=LONG)
    page.wait_for_timeout(1500)
    page.evaluate(WATCH)
    for kind in ("sliding window", "prefix", "global tokens + window", "padding", "none", "causal"):
        page.evaluate("() => { shift = 0; }")
        page.get_by_role("radio", name=kind, exact=True).click()
        title = figure(page, "mask").locator(".gtitle")
        expect(title).to_have_text(f"The mask: {kind}")
        wait_until_idle(page)
        page.wait_for_timeout(500)
        assert page.evaluate("gone") == [], kind
        assert page.evaluate("shift") <= 0.05, kind


def test_every_view_on_a_phone(browser: Browser, app_url: str) -> None:
    """Nothing scrolls sideways but what is wider than the screen, in its own frame."""
    context = browser.new_context(
        base_url=app_url, viewport={"width": 390, "height": 844}, has_touch=True
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    for name in VIEWS:
        open_view(page, name)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0, name
        assert page.evaluate("document.documentElement.scrollWidth") == 390, name
        assert page.evaluate(UNFRAMED) == 0, name
        charts = page.locator(".hl-figure").all()
        right = "node => node.getBoundingClientRect().right"
        assert all(x.evaluate(right) <= 390 for x in charts) or name == "lens", name
    context.close()


def test_a_finger_paints_a_mask(browser: Browser, app_url: str) -> None:
    context = browser.new_context(
        base_url=app_url, viewport={"width": 390, "height": 844}, has_touch=True
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"/?page=Masks&masks=edit&sentence={TOM}")
    page.locator(".hl-live[data-drawn*=' editor']").wait_for()
    wait_until_idle(page)
    page.wait_for_timeout(1500)  # the badge comes last
    page.locator(".hl-live[data-drawn*=' editor'] .hl-map .main-svg").first.wait_for()
    chart = page.locator(".hl-editor .hl-map .js-plotly-plot")
    chart.evaluate("chart => chart.scrollIntoView({block: 'center'})")
    place = """(chart, [row, column]) => {
        const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
        return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
    }"""
    scrolled = page.get_by_test_id("stMain").evaluate("main => main.scrollTop")
    session = context.new_cdp_session(page)
    for kind, cell in (("touchStart", [6, 0]), ("touchMove", [6, 2]), ("touchMove", [6, 4])):
        x, y = chart.evaluate(place, cell)
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    said = page.locator("[data-edits]")
    expect(said).to_contain_text("5 cells changed")
    page.locator(".hl-live[data-drawn$='6-0.6-1.6-2.6-3.6-4']").wait_for()
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == scrolled
    page.wait_for_url("**edits=6-0.6-1.6-2.6-3.6-4*")
    context.close()


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
    wait_until_idle(page)
    assert picked(page, "Layer") == "L3"
    assert query(page).items() >= {"layer": "3", "after": "5"}.items()


def test_a_scheme_runs_on_its_page_alone(page: Page) -> None:
    visit(page, page="Positions", sentence=TOM)
    page.get_by_role("radio", name="RoPE", exact=True).click()
    page.locator(".hl-rotor").wait_for()
    figure(page, "scores-after").locator(".main-svg").first.wait_for()
    wait_until_idle(page)
    assert picked(page, "Model").startswith("stories · ")
    assert query(page)["scheme"] == "rope"
    page.get_by_role("button", name="Use positions-rope everywhere").click()
    model = page.get_by_role("combobox", name="Model", exact=True)
    expect(model).to_have_value("positions-rope")


def test_every_figure_follows_a_switched_theme(page: Page) -> None:
    """There and back again."""
    for name, keys in {
        "sinusoidal": ["wave", "similarity", "curves", "wavelengths", "sum"],
        "rope": ["scores-before", "scores-after", "angles"],
        "kinds": ["mask", "pattern", "reach", "known", "cost"],
        "lens": ["lens", "rank", "most-likely"],
        "cache": ["filling"],
    }.items():
        open_view(page, name)
        menu = page.get_by_test_id("stMainMenuButton")
        menu.click()
        for chosen, palette in (("Dark", theme.DARK), ("Light", theme.LIGHT)):
            page.get_by_test_id(f"stMainMenuItem-theme-{chosen}").click()
            fill = css(palette.text)
            for key in keys:
                title = figure(page, key).locator(".gtitle, .annotation-text").first
                expect(title).to_have_css("fill", fill)
            if name in ("sinusoidal", "rope"):
                said = page.locator(".hl-turns output, .hl-turns b").first
                expect(said).to_have_css("color", fill)
        menu.click()  # it stays open until then


def test_a_chart_is_drawn_again_in_its_place(page: Page) -> None:
    """The same element, with the new numbers, also where the camera's format changed."""
    look(page, "pattern", page="Masks", sentence=TOM, layer="1", head="2", inspect="export")
    chart = figure(page, "pattern").locator(".js-plotly-plot")
    chart.evaluate("chart => chart.dataset.mine = 'yes'")
    page.get_by_role("radio", name="SVG", exact=True).click()
    page.get_by_role("radio", name="none", exact=True).click()
    expect(figure(page, "mask").locator(".gtitle")).to_have_text("The mask: none")
    wait_until_idle(page)
    assert chart.get_attribute("data-mine") == "yes"
    assert drawn(page, "pattern")[0].sum(axis=1).min() == pytest.approx(1, abs=1e-4)
    labels = chart.locator(".modebar-btn").evaluate_all("all => all.map(x => x.dataset.title)")
    assert not any("hare" in (label or "") for label in labels), "nothing is shared to a cloud"


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
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("button", name="Stop", exact=True).wait_for()
        expect(page.get_by_role("button", name="Continue")).to_be_visible()
        wait_until_idle(page)
    page.wait_for_timeout(500)
    assert page.evaluate("shift") <= 0.05


def test_home_stands_still_while_it_writes(page: Page) -> None:
    """Another line of words: what stops them stays under the pointer."""
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, page="Home", sentence="Once upon a time", temperature="0.3")
    page.wait_for_timeout(1500)  # the badge comes last
    page.evaluate(WATCH)
    words = page.locator(".hl-home-word")
    play = page.locator(".hl-home-next .hl-primary")
    place = play.bounding_box()
    play.click()
    expect(words.nth(24)).to_be_attached()
    play.click()
    expect(play).to_contain_text("Write on")
    page.wait_for_timeout(500)
    now = play.bounding_box()
    assert max(abs(now["x"] - place["x"]), abs(now["y"] - place["y"])) < 1
    assert page.evaluate("shift") <= 0.05
    last = words.last.bounding_box()
    box = page.locator(".hl-home-words").bounding_box()
    assert box["y"] <= last["y"] <= box["y"] + box["height"], "the newest word is in sight"


def test_labels_of_the_beam_tree_are_not_crossed_out(page: Page) -> None:
    """Lines come first, and each label has a rim of the page's colour around its letters."""
    visit(page, page="Beam search")
    label = figure(page, "beam").locator(".textpoint text").first
    expect(label).to_have_css("paint-order", "stroke")
    expect(label).to_have_css("stroke", css(theme.LIGHT.background))
