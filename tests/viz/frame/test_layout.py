"""Protects what every figure is drawn with: nothing leaves the machine, and it can be saved."""

import re

import pytest

from tests.viz.apps import TOM, charts, open_page
from viz.kit.files import script
from viz.theme import DARK, LIGHT, css_variables


def test_the_camera_saves_in_the_chosen_format() -> None:
    app = open_page("Masks", sentence=TOM, image_format="svg", inspect="export")
    assert {sent["image_format"] for sent in charts(app)} == {"svg"}
    app.segmented_control(key="image_format").set_value("png").run()
    assert {sent["image_format"] for sent in charts(app)} == {"png"}


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_of_the_style_sheet_is_one_of_the_palette(colors: object) -> None:
    sheet = script("live/page.css")
    wanted = set(re.findall(r"var\((--page-\w+)\)", sheet))
    given = dict(re.findall(r"(--page-\w+): (#\w+);", css_variables(colors)))
    assert wanted
    assert wanted <= set(given)
    assert given["--page-accent"] == colors.accent
    assert not re.search(r"#[0-9a-f]{3,8}\b", sheet), "colours are in viz/theme.py alone"
