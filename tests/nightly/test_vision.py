"""Protects drawing in a real browser: the model's answer follows the hand, and is the model's."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.screen import query, visit
from tests.walks.test_models import INSTRUMENT, draw, expected, shown
from viz.frame.given import shipped_digits
from viz.frame.settings import DRAWING


@pytest.fixture
def sketch(page: Page) -> Page:
    """The page with the shipped model and the first of the test digits."""
    visit(page, page="Vision")
    return page


def test_the_first_stroke_replaces_a_test_digit_and_the_next_adds_to_it(sketch: Page) -> None:
    first = shipped_digits().images[0].tobytes()
    assert shown(sketch) == expected(first)
    for x, n_columns in ((0.3, range(1, 8)), (0.7, range(8, 21))):
        draw(sketch, [(x, 0.2), (x, 0.8)])
        sketch.mouse.up()
        before = query(sketch).get("drawing")
        sketch.wait_for_function(
            "x => new URL(location).searchParams.get('drawing') != x", arg=before
        )
        pixels = DRAWING.pixels(query(sketch)["drawing"])
        assert pixels is not None
        columns = np.nonzero(np.frombuffer(pixels, np.uint8).reshape(28, 28).any(axis=0))[0]
        assert np.ptp(columns) + 1 in n_columns, "of one line, then of two"


def test_a_picture_of_nothing_is_refused_and_the_last_one_stays(
    sketch: Page, tmp_path: Path
) -> None:
    white = tmp_path / "white.png"
    Image.new("L", (200, 200), 255).save(white)
    sketch.get_by_label("A picture of a digit").set_input_files(white)
    answer = sketch.locator(f"{INSTRUMENT} .hl-sketch-answer")
    expect(answer).to_contain_text("Nothing stands on this picture")
    expect(sketch).not_to_have_url(re.compile("drawing="))


def test_what_is_no_picture_is_one_line_and_a_large_one_is_made_small(
    sketch: Page, tmp_path: Path
) -> None:
    answer = sketch.locator(f"{INSTRUMENT} .hl-sketch-answer")
    upload = sketch.get_by_label("A picture of a digit")
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
    sketch.wait_for_url("**drawing=*")


def test_another_head_and_patch_are_chosen(sketch: Page) -> None:
    heads = sketch.get_by_role("group", name="Heads")
    heads.get_by_role("button", name="L3 H2", exact=True).click()
    expect(sketch.locator(INSTRUMENT)).to_contain_text("L3 H2, from [CLS]")
    box = sketch.locator(f"{INSTRUMENT} .hl-sketch-picture").bounding_box()
    assert box is not None
    sketch.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    expect(sketch.locator(INSTRUMENT)).to_contain_text("L3 H2, from patch 3,3")
