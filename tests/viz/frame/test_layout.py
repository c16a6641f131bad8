"""Protects what every figure is drawn with: nothing leaves the machine, and it can be saved."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import TOM, open_page
from viz.frame.layout import STYLE
from viz.theme import DARK, LIGHT, css_variables


def configs(app: AppTest) -> list[dict]:
    """What Plotly is told about each chart of a page."""
    return [json.loads(element.proto.config) for element in app.get("plotly_chart")]


@pytest.mark.parametrize("page", ["Positions", "Masks", "Lens", "Cache"])
def test_no_chart_offers_to_upload_itself(page: str) -> None:
    """plotly.js 4 has a button that sends a chart to a cloud, on unless it is told otherwise."""
    for config in configs(open_page(page, sentence=TOM)):
        assert config["showSendToCloud"] is False
        assert config["plotlyServerURL"] == ""
        assert config["displaylogo"] is False


def test_the_camera_saves_in_the_chosen_format() -> None:
    app = open_page("Masks", sentence=TOM, image_format="svg")
    assert {config["toImageButtonOptions"]["format"] for config in configs(app)} == {"svg"}
    app.segmented_control(key="image_format").set_value("png").run()
    assert {config["toImageButtonOptions"]["format"] for config in configs(app)} == {"png"}


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_of_the_style_sheet_is_one_of_the_palette(colors: object) -> None:
    sheet = STYLE.read_text(encoding="utf-8")
    wanted = set(re.findall(r"var\((--page-\w+)\)", sheet))
    given = dict(re.findall(r"(--page-\w+): (#\w+);", css_variables(colors)))
    assert wanted
    assert wanted <= set(given)
    assert given["--page-accent"] == colors.accent
    assert not re.search(r"#[0-9a-f]{3,8}\b", sheet), "colours are in viz/theme.py alone"
