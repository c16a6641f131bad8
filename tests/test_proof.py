"""Protects the proof on the page: figures are read back, a number says where it comes from."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.screen import PATIENCE, figure, look, visit
from tests.viz.apps import TOM

VERIFIED = re.compile(r"✓ [\d,]+ values on screen verified \(max error (0|\de-\d+)\)")
# Pages whose figures are drawn from addresses, with what else their addresses say.
PROVED = {
    "Logit lens": {"lens_color": "entropy"},
    "Positions": {},
    "Masks": {"masks": "kinds"},
    "KV cache": {"cached_tokens": "9"},
    "Patching": {},
    "Explanation": {"measure": "gradients"},
}
# Views whose last figure is not the usual one: the page, what its address says, a figure, and what
# must be among what was read back.
VIEWS = [
    ("Positions", {"scheme": "rope", "model": "positions-rope"}, "wavelengths", "rotor"),
    ("Positions", {"scheme": "learned", "model": "positions-learned"}, "sum", "numbers"),
    ("Positions", {"scheme": "alibi", "model": "positions-alibi"}, "pattern", "numbers"),
    ("Positions", {"scheme": "none", "model": "positions-none"}, "causal", "no-mask"),
    ("Positions", {"scheme": "compare"}, "losses", "patterns"),
    ("Masks", {"masks": "leak"}, "past", "numbers"),
    ("Masks", {"masks": "padding"}, "pad-shares", "padded-seen"),
    ("Masks", {"masks": "order"}, "leak", "scores-before"),
    ("Tokens", {}, "merges", "merges"),
    ("Beam search", {}, "beam", "beam"),
    ("Explanation", {"model": "blank"}, "token-worth", "arrows"),
    ("Explanation", {"model": "translate"}, "token-worth", "arrows"),
    (
        "Explanation",
        {"model": "translate", "arrows_of": "encoder.attn", "measure": "gradients"},
        "token-worth",
        "arrows",
    ),
    ("Explanation", {"model": "digits"}, "arrows", "arrows"),
]
READ = """async () => {
    const {allReadings} = await import('/live/core/screen.js');
    return allReadings().map((reading) => reading?.figure ?? '');
}"""
AT = """([figure, row, column]) => {
    const chart = figure.querySelector('.js-plotly-plot');
    chart.scrollIntoView({block: 'center'});
    const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
}"""


@pytest.fixture(autouse=True)
def patient() -> None:
    """No step gives up because the machine is busy."""
    expect.set_options(timeout=PATIENCE)


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


@pytest.mark.parametrize(("title", "query", "last", "named"), VIEWS)
def test_views_with_other_figures_are_read_back(
    page: Page, title: str, query: dict[str, str], last: str, named: str
) -> None:
    look(page, last, page=title, sentence=TOM, **query)
    page.mouse.wheel(0, 4000)
    said = verdict(page)
    assert VERIFIED.fullmatch(said), said
    assert named in page.evaluate(READ)


def test_written_tokens_are_read_back(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, written="9")
    page.locator(".hl-attention .js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_function(f"async () => (await ({READ})()).includes('new tokens')")
    said = verdict(page)
    assert VERIFIED.fullmatch(said), said


def test_a_moved_rotor_is_read_back_again(page: Page) -> None:
    look(page, "wavelengths", page="Positions", scheme="rope", model="positions-rope", sentence=TOM)
    verdict(page)
    page.locator("[data-setting=first]").fill("99")
    said = verdict(page)
    assert VERIFIED.fullmatch(said), said
    page.locator("dd[data-number=score]").hover()
    page.keyboard.press("?")
    card = page.get_by_role("dialog", name="Where this number comes from")
    expect(card).to_contain_text(re.compile(r"\.moved_scores\.99\.\d+\.\d+\.\d+\[\d\]"))
    drawn, other = (
        float(card.locator("dd").all_inner_texts()[i].replace("−", "-")) for i in (3, 5)
    )
    assert drawn == pytest.approx(other, abs=1e-5)
    page.keyboard.press("Escape")


def test_a_printed_number_says_where_it_comes_from(page: Page) -> None:
    look(page, "past", page="Masks", masks="leak", sentence=TOM)
    number = page.locator(".hl-number[data-address='losses.mean']").first
    number.focus()
    page.keyboard.press("?")
    card = page.get_by_role("dialog", name="Where this number comes from")
    expect(card).to_contain_text("losses.mean")
    drawn, other = (
        float(card.locator("dd").all_inner_texts()[i].replace("−", "-")) for i in (3, 5)
    )
    assert drawn == pytest.approx(other, abs=1e-5)
    assert float(number.inner_text()) == pytest.approx(other, abs=5e-5)
    page.keyboard.press("Escape")


SAMPLED = {
    ".hl-dist li:nth-child(2) [data-number=sampled]": r"sampled\.12\.1234\.{}\[\d+\]",
    "[data-number=entropy-before]": r"sampled\.entropy\.12\.1\.1000000\.0\.1000000\.0",
    "[data-number=perplexity-after]": r"sampled\.perplexity\.12\.1234\.{}",
    "[data-step=top_p] td:first-of-type": r"sampled\.left\.12\.1234\.{}\[2\]",
}
SETTINGS = r"800000\.0\.900000\.0"


def test_what_is_sampled_says_where_it_comes_from(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, temperature="0.8", top_p="0.9")
    for selector, address in SAMPLED.items():
        number = page.locator(selector).first
        number.hover()
        page.keyboard.press("?")
        card = page.get_by_role("dialog", name="Where this number comes from")
        expect(card).to_contain_text(re.compile(address.format(SETTINGS)))
        other = float(card.locator("dd").all_inner_texts()[5].replace(",", ""))
        printed = number.inner_text().replace(",", "")
        last_digit = 10.0 ** -len(printed.partition(".")[2])
        assert float(printed) == pytest.approx(other, abs=0.51 * last_digit)
        page.keyboard.press("Escape")


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
    assert drawn == pytest.approx(own, abs=5e-5)
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
