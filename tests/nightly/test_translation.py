"""Protects translations in a real browser: a small model, its words hovered and steered."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from tests.model.builders import tiny_translation_checkpoint
from tests.screen import figure, query, wait_until_idle
from tests.serving import RunningApp, running_app
from tests.visiting import visitor_of
from viz.digits import digits

SOURCE = "A dog ran."
ADDRESS = "/?page=Translation&source=A+dog+ran.&translator=tiny"
INSTRUMENT = ".st-key-translation .hl-live"
OVER_ONE_SCREEN = 220  # pixels above the first figure


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoints with one small encoder-decoder."""
    found = tmp_path_factory.mktemp("translators")
    tiny_translation_checkpoint(found / "tiny")
    return found


@pytest.fixture(scope="module")
def model(folder: Path) -> Checkpoint:
    """That model, opened here."""
    return checkpoint.load(folder / "tiny", "cpu")


@pytest.fixture(scope="module")
def own_app(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """The real app with that folder beside the shipped models."""
    log = tmp_path_factory.mktemp("translation") / "log.txt"
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
    """The page of translations, drawn."""
    visitor.unroute_all()
    visitor.mouse.move(1, 1)
    visitor.goto(ADDRESS)
    visitor.locator(f"{INSTRUMENT}[data-drawn*=' ']").wait_for()
    wait_until_idle(visitor)
    return visitor


def test_a_german_word_finds_its_english_one(page: Page, model: Checkpoint) -> None:
    trace = model.trace(SOURCE).trace
    weights = trace.group("decoder.cross_attn").records[-1].pattern[0]
    german = page.locator(".hl-tr-row[aria-label=German] button")
    english = page.locator(".hl-tr-row[aria-label=English] > *")
    for n in (3, 1):
        german.nth(n).hover()
        expect(german.nth(n)).to_contain_class("hl-looked")
        best = int(weights[n].argmax())
        expect(english.nth(best)).to_contain_class("hl-tr-strongest")
        expect(english.nth(best).locator("small")).to_have_text(digits(weights[n, best], 2))
        expect(page.locator(".hl-tr-best")).to_have_attribute("data-source", str(best))
    box = page.locator(".st-key-translation").bounding_box()
    assert box is not None
    assert box["y"] <= OVER_ONE_SCREEN


def test_another_token_is_put_and_the_rest_is_written_from_it(page: Page) -> None:
    german = page.locator(".hl-tr-row[aria-label=German] button")
    german.nth(1).click()
    option = page.locator("button.hl-tr-option").nth(4)
    label = option.locator("bdi").inner_text()
    option.click()
    expect(german.nth(1).locator("bdi")).to_contain_text(label)
    expect(german.nth(1)).to_contain_class("hl-tr-forced")
    page.wait_for_url("**forced=*")
    assert len(query(page)["forced"].split("-")) == 2
    page.get_by_role("button", name="Undo your choices").click()
    expect(page.locator(".hl-tr-forced")).to_have_count(0)


def test_what_stands_below_follows(page: Page) -> None:
    page.get_by_label("German", exact=True).last.fill("Ein Hund lief.")
    figure(page, "forced").locator(".js-plotly-plot .main-svg").first.wait_for()
