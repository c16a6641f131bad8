"""Protects the lesson Attention by hand: its examples, its answer, and its way into the model."""

import tomllib
from urllib.parse import parse_qsl

from model.analysis.worked import work_out
from viz.frame.settings import HAND_CELLS
from viz.frame.tour_files import FOLDER
from viz.pages.lessons import by_hand as page


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
    path = FOLDER / "03-by-hand.toml"
    shown = tomllib.loads(path.read_text(encoding="utf-8"))["step"][1]["show"]
    query = {name: value for name, value in parse_qsl(shown) if name != "page"}
    assert query[HAND_CELLS.name] == answer["cells"]
