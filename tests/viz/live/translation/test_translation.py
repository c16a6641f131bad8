"""Protects the translation in a browser: what lights up, is drawn, and is asked for."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from model.capture import capture_translation
from tests.model.builders import tiny_translator
from tests.screen import PATIENCE
from tests.viz.harness import as_sent, bare_page, open_instrument
from tests.viz.live.instruments import END, START, WRITTEN, translated
from viz.digits import digits

DRAWN = ".hl-live[data-drawn*=' ']"
LINES = """() => Object.fromEntries(Array.from(document.querySelectorAll('.hl-tr-lines path'),
    path => [`${path.dataset.target} ${path.dataset.source}`,
             Number(path.getAttribute('stroke-width')) / 9]))"""


@pytest.fixture(scope="module")
def bare(browser: Browser, app_url: str) -> Iterator[Page]:
    """A bare page; an error that nobody caught fails its test."""
    with bare_page(browser, app_url) as page:
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        yield page


def pattern(layer: int, head: int) -> np.ndarray:
    """Cross-attention of one head, (target, source)."""
    source, target = [3, 1, 4, 1, END], [START, *WRITTEN[:-1]]
    trace = capture_translation(
        tiny_translator(), (source, list(map(str, source))), (target, list(map(str, target)))
    )
    return trace.group("decoder.cross_attn").records[layer].pattern[head]


def opened(page: Page, **changes: object) -> None:
    """The instrument, drawn."""
    page.mouse.move(1, 1)  # off any word
    open_instrument(page, "Translation", as_sent(translated(**changes)))
    page.locator(DRAWN).wait_for()


def english(page: Page) -> list[str]:
    """The numbers below the English words."""
    return page.locator(".hl-tr-row[aria-label=English] small").all_text_contents()


def changes(page: Page, name: str) -> object:
    """What a setting was changed to, once that is sent."""
    last = "sent.findLast(message => name in message.changes)?.changes[name]"
    return page.wait_for_function(f"name => {last}", arg=name).json_value()


def test_hovering_a_german_word_finds_its_english_one(bare: Page) -> None:
    opened(bare)
    weights = pattern(1, 2)
    german = bare.locator(".hl-tr-row[aria-label=German] button")
    for n in (1, 0, 2):
        german.nth(n).hover()
        expect(german.nth(n)).to_have_class("hl-tr-word hl-looked" if n else
                                            "hl-tr-word hl-tr-forced hl-looked")  # fmt: skip
        assert english(bare) == [digits(float(weight), 2) for weight in weights[n]]
        best = int(weights[n].argmax())
        strongest = bare.locator(".hl-tr-row[aria-label=English] > *").nth(best)
        expect(strongest).to_contain_class("hl-tr-strongest")
        path = bare.locator(".hl-tr-best")
        assert path.get_attribute("data-source") == str(best)
        expect(bare.locator(".hl-tr-says")).to_contain_text(digits(float(weights[n, best]), 2))


def test_each_line_is_as_thick_as_its_weight(bare: Page) -> None:
    opened(bare)
    lines, weights = bare.evaluate(LINES), pattern(1, 2)
    expected = {
        f"{n} {j}": float(weights[n, j]) for n, j in np.ndindex(3, 5) if weights[n, j] >= 0.04
    }
    assert lines == pytest.approx(expected, abs=1e-6)


def test_with_a_token_as_input_its_own_row_counts_and_the_end_has_none(bare: Page) -> None:
    opened(bare, align_by="input", target_token=0)
    assert english(bare) == [digits(float(weight), 2) for weight in pattern(1, 2)[1]]
    bare.locator(".hl-tr-row[aria-label=German] button").nth(2).hover()
    assert english(bare) == 5 * ["–"]


def test_a_candidate_is_put_in_the_place_of_a_token(bare: Page) -> None:
    """What came before it stays, and the distribution is the one it was drawn from."""
    opened(bare)
    bare.locator(".hl-tr-row[aria-label=German] button").nth(1).click()
    option = bare.locator("button.hl-tr-option").nth(3)
    expected = translated()["steps"][1]["leading"][3]
    expect(option.locator("small")).to_have_text(digits(expected["after"], 3))
    option.click()
    assert changes(bare, "forced") == [WRITTEN[0], expected["id"]]
    assert changes(bare, "target_token") == 1


def test_one_picker_goes_through_all_three_grids_by_keyboard(bare: Page) -> None:
    opened(bare, at="encoder.attn.1.2")
    bare.locator(".hl-grid-of-heads").first.focus()
    bare.keyboard.press("ArrowRight")  # past the last head of the first grid
    assert changes(bare, "at") == "decoder.attn.1.0"
    bare.keyboard.press("ArrowDown")
    bare.wait_for_function("sent.at(-1).changes.at === 'decoder.attn.1.0'")


def test_replay_writes_the_words_one_by_one(bare: Page) -> None:
    opened(bare)
    hidden = bare.locator(".hl-tr-unwritten")
    expect(hidden).to_have_count(0)
    bare.get_by_role("button", name="Replay").click()
    assert hidden.count() > 0
    expect(hidden).to_have_count(0)


def test_it_fits_on_a_phone(bare: Page) -> None:
    open_instrument(bare, "Translation", as_sent(translated()), width=358)
    bare.locator(DRAWN).wait_for()
    assert bare.evaluate("instrument.root.scrollWidth") <= 358
