"""Protects the style sheet of pages: it has the colours of the palette and no others."""

import re

import pytest

from viz.kit.files import script
from viz.theme import DARK, LIGHT, css_variables


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_of_the_style_sheet_is_one_of_the_palette(colors: object) -> None:
    sheet = script("live/page.css")
    wanted = set(re.findall(r"var\((--page-\w+)\)", sheet))
    given = dict(re.findall(r"(--page-\w+): (#\w+);", css_variables(colors)))
    assert wanted
    assert wanted <= set(given)
    assert given["--page-accent"] == colors.accent
    assert not re.search(r"#[0-9a-f]{3,8}\b", sheet), "colours are in viz/theme.py alone"
