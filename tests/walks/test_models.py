"""A person draws a digit, hides a word, steers a translation: other models answer as they do."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model import reference
from model.given import Blanked
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint, find_folder
from tests.model.builders import softmax
from tests.screen import TOM, query, settle, visit
from viz.digits import digits
from viz.frame.settings import DRAWING
from viz.labels import token_labels

INSTRUMENT = ".st-key-digit_pad .hl-live"
RIDES = "A man rides a bicycle."
ONE = [(0.5, 0.12), (0.5, 0.4), (0.5, 0.65), (0.5, 0.88)]  # places on the pad, in sides of it


def pad(page: Page) -> Locator:
    """Where one draws."""
    return page.get_by_role("img", name="Draw a digit here")


def draw(page: Page, places: list[tuple[float, float]]) -> None:
    """One stroke; the pen stays down."""
    box = pad(page).bounding_box()
    assert box is not None
    for number, (x, y) in enumerate(places):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=3)
        if not number:
            page.mouse.down()


def expected(pixels: bytes) -> list[str]:
    """What an independent run gives for the classes of a picture."""
    image = np.frombuffer(pixels, np.uint8).reshape(28, 28) / 255
    found = dict(reference.arrays(reference.read(find_folder("digits")), image))
    return [digits(float(x), 3) for x in softmax(found["output"][0])]


def test_the_page_follows_a_wrong_digit_a_stroke_and_an_empty_drawing(page: Page) -> None:
    visit(page, page="Vision")
    answer = page.locator(f"{INSTRUMENT} .hl-digit-pad-answer")
    expect(answer).to_contain_text("The model says 7")
    expect(answer).to_contain_text("right")
    page.get_by_label("it gets wrong").check()
    expect(answer).to_contain_text("wrong, it is a")
    settle(page)
    draw(page, ONE)
    expect(answer).to_contain_text("The model says 1,")  # the pen is still down
    expect(answer).not_to_contain_text("wrong")
    expect(page.locator(INSTRUMENT)).to_contain_text("your own picture")
    assert "drawing" not in query(page)
    page.mouse.up()
    page.wait_for_url("**drawing=*")
    drawing = query(page)["drawing"]
    pixels = DRAWING.pixels(drawing)
    assert pixels is not None
    # The answer to the last point of the stroke comes when it comes.
    expect(page.locator(f"{INSTRUMENT} .hl-dist-number")).to_have_text(expected(pixels))
    settle(page)
    given = page.locator(".hl-given-picture")
    before = given.get_attribute("src")
    page.get_by_role("button", name="Clear", exact=True).click()
    said = re.compile(r"^An empty picture: draw a digit\. Of nothing at all the model says (\d), p")
    expect(answer).to_have_text(said)
    page.wait_for_url(lambda url: "drawing=" in url and f"drawing={drawing}" not in url)
    expect(given).not_to_have_attribute("src", before or "")
    best = said.match(answer.inner_text())
    assert best is not None
    expect(page.get_by_text(f" for {best[1]} at the least")).to_be_visible()


@pytest.fixture(scope="module")
def blank() -> Checkpoint:
    """The shipped model that fills in hidden words, opened here."""
    return checkpoint.load("blank", "cpu")


def test_words_are_hidden_and_filled_and_a_mask_takes_the_right_side_away(
    page: Page, blank: Checkpoint
) -> None:
    visit(page, page="Masked language model", sentence=TOM, blanks="3")
    tokens, says = page.locator(".hl-home-tokens button"), page.locator(".hl-home-says")
    ids = blank.tokenizer.encode(TOM)
    alone = blank.trace(Blanked(TOM, (3,))).trace.logits[3]
    guess = int((alone > alone[ids[3]]).sum()) + 1
    expect(says).to_contain_text("Correct." if guess == 1 else f"its guess number {guess:,}")
    tokens.nth(1).click()
    page.wait_for_url("**blanks=1*3**")
    page.mouse.move(0, 0)
    probs = softmax(blank.trace(Blanked(TOM, (1, 3))).trace.logits.astype(np.float64))
    for place in (1, 3):
        best = int(probs[place].argmax())
        expect(tokens.nth(place)).to_contain_text(blank.tokenizer.token_strings([best])[0].strip())
        right = "hl-right" if best == ids[place] else "hl-wrong"
        expect(tokens.nth(place)).to_contain_class(right)
    first = page.locator(".hl-home-next li").first
    expect(first).to_have_attribute("data-after", re.compile(f"^{probs[1].max():.4f}"[:6]))
    maps = page.get_by_role("application", name="with 48 heads")
    maps.focus()
    for key in ("ArrowRight", "Enter"):
        maps.press(key)
    page.wait_for_url("**layer=0*head=0*large=yes**")
    cells = (
        "() => document.querySelector('.hl-home-large .js-plotly-plot')?.calcdata?.[0][0].z"
        ".map((row) => Array.from(row).map((x) => x == null || Number.isNaN(x)))"
    )
    page.wait_for_function(f"() => ({cells})()?.length === {len(ids)}")
    assert not np.array(page.evaluate(cells)).any()
    page.get_by_text("Causal mask", exact=True).click()
    page.wait_for_url("**causal=yes*")
    n = len(ids)
    page.wait_for_function(f"() => ({cells})()?.[0].some(Boolean)")
    np.testing.assert_array_equal(np.array(page.evaluate(cells)), np.triu(np.ones((n, n), bool), 1))


def test_a_german_word_finds_its_english_one_and_another_is_put_in_its_place(page: Page) -> None:
    visit(page, page="Translation", source=RIDES)
    tokens, says = page.locator(".hl-home-tokens button"), page.locator(".hl-home-says")
    trace = checkpoint.load("translate", "cpu").trace(RIDES).trace
    source, target = trace.streams
    maps = page.get_by_role("application", name="with 48 heads")
    maps.focus()
    for key in (*8 * ["ArrowRight"], "ArrowDown"):
        maps.press(key)
    weights = trace.group("decoder.cross_attn").records[1].pattern[1]
    for n in (3, 1):
        tokens.nth(len(source) + n).hover()
        best = int(weights[n].argmax())
        english = token_labels(source.labels)[best]
        expect(says).to_contain_text(
            f"Cross L1 H1: “{token_labels(target.labels)[n]}” attends to “{english}” "
            f"{weights[n, best]:.2f}"
        )
    tokens.nth(len(source) + 1).click()  # it is kept on the way to the list
    word = token_labels(target.labels)[1]
    expect(page.locator(".hl-home-next h2")).to_have_text(re.compile(f"“{re.escape(word)}”$"))
    row = page.locator(".hl-home-next li").nth(4)
    label = row.locator("bdi").inner_text()
    row.click()
    page.wait_for_url("**forced=*")
    assert len(query(page)["forced"].split("-")) == 2
    expect(tokens.nth(len(source) + 2)).to_have_text(label)
    page.get_by_role("button", name="Forget the 2 tokens that you chose").click()
    expect(tokens.nth(len(source) + 2)).to_have_text(token_labels(target.labels)[2])
