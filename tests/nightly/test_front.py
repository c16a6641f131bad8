"""Protects the frame in a real browser: the rail, the address, Back and Forward."""

import re
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.screen import (
    CHARTS,
    PATIENCE,
    TOM,
    pick,
    query,
    rail,
    strip,
    turn_to,
    visit,
    wait_for_charts,
    wait_until_idle,
)
from tests.viz.builders import stories_trace
from viz.studio import PAGES


def box(page: Page) -> str:
    """What the sentence box holds."""
    return page.get_by_role("textbox", name="Sentence", exact=True).input_value()


def go(page: Page, where: str) -> None:
    """Press Back or Forward. The page stays, so there is nothing to load."""
    page.evaluate(f"history.{where}()")


def test_back_and_forward_undo_page_head_and_model(page: Page) -> None:
    visit(page, sentence=TOM)
    pick(page, "Layer", "L4")
    page.wait_for_url("**layer=4**")
    turn_to(page, "Masks")
    page.wait_for_url("**page=Masks**")
    expect(page).to_have_title("Masks · Headlight")
    go(page, "back")
    wait_for_charts(page, "Attention")
    expect(page).to_have_title("Attention · Headlight")
    layer = page.get_by_role("combobox", name="Layer", exact=True)
    expect(layer).to_have_value("4")
    go(page, "back")
    expect(layer).to_have_value("2")
    page.wait_for_url(lambda url: "layer" not in url)
    go(page, "forward")
    expect(layer).to_have_value("4")
    go(page, "forward")
    wait_for_charts(page, "Masks")
    page.wait_for_url("**page=Masks**")
    assert query(page) == {"page": "Masks", "sentence": TOM, "layer": "4"}


def test_typing_is_one_step_of_back(page: Page) -> None:
    page = page.context.new_page()  # the history of the other may be as long as one can be
    page.set_default_timeout(PATIENCE)
    visit(page, sentence=TOM)
    before = page.evaluate("history.length")
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    for text in ("a cat", "a cat sat", "a cat sat down"):
        sentence.fill(text)
        sentence.blur()
        page.wait_for_url(f"**sentence={text.replace(' ', '+')}")
        wait_until_idle(page)
    assert page.evaluate("history.length") == before + 1
    go(page, "back")
    expect(sentence).to_have_value(TOM)
    expect(strip(page).first).to_have_text("Tom")


def test_every_view_is_a_link_that_can_be_opened_elsewhere(page: Page) -> None:
    visit(page, sentence=TOM, model="positions-rope")
    addresses = {}
    for entry in PAGES:
        link = rail(page).get_by_role("link", name=entry.TITLE, exact=True)
        link.hover()
        address = addresses[entry.TITLE] = link.get_attribute("href") or ""
        assert "positions-rope" in address
        assert f"page={entry.TITLE.split()[0]}" in address
    current = rail(page).locator("[aria-current]")
    expect(current).to_have_count(1)
    expect(current).to_contain_text("Attention")
    other = page.context.new_page()
    other.goto("/" + addresses["Masks"])
    expect(other).to_have_title("Masks · Headlight")
    expect(other.get_by_role("textbox", name="Sentence", exact=True)).to_have_value(TOM)
    assert urlsplit(other.url).path == "/"


def test_a_cell_and_its_head_come_back_with_back(page: Page) -> None:
    """What belongs to a sentence is not lost when Back changes the sentence, too."""
    visit(page, sentence=TOM, layer="1", head="3", cell="5-2")
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    sentence.fill("a cat")
    sentence.blur()
    page.wait_for_url("**sentence=a+cat**")
    wait_until_idle(page)
    assert "cell" not in query(page)
    go(page, "back")
    expect(sentence).to_have_value(TOM)
    wait_for_charts(page, "Attention")
    wait_until_idle(page)
    assert query(page)["cell"] == "5-2"


# --- Home ---------------------------------------------------------------------------------------


def home(page: Page, **query: str) -> None:
    """Open Home and wait for its map."""
    visit(page, page="Home", **query)


def shares(page: Page) -> list[str]:
    """The numbers below the words."""
    return page.locator(".hl-home-word small").all_text_contents()


def test_home_shows_what_a_touched_word_attends_to(page: Page) -> None:
    home(page, sentence=TOM, layer="1", head="5")
    pattern = stories_trace(TOM).attention[1].pattern[5]
    for query_token in (9, 3):
        page.locator(".hl-home-word").nth(query_token).hover()
        expect(page.locator(".hl-home-word").nth(query_token)).to_have_class(re.compile("looked"))
        row = pattern[query_token]
        found = [float(text) for text in shares(page)[: query_token + 1]]
        assert found == pytest.approx(row[: query_token + 1].tolist(), abs=0.006)
        assert set(shares(page)[query_token + 1 :]) == {"–"}
    page.locator(".hl-home-word").nth(5).focus()
    expect(page.locator(".hl-home-says")).to_contain_text("attends to")


def test_home_s_bars_are_the_model_s_at_the_slider_s_temperature(page: Page) -> None:
    home(page, sentence=TOM)
    slider = page.get_by_role("slider", name="Temperature")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    temperature = float(slider.input_value())
    assert temperature == pytest.approx(1.0)
    logits = stories_trace(TOM).logits[-1].astype(np.float64) / temperature
    expected = np.sort(np.exp(logits - np.logaddexp.reduce(logits)))[::-1][:8]
    bars = page.locator(".hl-home-next [data-after]")
    found = [float(x) for x in bars.evaluate_all("bars => bars.map(bar => bar.dataset.after)")]
    assert found == pytest.approx(expected.tolist(), abs=1e-5)
    page.wait_for_url("**temperature=1.0**")


def test_home_says_that_its_run_was_checked(page: Page) -> None:
    home(page, sentence=TOM)
    badge = page.get_by_test_id("stPopover").get_by_role("button")
    expect(badge).to_contain_text("Verified: 26 of 26")


def test_home_writes_on_and_everything_follows(page: Page) -> None:
    home(page, sentence="Once upon a time", temperature="0.4")
    before = page.locator(".hl-home-word").count()
    page.get_by_role("button", name="Write on").click()
    expect(page.locator(".hl-home-word").nth(before + 3)).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    wait_until_idle(page)
    page.wait_for_timeout(1_000)  # the token that was asked for last may still come
    text = box(page)
    assert text.startswith("Once upon a time") and len(text) > len("Once upon a time") + 3
    assert page.locator(".hl-home-word").count() == len(stories_trace(text).tokens)
    page.wait_for_timeout(1_500)
    assert box(page) == text, "it rests"
    assert query(page)["sentence"] == text


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (1280, 720)])
def test_home_needs_no_scrolling(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    home(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollHeight - main.clientHeight") <= 0
    first = page.locator(".hl-home-words").bounding_box()
    assert first is not None and first["y"] <= 220
    last = page.locator(".hl-ways").bounding_box()
    assert last is not None and last["y"] + last["height"] <= height


# --- tours --------------------------------------------------------------------------------------


def test_a_tour_leads_by_its_arrows_and_keys(page: Page) -> None:
    visit(page, page="Tours")
    page.get_by_role("link", name="Five minutes").click()
    panel = page.locator(".hl-tour")
    expect(panel).to_contain_text("Five minutes · 1 of 7")
    wait_for_charts(page, "Home")
    panel.get_by_role("link", name="Next").click()
    expect(panel).to_contain_text("2 of 7")
    wait_for_charts(page, "Attention")
    page.get_by_role("heading", name="Attention").click()  # the page itself has the focus then
    page.keyboard.press("ArrowRight")
    expect(panel).to_contain_text("3 of 7")
    page.wait_for_url("**stage=scaled**")
    page.keyboard.press("ArrowLeft")
    expect(panel).to_contain_text("2 of 7")
    page.wait_for_url("**step=2**")
    for step in ("3", "2"):
        page.go_back()
        expect(panel).to_contain_text(f"{step} of 7")
        page.wait_for_url(f"**step={step}**")
    page.go_back()
    expect(panel).to_contain_text("1 of 7")  # which an address leaves out
    page.wait_for_url(lambda url: "step=" not in url)
    page.go_forward()
    expect(panel).to_contain_text("2 of 7")
    panel.get_by_role("link", name="Leave").click()
    expect(panel).to_have_count(0)
    expect(page).not_to_have_url(re.compile("tour|step"))
    assert query(page)["page"] == "Attention", "the view stays"


def test_what_a_step_is_about_comes_into_sight_below_its_sentences(page: Page) -> None:
    """The formula stands far below the fold; whoever scrolls away from it is left alone."""
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, page="Attention", layer="2", head="4", tour="five-minutes", step="3")
    formula, panel = page.locator(".hl-formula").first, page.locator(".hl-tour")
    expect(formula).to_be_in_viewport(ratio=1)
    expect(panel).to_be_in_viewport(ratio=1)
    page.mouse.move(640, 500)
    page.mouse.wheel(0, -2000)
    expect(formula).not_to_be_in_viewport()
    page.get_by_role("textbox", name="Sentence", exact=True).fill("Tom ran home")
    wait_until_idle(page)
    page.wait_for_timeout(1500)
    expect(formula).not_to_be_in_viewport()
    panel.get_by_role("link", name="Back").click()
    expect(page.locator(".hl-view-map .hl-map")).to_be_in_viewport(ratio=1)


def test_on_a_phone_a_step_begins_with_its_sentences(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, page="Attention", layer="2", head="4", tour="five-minutes", step="3")
    panel = page.locator(".hl-tour")
    page.wait_for_timeout(3000)
    expect(panel).to_be_in_viewport(ratio=1)
    panel.get_by_role("link", name="Back").scroll_into_view_if_needed()
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop = 60")
    panel.get_by_role("link", name="Back").click()
    expect(panel).to_contain_text("2 of 7")
    expect(panel).to_be_in_viewport(ratio=1)
    big = page.locator(".hl-view-map .hl-map")
    expect(big).not_to_be_in_viewport()
    panel.get_by_role("button", name="See the place").click()
    expect(big).to_be_in_viewport(ratio=0.9)


FIGURES = ".hl-live > *:visible, .hl-figure .js-plotly-plot, .hl-diagram"
DEEPEST = {(1400, 900): 220, (1280, 720): 220, (390, 844): 320}


def test_the_first_figure_stands_high_on_every_page(page: Page) -> None:
    """At each size of the window, which changes while the page is open."""
    for title in CHARTS.keys() - {"Notation", "Tours"}:
        page.set_viewport_size({"width": 1400, "height": 900})
        visit(page, page=title)
        first = page.locator(FIGURES).first
        for (width, height), deepest in DEEPEST.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(500)  # what follows the size by script
            wait_until_idle(page)
            assert first.bounding_box()["y"] <= deepest, (title, width)


def test_tokens_are_counted_in_the_box_and_an_excess_is_seen(page: Page) -> None:
    visit(page, sentence="Tom ran.")
    count = page.locator(".hl-count")
    expect(count).to_have_text("3 / 256 tokens")
    typing = page.get_by_role("textbox", name="Sentence", exact=True)
    typing.fill("word " * 300)
    expect(count).to_have_class(re.compile("hl-excess"))
    counted, _, context = count.inner_text().removesuffix(" tokens").partition(" / ")
    cut = page.get_by_text(re.compile(r"^The sentence has .* are cut\.$"))
    expect(cut).to_contain_text(f"has {counted} tokens, the model's context is {context}")


def test_the_caret_waits_in_the_box_on_home_alone(page: Page) -> None:
    visit(page, page="Home", sentence="Tom")
    expect(page.get_by_role("textbox", name="Sentence", exact=True)).to_be_focused()
    page.keyboard.type(" ran.")
    expect(page).to_have_url(re.compile(r"sentence=Tom\+ran"))
    visit(page, page="Attention", sentence="Tom")
    expect(page.get_by_role("textbox", name="Sentence", exact=True)).not_to_be_focused()


def test_a_folded_group_stays_folded(page: Page) -> None:
    """On other pages and in the next visit, until it is unfolded."""
    visit(page, page="Attention", sentence=TOM)
    group = rail(page).locator("details", has_text="Generate")
    group.locator("summary").click()
    expect(rail(page).get_by_role("link", name="Next token", exact=True)).to_be_hidden()
    turn_to(page, "Masks")
    expect(group).not_to_have_attribute("open", "")
    visit(page, page="Attention", sentence=TOM)
    expect(group).not_to_have_attribute("open", "")
    group.locator("summary").press("Enter")
    expect(rail(page).get_by_role("link", name="Next token", exact=True)).to_be_visible()
