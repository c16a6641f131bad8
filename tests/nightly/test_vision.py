"""Protects drawing in a real browser: the model's answer follows the hand, and is the model's."""

import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.screen import visit
from tests.walks.test_models import INSTRUMENT


@pytest.fixture
def digit_pad(page: Page) -> Page:
    """The page with the shipped model and the first of the test digits."""
    visit(page, page="Vision")
    return page


def test_a_picture_of_nothing_is_refused_and_the_last_one_stays(
    digit_pad: Page, tmp_path: Path
) -> None:
    white = tmp_path / "white.png"
    Image.new("L", (200, 200), 255).save(white)
    digit_pad.get_by_label("A picture of a digit").set_input_files(white)
    answer = digit_pad.locator(f"{INSTRUMENT} .hl-digit-pad-answer")
    expect(answer).to_contain_text("Nothing stands on this picture")
    expect(digit_pad).not_to_have_url(re.compile("drawing="))


def test_what_is_no_picture_is_one_line_and_a_large_one_is_made_small(
    digit_pad: Page, tmp_path: Path
) -> None:
    answer = digit_pad.locator(f"{INSTRUMENT} .hl-digit-pad-answer")
    upload = digit_pad.get_by_label("A picture of a digit")
    text = tmp_path / "letter.png"
    text.write_text("no picture")
    upload.set_input_files(text)
    expect(answer).to_have_text(
        "letter.png is not a picture that this browser can open, or one too large for it."
    )
    large = Image.new("L", (5000, 8000), 250)  # forty megapixels of paper
    large.paste(20, (2200, 1500, 2800, 6500))
    path = tmp_path / "large.png"
    large.save(path)
    upload.set_input_files(path)
    expect(answer).to_contain_text("The model says 1,")
    digit_pad.wait_for_url("**drawing=*")
