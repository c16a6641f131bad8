"""Protects that what instruments draw is read back: views of a head, all heads, the editor."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.screen import CHARTS, visit
from tests.viz.apps import TOM

SENTENCES = {
    "usual": TOM,
    "one token": "A",
    "other scripts": "😀 مرحبا بالعالم <b>x</b> the  cat\n",
    "64 tokens": "The animal did not cross the street because it was too tired and " * 4,
}
# Each view with what else its address says.
VIEWS = {
    "lines": {"mass": "1", "token": "0"},
    "sentence": {"hide_first": "yes"},
    "whatif": {"change": "temperature", "tau": "0.1"},
    "compare": {"against": "sentence", "second": "A dog ran to the big red house."},
    "summary": {"how": "maximum", "over": "all", "words": "yes"},
}
VERIFIED = re.compile(r"✓ [\d,]+ numbers verified \(max error (0|\de-\d+)\)")
OF_PAGE = re.compile(r"✓ [\d,]+ values on screen verified \(max error (0|\de-\d+)\)")
PATIENCE = 60_000


def says_verified(page: Page) -> None:
    """The badge of the view says that all of it was compared and is right."""
    expect(page.locator(".hl-badge")).to_have_text(VERIFIED, timeout=PATIENCE)


def count(page: Page) -> int:
    """How many numbers the badge says it compared."""
    return int(re.sub(r"\D", "", page.locator(".hl-badge").inner_text().split(" numbers")[0]))


def open_view(page: Page, name: str) -> None:
    """Go to another view of the head."""
    page.evaluate(
        """name => {
            const badge = document.querySelector('.hl-badge');
            badge.textContent = 'nothing yet';
            document.querySelector(`input[name=hl-view][value=${name}]`).click();
        }""",
        name,
    )


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=list(SENTENCES))
def test_every_view_of_a_head_is_read_back_and_right(page: Page, sentence: str) -> None:
    visit(page, sentence=sentence, layer="2", head="4", view="lines")
    for name in ("sentence", "whatif", "compare", "summary", "map", "lines"):
        open_view(page, name)
        says_verified(page)
        assert count(page) >= 3
    expect(page.locator(".hl-verdict")).to_have_text(OF_PAGE, timeout=PATIENCE)


@pytest.mark.parametrize("name", VIEWS)
def test_views_under_other_options_are_right(page: Page, name: str) -> None:
    sentence = SENTENCES["other scripts"]
    visit(page, sentence=sentence, layer="1", head="2", view=name, **VIEWS[name])
    says_verified(page)


def test_a_moved_slider_withdraws_what_was_said(page: Page) -> None:
    visit(page, sentence=TOM, layer="2", head="4", view="whatif", change="temperature")
    says_verified(page)
    said = page.evaluate(
        """() => {
            const input = document.querySelector('input[aria-label="Temperature"]');
            input.value = '2.5';
            input.dispatchEvent(new Event('input'));
            return document.querySelector('.hl-badge').textContent;
        }"""
    )
    assert said.startswith("comparing")
    says_verified(page)


def test_the_editor_is_read_back_before_and_after_an_edit(page: Page) -> None:
    page.goto("/?" + urlencode({"page": "Masks", "masks": "edit", "sentence": TOM}))
    verdict = page.locator(".hl-verdict")
    expect(verdict).to_have_text(OF_PAGE, timeout=PATIENCE)
    page.evaluate(
        """() => {
            globalThis.said = [];
            new MutationObserver(() => said.push(document.querySelector('.hl-verdict').textContent))
                .observe(document.querySelector('.hl-verdict'), {childList: true, subtree: true});
        }"""
    )
    page.locator("[data-do=row]").click()
    page.wait_for_function("() => said.length > 1 && said.at(-1).startsWith('✓')", timeout=PATIENCE)
    assert page.evaluate("said[0]").startswith("comparing")
    expect(verdict).to_have_text(OF_PAGE)


@pytest.mark.parametrize(
    ("view", "number", "address"),
    [
        ("sentence", ".hl-sentence [data-number=weight]", r"decoder\.blocks\.2\.attn\.pattern\[4,"),
        (
            "lines",
            ".hl-does [data-number]",
            r"decoder\.(attn\.\w+\[2,4\]|blocks\.2\.attn\.pattern)",
        ),
        ("summary", "[data-pair] [data-number]", r"decoder\.attn\.mean_layer\[2,\d+,\d+\]"),
        ("whatif", "[data-number=before]", r"decoder\.blocks\.2\.attn\.mean_entropy\[4\]"),
    ],
)
def test_a_number_with_an_address_opens_the_card(
    page: Page, view: str, number: str, address: str
) -> None:
    visit(page, sentence=TOM, layer="2", head="4", view=view)
    says_verified(page)
    found = page.locator(number).first
    found.hover()
    page.keyboard.press("?")
    card = page.locator(".hl-card")
    expect(card).to_contain_text(re.compile(address))
    texts = dict(
        zip(card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts(), strict=True)
    )
    assert texts["On screen"] == found.text_content()
    assert abs(float(texts["Independent run"]) - float(texts["On screen"])) <= 5.1e-3
    assert texts["Formula"]


def test_what_is_left_of_an_earlier_run_is_a_fault(page: Page) -> None:
    visit(page, sentence=TOM, layer="2", head="4", view="lines")
    says_verified(page)
    expect(page.locator(".hl-verdict")).to_have_text(OF_PAGE, timeout=PATIENCE)
    page.evaluate("document.querySelector('.hl-does').dataset.ofRun = 'another run'")
    page.evaluate(
        """async () => {
            const {shown} = await import('/live/core/stale.js');
            shown();
        }"""
    )
    expect(page.locator(".hl-verdict")).to_have_text(re.compile("^✗"), timeout=PATIENCE)
    badge = page.get_by_test_id("stPopover").get_by_role("button").first
    expect(badge).to_contain_text("failed", timeout=PATIENCE)


# Figures by their keys: which address each of their traces is compared with.
ADDRESSES = """keys => keys.map(key => {
    const chart = document.querySelector(`.st-key-figure-${key} .js-plotly-plot`);
    return [key, chart?.layout?.meta?.addresses?.length ?? 0];
})"""
DRAWN = """keys => keys.every(key =>
    document.querySelector(`.st-key-figure-${key} .js-plotly-plot .main-svg`))"""
MEASURED = "Why the residual?"  # when asked
OF_FIGURES = {title: keys for title, keys in CHARTS.items() if keys}


@pytest.mark.parametrize("title", OF_FIGURES)
def test_every_figure_says_what_it_is_compared_with(page: Page, title: str) -> None:
    keys = OF_FIGURES[title]
    visit(page, page=title, sentence="The girl lost the ball, so")
    if title == MEASURED:
        page.get_by_role("button", name="Compute").click()
    page.wait_for_function(DRAWN, arg=keys, timeout=PATIENCE)
    page.wait_for_function(
        f"keys => ({ADDRESSES})(keys).every(([, n]) => n > 0)", arg=keys, timeout=PATIENCE
    )
    expect(page.locator(".hl-verdict").first).to_have_text(OF_PAGE, timeout=PATIENCE)
