"""Protects the lesson Attention by hand: its examples, its answer, and its way into the model."""

import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.heads import strongest_pair
from model.analysis.worked import work_out
from tests.viz.apps import TOM, lines, open_page
from tests.viz.builders import stories_trace
from viz.frame.settings import HAND_CELLS
from viz.pages.lessons import by_hand as page

TITLE = "Attention by hand"


def opened(**query: str) -> AppTest:
    """The page without an error."""
    app = open_page(TITLE, sentence=TOM, **query)
    assert lines(app, "error") == []
    return app


def html(app: AppTest) -> list[str]:
    """What the page says in HTML of its own."""
    return [element.proto.body for element in app.get("html")]


def test_the_first_example_is_what_the_page_begins_with() -> None:
    usual = {name: setting.default for name, setting in page.SETTINGS.items()}
    assert page.EXAMPLES[0].settings == usual


def test_the_answer_does_what_the_question_asks() -> None:
    usual = {name: setting.default for name, setting in page.SETTINGS.items()}
    assert page.EXAMPLES[-1].settings == usual | {"cells": page.ANSWER}, "it says why"
    weights = work_out(page._example(usual | {"cells": page.ANSWER})).weights[0]
    assert weights[1, 1] > 0.99
    assert weights[0, 0] == weights[0, 1]


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


def test_it_ends_at_the_head_above() -> None:
    app = opened(layer="1", head="3")
    pattern = stories_trace(TOM).attention[1].pattern[3]
    query, key = strongest_pair(pattern)
    (ways,) = [body for body in html(app) if "hl-ways" in body]
    assert f"cell={query}-{key}" in ways
    assert f"weight {pattern[query, key]:.3f}" in ways


def test_the_link_of_the_answer_changes_these_settings_alone() -> None:
    (question,) = [body for body in html(opened()) if "hl-question" in body]
    assert HAND_CELLS.name in question
    assert "page=" not in question
