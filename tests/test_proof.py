"""Protects the proof on the page: figures are read back, a number says where it comes from."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.screen import figure, visit
from tests.viz.apps import TOM

VERIFIED = re.compile(r"✓ [\d,]+ values on screen verified \(max error (0|\de-\d+)\)")
# Pages whose figures are drawn from addresses, with what else their addresses say.
PROVED = {
    "Logit lens": {"lens_color": "entropy"},
    "Positions": {},
    "Masks": {"masks": "kinds"},
    "KV cache": {"cached_tokens": "9"},
}
AT = """([figure, row, column]) => {
    const chart = figure.querySelector('.js-plotly-plot');
    chart.scrollIntoView({block: 'center'});
    const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
}"""


def verdict(page: Page) -> str:
    """What is said of the page's figures, once it is said."""
    said = page.locator(".hl-verdict")
    expect(said).to_have_text(re.compile("^[✓✗]"), timeout=60_000)
    return said.inner_text()


@pytest.mark.parametrize("title", PROVED)
def test_figures_of_a_page_are_read_back(page: Page, title: str) -> None:
    visit(page, page=title, sentence=TOM, **PROVED[title])
    page.mouse.wheel(0, 4000)
    said = verdict(page)
    assert VERIFIED.fullmatch(said), said
    badge = page.get_by_test_id("stPopover").get_by_role("button").first
    expect(badge).to_contain_text("Verified: ")


def test_another_view_withdraws_the_verdict(page: Page) -> None:
    visit(page, page="Logit lens", sentence=TOM)
    first = verdict(page)
    page.evaluate(
        """() => {
            const said = document.querySelector('.hl-verdict');
            globalThis.saidThen = [];
            new MutationObserver(() => saidThen.push(said.textContent))
                .observe(said, {childList: true, characterData: true, subtree: true});
        }"""
    )
    page.get_by_label("Sentence", exact=True).fill("A dog ran to the big red house.")
    page.wait_for_function("() => globalThis.saidThen?.some((text) => /^✓/.test(text))")
    then = page.evaluate("() => globalThis.saidThen")
    assert then[0].startswith("comparing")
    assert then[-1] != first
    assert VERIFIED.fullmatch(then[-1])


def test_a_number_says_where_it_comes_from(page: Page) -> None:
    visit(page, page="Attention", sentence=TOM, layer="2", head="4", cell="8-1")
    number = page.locator("dd[data-number=weights]")
    number.hover()
    page.keyboard.press("?")
    card = page.get_by_role("dialog", name="Where this number comes from")
    expect(card).to_contain_text("decoder.blocks.2.attn.pattern[4,8,1]")
    expect(card).to_contain_text("model.attention.attention_pattern")
    expect(card).to_contain_text(" → ")
    values = card.locator("dd").all_inner_texts()[3:6]
    drawn, own, other = (float(text.replace("−", "-")) for text in values)
    assert drawn == pytest.approx(own, abs=1e-6)
    assert other == pytest.approx(own, abs=1e-5)
    assert abs(float(number.inner_text()) - own) <= 5e-5
    card.get_by_role("button", name="Close").click()
    expect(card).to_have_count(0)


def test_a_cell_of_a_figure_says_where_it_comes_from_at_the_press_of_a_button(page: Page) -> None:
    visit(page, page="Logit lens", sentence=TOM)
    verdict(page)
    lens = figure(page, "lens")
    x, y = page.evaluate(AT, [lens.element_handle(), 3, 2])
    page.mouse.move(x - 2, y - 2)
    page.mouse.move(x, y)
    expect(page.locator(".hoverlayer .hovertext")).to_have_count(1)
    page.get_by_role("button", name="Where does the number last pointed at").click()
    expect(page.locator(".hl-card")).to_contain_text("lens.top[3,2]")
    page.keyboard.press("Escape")


def test_asked_before_anything_is_pointed_at_it_says_what_to_do(page: Page) -> None:
    visit(page, page="Beam search", sentence=TOM)
    page.reload()
    visit(page, page="Beam search", sentence=TOM)
    page.get_by_role("button", name="Where does the number last pointed at").click()
    expect(page.locator(".hl-card")).to_contain_text("Point at a cell, a point or a number")


def test_the_key_is_about_what_the_mouse_is_on(page: Page) -> None:
    visit(page, page="Masks", masks="kinds", sentence=TOM)
    verdict(page)
    card = page.locator(".hl-card")
    for key, row, column, address in (
        ("pattern", 3, 1, "unmasked_pattern[4,3,1]"),
        ("mask", 2, 7, "mask.allowed[2,7]"),  # a hatched cell
    ):
        x, y = page.evaluate(AT, [figure(page, key).element_handle(), row, column])
        page.mouse.move(x - 2, y - 2)
        page.mouse.move(x, y)
        page.wait_for_timeout(300)
        page.keyboard.press("?")
        expect(card).to_contain_text(address)
        page.keyboard.press("Escape")
    page.mouse.move(5, 5)
    page.keyboard.press("?")
    expect(card).to_contain_text("Point at a cell")
    page.keyboard.press("Escape")
