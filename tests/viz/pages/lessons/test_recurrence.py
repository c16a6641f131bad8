"""Protects the lesson on recurrence: its figures hold, bad rows are said."""

import numpy as np
import pytest

from model.recurrence import stored
from model.recurrence.task import TRAINED, ids_of
from tests.model.builders import softmax
from tests.viz.apps import button, chart, chosen, lines, open_page, tables_shown
from tests.viz.builders import numbers
from viz.runs import recurring

TITLE = "Recurrence"
NAMES = ["recurrent, one vector", "recurrent, with attention", "Transformer"]


@pytest.mark.parametrize(
    ("task", "text", "judged"), [("reverse", "headlight", "rows"), ("copy", "abcab", "letters")]
)
def test_accuracies_are_those_that_are_stored(task: str, text: str, judged: str) -> None:
    app = open_page(TITLE, row_task=task, judged_by=judged)
    assert lines(app, "error") == []
    for name, line in zip(stored.NAMES, chart(app, "recurrence-accuracy").data, strict=False):
        found = stored.accuracy_by_length(stored.SHIPPED / name, task, of_rows=judged == "rows")
        for axis, expected in zip("xy", found, strict=True):
            np.testing.assert_array_equal(numbers(line[axis]), expected)
    row = recurring.row_of(task, ids_of(text))
    app = open_page(TITLE, row_task=task, row_letters=text, row_head="5", scene="row")
    additive, cross = (
        numbers(chart(app, f"recurrence-{kind}").data[0]["z"]) for kind in ("additive", "cross")
    )
    np.testing.assert_allclose(additive, softmax(row.attended.energies), atol=1e-6)
    np.testing.assert_allclose(cross, row.patterns[1, 1], atol=1e-6)


def test_each_model_says_what_it_writes_and_how_much_of_it_is_right() -> None:
    sizes, row, counted = (
        tables_shown(open_page(TITLE, row_letters="headlight", row_task="reverse", scene=scene))[0]
        for scene in ("length", "row", "steps")
    )
    assert list(sizes["parameters"]) == NAMES
    assert row["writes"]["right would be"] == "thgildaeh [end]"
    assert row["writes"]["Transformer"] == "thgildaeh [end]"
    assert row["letters at their place"]["recurrent, with attention"] == "9 of 9"
    assert counted["steps, known target"] == dict(zip(NAMES, ("21", "21", "4"), strict=True))
    assert counted["source to target"] == dict(zip(NAMES, ("6", "2", "1"), strict=True))
    kept = stored.read_scores(stored.SHIPPED / "fixed", "reverse")
    share = 100 * kept.n_exact[TRAINED - 1] / kept.n_rows
    assert float(sizes[f"% at {TRAINED}"][NAMES[0]]) == pytest.approx(share, abs=0.05)


def test_the_framed_row_is_that_of_the_token_written() -> None:
    app = open_page(TITLE, row_letters="abc", row_place="2", scene="row")
    (frame,) = chart(app, "recurrence-additive").layout["shapes"]
    assert (frame["y0"], frame["y1"]) == (0.5, 1.5)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "no letters"),
        ("<b>$x$</b>", "'<' is not a symbol"),
    ],
)
def test_a_bad_row_gets_one_line_and_the_last_good_one_stays(typed: str, said: str) -> None:
    app = open_page(TITLE, row_letters="abcd", scene="row")
    before = chart(app, "recurrence-additive").data[0]["z"]
    app = chosen(app, row_letters=typed)
    (line,) = lines(app, "error")
    assert said in line
    assert "Shown is still “abcd”" in line
    assert chart(app, "recurrence-additive").data[0]["z"] == before


def test_a_row_is_drawn_and_stands_where_it_could_be_typed() -> None:
    app = open_page(TITLE, scene="row")
    app = button(app, "Draw a row").click().run()
    (typed,) = [str(box.value) for box in app.text_input if box.key == "row_letters"]
    assert typed != "headlight"
    assert lines(app, "error") == []
    answer = tables_shown(app)[0]["writes"]["right would be"]
    assert answer == f"{typed[::-1]} [end]"
