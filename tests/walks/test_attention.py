"""A person looks into attention: every number on the way is the model's."""

import json
import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from model.analysis.why.reasons import reasons
from model.analysis.why.sentence import sentence
from tests.attention import (
    choose,
    number,
    open_head,
    pin,
    point_at,
    shown,
    steps_of,
    terms,
    wait_for,
)
from tests.screen import (
    HOSTILE,
    MARKUP,
    TOM,
    content,
    download,
    picked,
    query,
    settle,
    strip,
    visit,
)
from tests.viz.builders import stories, stories_trace
from viz.labels import token_labels


def test_type_click_pin_read(page: Page) -> None:
    """The whole way of a person: sentence, head, cell, and its numbers to four digits."""
    visit(page)
    page.locator(".hl-live").evaluate("node => { node.marked = true; }")
    page.get_by_label("Sentence", exact=True).fill(TOM)
    trace = stories_trace(TOM)
    expect(strip(page)).to_have_text(token_labels(trace.tokens))
    settle(page)
    assert page.locator(".hl-live").evaluate("node => node.marked"), "it was not put there anew"
    open_head(page, 4, 1)
    wait_for(page, "L4 H1")
    record = trace.attention[4]
    for row, column in [(9, 4), (11, 0), (5, 5)]:
        pin(page, row, column)
        expect(page.locator(".hl-cell-title small")).to_contain_text("pinned")
        title = page.locator(".hl-cell-title bdi")
        expect(title).to_have_text([token_labels(trace.tokens)[i] for i in (row, column)])
        steps = {
            name: x[row, column] for name, x in steps_of(record, 1).items() if name != "output"
        }
        assert number(page, "product") == pytest.approx(steps["product"], abs=2e-4)
        assert number(page, "scaled") == pytest.approx(steps["scaled"], abs=1e-4)
        assert number(page, "masked") == pytest.approx(steps["scaled"], abs=1e-4)
        assert number(page, "weights") == pytest.approx(steps["weights"], abs=1e-4)
        assert number(page, "output") == pytest.approx(record.z[1, row, 0], abs=1e-4)
    page.wait_for_url(re.compile("cell=5-5"))
    settle(page)
    assert (picked(page, "Layer"), picked(page, "Head")) == ("L4", "H1")
    assert query(page) | {"sentence": TOM, "layer": "4", "head": "1"} == query(page)
    assert terms(page)["weights"][-1] == pytest.approx(record.pattern[1, 5, 5], abs=1e-4)
    file = download(page, page.get_by_role("button", name="PNG"))
    assert content(file).startswith(b"\x89PNG\r\n")
    pin(page, 5, 5)
    point_at(page, 2, 9)
    expect(page.locator("[data-number=masked]")).to_have_text("−∞")
    expect(page.locator("[data-term=masked]")).to_have_text("mask: hidden")


def test_keyboard_alone_reaches_every_cell(page: Page) -> None:
    visit(page, sentence="The dog ran.", layer="0", head="0")
    tokens = token_labels(stories_trace("The dog ran.").tokens)
    page.locator(".hl-overview").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    wait_for(page, "L0 H2")
    page.locator(".hl-view-map .hl-map").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[aria-live=polite]")).to_contain_text(f"{tokens[-1]} attends to")
    page.keyboard.press("Enter")
    expect(page.locator(".hl-cell-title small")).to_contain_text("pinned")
    page.keyboard.press("Escape")
    expect(page.locator(".hl-cell-title small")).not_to_contain_text("pinned")


def test_why_a_head_looks_there_and_what_is_left_without_it(page: Page) -> None:
    """Asked for below a pinned cell; a kind is taken away, put back, and a head opened from it."""
    visit(page, sentence=TOM, layer="3", head="2", cell="9-4")
    wait_for(page, "L3 H2")
    site = stories_trace(TOM).attention[3].site
    cell = reasons(stories_trace(TOM), stories().model, site).cell(2, 9, 4)
    page.get_by_text("Why there?", exact=True).click()
    part = page.locator("[data-part=why]")
    expect(part).to_contain_text(sentence(cell))
    settle(page)
    part.get_by_role("button", name=re.compile("^a match of query and key")).click()
    left = cell.without_kind("match")[4]
    expect(part).to_contain_text(f"norms held: weight {cell.weight:.2f} → {left:.2f}.")
    page.wait_for_url(re.compile("why_taken=kind%3Amatch"))
    settle(page)
    page.reload()
    expect(part).to_contain_text(f"norms held: weight {cell.weight:.2f} → {left:.2f}.")
    part.get_by_role("button", name="Put it back").click()
    expect(part).not_to_contain_text("norms held: weight")
    head = part.get_by_role("button", name="open", exact=True).first
    name = re.search(r"L\d H\d", head.get_attribute("title") or "")
    assert name
    head.click()
    wait_for(page, name[0])
    settle(page)
    expect(part).to_contain_text(f"{name[0]} looks from")


def test_compare_two_sentences(page: Page) -> None:
    visit(page, sentence=TOM, view="compare", layer="1", head="3")
    wait_for(page, "L1 H3", view="compare")
    trace, mask = stories_trace(TOM), stories_trace(TOM).attention[0].mask
    delta = ".hl-view-compare section:nth-child(3) .js-plotly-plot"
    choose(page, "against", "sentence")
    box = page.get_by_label("Second sentence", exact=True)
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
    assert alone.locator(MARKUP).count() == 0
    assert errors == []
    context.close()


def test_a_head_that_its_steps_do_not_lead_to_is_named_by_a_red_badge(page: Page) -> None:
    """What the app sends of one head are other queries and keys."""
    text = "Anna gave Tom a red ball."  # no other test's, who would read what is planted
    visit(page, sentence=text)
    pattern = stories_trace(text).attention[4].pattern[1]

    def planted(route: Route) -> None:
        answer = route.fetch()
        body = answer.body()
        if len(body) == len(pattern) * 32 * 4:  # of d_head numbers each; others are weights
            body = (2 * np.frombuffer(body, np.float32)).tobytes()
        route.fulfill(response=answer, body=body)

    page.route("**/kit/arrays/*/1", planted)
    open_head(page, 4, 1)
    wait_for(page, "L4 H1")
    expect(page.get_by_text("What follows from q and k of L4 H1 is off the run")).to_be_visible()
    badge = page.get_by_test_id("stPopover").get_by_role("button").first
    expect(badge).to_contain_text(" checks failed")
    badge.click()
    expect(page.get_by_text("decoder.attn L4 H1: weights computed")).to_be_visible()
    drawn = shown(page)
    assert drawn[5, :6] == pytest.approx(pattern[5, :6], abs=1e-6)
    visit(page, page="Masks", sentence=text)  # with the list open
    assert (picked(page, "Layer"), picked(page, "Head")) == ("L3", "H2"), "as its address says"
