"""Protects the lesson Attention by hand: its examples, its answer, and its way into the model."""

import tomllib
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.heads import strongest_pair
from model.analysis.worked import work_out
from tests.viz.apps import TOM, chart, lesson, lines, open_page
from tests.viz.builders import numbers, stories_trace
from viz.frame import tours
from viz.frame.settings import HAND_CELLS
from viz.pages.lessons import by_hand as page

TITLE = "Attention by hand"


def opened(**query: str) -> AppTest:
    """The page without an error."""
    app = open_page(TITLE, sentence=TOM, **query)
    assert lines(app, "error") == []
    return app


def test_the_first_example_is_what_the_page_begins_with() -> None:
    usual = {name: setting.default for name, setting in page.SETTINGS.items()}
    assert page.EXAMPLES[0].settings == usual


def test_the_answer_does_what_the_question_asks() -> None:
    usual = {name: setting.default for name, setting in page.SETTINGS.items()}
    answer = page.EXAMPLES[-1].settings
    assert answer == usual | {"cells": answer["cells"]}, "it says why"
    weights = work_out(page._example(answer)).weights[0]
    assert weights[1, 1] > 0.99
    assert weights[0, 0] == weights[0, 1]
    path = tours.FOLDER / "03-by-hand.toml"
    shown = tomllib.loads(path.read_text(encoding="utf-8"))["step"][1]["show"]
    query = {name: value for name, value in parse_qsl(shown) if name != "page"}
    assert query[HAND_CELLS.name] == answer["cells"]


def test_words_have_the_first_row_of_the_numbers() -> None:
    weight = 1 / (1 + np.exp(-(0.5**0.5)))
    assert f"add up to 1, here {weight:.2f}, {1 - weight:.2f}, and" in lesson(opened())
    cells = "1,0;0,1;1,1|1,0;0,1;1,1|1,0;0,1;1,1|"
    said = lesson(opened(hand_cells=cells, hand_masking="causal", hand_scaled="no"))
    assert "the scores of the first query are 1.00, 0, 1.00." in said
    assert "add up to 1, here 1.00, 0, 0, and" in said


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ({"hand_cells": "1,x|1|1|"}, "Q row 1, column 2: “x” is not a number."),
        (
            {"hand_cells": "1|1|1|", "hand_heads": "2"},
            "1 of Q's columns cannot be split among 2 heads",
        ),
        ({"hand_cells": "<b>|1|1|"}, "Q row 1, column 1: “<b>” is not a number."),
    ],
)
def test_numbers_that_are_none_are_one_line_and_the_first_example(query: dict, line: str) -> None:
    (said,) = lines(opened(**query), "note")
    assert line in said
    assert said.endswith("Showing the first example.")


def test_a_head_of_the_model_does_the_same() -> None:
    app = opened(scene="model", layer="1", head="3")
    record = stories_trace(TOM).attention[1]
    query, key = strongest_pair(record.pattern[3])
    weight = record.pattern[3][query, key]
    assert f"softmax with weight {weight:.3f}" in lesson(app)
    np.testing.assert_allclose(numbers(chart(app, "hand-model").data[0]["z"])[query, key], weight)
    (panel,) = [x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body]
    assert f"cell={query}-{key}" in panel
