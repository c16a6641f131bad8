"""Protects the page Encoder in a real browser: words are hidden by hand."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from model.architectures.encoder import EncoderTransformer
from model.config import EncoderConfig
from model.data.tokenizer import MASK
from model.given import Blanked
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.weights import take_weights
from tests.model.builders import softmax
from tests.screen import figure, query, wait_until_idle
from tests.serving import RunningApp, running_app
from tests.visiting import visitor_of
from viz.digits import digits

SENTENCE = "Tom had a red ball."
ADDRESS = "/?page=Encoder&sentence=Tom+had+a+red+ball.&encoder=looks-around&blanks=3"
INSTRUMENT = ".st-key-cloze .hl-live"
OVER_ONE_SCREEN = 220  # pixels above the first figure


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an encoder that has the weights and the tokens of stories."""
    found, stories = tmp_path_factory.mktemp("encoders"), checkpoint.load("stories", "cpu")
    tokenizer = stories.tokenizer.with_specials([MASK])
    names = {field.name for field in dataclasses.fields(EncoderConfig) if field.init}
    of_stories = dataclasses.asdict(stories.config) | {"vocab_size": tokenizer.vocab_size}
    sizes = {name: value for name, value in of_stories.items() if name in names}
    model = EncoderTransformer(EncoderConfig(**sizes)).requires_grad_(False).eval()
    with torch.no_grad():
        take_weights(model, stories.model)
    checkpoint.save(found / "looks-around", model, tokenizer)
    return found


@pytest.fixture(scope="module")
def model(folder: Path) -> Checkpoint:
    """That model, opened here."""
    return checkpoint.load(folder / "looks-around", "cpu")


@pytest.fixture(scope="module")
def own_app(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """The real app with that folder beside the shipped models."""
    log = tmp_path_factory.mktemp("encoder") / "log.txt"
    environment = {"HEADLIGHT_CHECKPOINTS": str(folder), "HEADLIGHT_DEVICE": "cpu"}
    with running_app(log, environment=environment) as running:
        yield running


@pytest.fixture(scope="module")
def visitor(browser: Browser, own_app: RunningApp) -> Iterator[Page]:
    """A visitor of it, who must see no error."""
    with visitor_of(browser, own_app) as page:
        yield page


@pytest.fixture
def page(visitor: Page) -> Page:
    """The page Encoder, drawn, with the fourth word hidden."""
    visitor.unroute_all()
    visitor.mouse.move(1, 1)
    visitor.goto("about:blank")
    visitor.goto(ADDRESS)
    visitor.locator(f"{INSTRUMENT}[data-drawn*=' ']").wait_for()
    for key in ("both-sides", "under-the-mask"):
        figure(visitor, key).locator(".js-plotly-plot .main-svg").first.wait_for()
    wait_until_idle(visitor)
    return visitor


def test_a_word_is_hidden_and_has_its_distribution_and_its_attention(
    page: Page, model: Checkpoint
) -> None:
    box = page.locator(".st-key-cloze").bounding_box()
    assert box is not None
    assert box["y"] <= OVER_ONE_SCREEN
    words = page.locator(".hl-cloze-words button")
    words.nth(1).click()
    expect(page.locator(".hl-cloze-found tbody tr")).to_have_count(2)
    page.wait_for_url("**blanks=1*3*")
    assert query(page)["blanks"] == "1,3"
    trace = model.trace(Blanked(SENTENCE, (1, 3))).trace
    probs = softmax(trace.logits.astype(np.float64))
    token = model.tokenizer.encode(SENTENCE)[1]
    row = page.locator(".hl-cloze-found tr[data-place='1']")
    expect(row.locator("[data-number=p]")).to_have_text(digits(probs[1, token], 3))
    best = model.tokenizer.token_strings([int(probs[1].argmax())])[0].strip()
    expect(words.nth(1).locator(".hl-cloze-guess")).to_contain_text(best)
    expect(page.locator(".hl-cloze-filled h3")).to_have_text("In place of had")
    assert page.locator(".hl-cloze-filled .hl-bars text").count() > 16
    expect(page.locator(".hl-cloze-right .hl-tick-row", has_text=MASK)).to_have_count(2)


def test_the_causal_mask_takes_the_triangle_away(page: Page, model: Checkpoint) -> None:
    cells = (
        "() => document.querySelector('.hl-cloze-right .js-plotly-plot').calcdata[0][0].z"
        ".map((row) => Array.from(row).map((x) => x == null || Number.isNaN(x)))"
    )
    assert not np.array(page.evaluate(cells)).any()
    page.get_by_role("radio", name="causal mask").check()
    page.wait_for_url("**causal=yes*")
    n = len(model.tokenizer.encode(SENTENCE))
    later = np.triu(np.ones((n, n), bool), 1)
    page.wait_for_function(f"() => ({cells})()[0].some(Boolean)")
    np.testing.assert_array_equal(np.array(page.evaluate(cells)), later)
    expect(page.get_by_text("mean of the hidden tokens, causal mask")).to_be_visible()


def test_words_are_hidden_by_keyboard_and_all_at_once(page: Page) -> None:
    words = page.locator(".hl-cloze-words button")
    words.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(words.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".hl-cloze-found tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Hide all").click()
    expect(page.locator(".hl-cloze-says")).to_contain_text("Every token is hidden")
    expect(page.locator(".hl-cloze-found tbody tr")).to_have_count(words.count())
    page.get_by_role("button", name="Hide none").click()
    expect(page.locator(".hl-cloze-says")).to_contain_text("Nothing is hidden")
    expect(page.locator(".hl-cloze-found tbody tr")).to_have_count(0)
    page.wait_for_url("**blanks=none*")


def test_each_is_hidden_in_turn_until_it_is_stopped(page: Page) -> None:
    page.get_by_role("button", name="Hide each in turn").click()
    words = page.locator(".hl-cloze-words button")
    for place in (0, 1, 2):
        expect(words.nth(place)).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".hl-cloze-words [aria-pressed=true]")).to_have_count(1)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Hide each in turn")).to_be_visible()


def test_another_head_is_drawn_and_stays_in_the_address(page: Page) -> None:
    page.locator(".hl-grid-of-heads").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".hl-cloze-right h3")).to_contain_text("L5 H1")
    page.wait_for_url("**at=encoder.attn.5.1*")


def test_a_tab_of_this_page_is_as_wide_as_its_window(page: Page) -> None:
    for width in (390, 800, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(600)
        wait_until_idle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = page.locator(".st-key-cloze").evaluate("x => [x.scrollWidth, x.clientWidth]")
        assert inside[0] <= inside[1] + 1, width
    page.set_viewport_size({"width": 1400, "height": 900})
