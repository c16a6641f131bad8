"""Protects the toy task: what a row is, what is right, and one line for what is no row."""

import numpy as np
import pytest

from model.recurrence import task
from model.recurrence.task import END, LONGEST, answer_of, ids_of, source_of
from model.training.objectives.letters import rows_of


def test_a_row_backwards_and_once_more() -> None:
    letters = ids_of("ab zc")
    assert letters == (0, 1, 25, 2)
    assert answer_of("reverse", letters) == [2, 25, 1, 0, END]
    assert answer_of("copy", letters) == [0, 1, 25, 2, END]
    assert source_of("copy", letters) == [task.COPY, 0, 1, 25, 2, END]
    assert task.shown(answer_of("reverse", letters)) == "czba"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "no letters"),
        ("  \t", "no letters"),
        ("abC", "'C' is not a symbol"),
        ("a1", "'1' is not a symbol"),
        ("naïve", "'ï' is not a symbol"),
        ("a" * (LONGEST + 3), "35 letters are more than 32, the most these models are given; take"),
    ],
)
def test_what_is_no_row_gets_one_line(typed: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        ids_of(typed)
    assert "\n" not in str(raised.value)


def test_a_drawn_row_can_be_typed() -> None:
    rng = np.random.default_rng(0)
    lengths = {len(ids_of(task.drawn(rng))) for _ in range(500)}
    assert lengths == set(range(task.SHORTEST_DRAWN, LONGEST + 1))


def test_rows_to_score_with_are_the_same_each_time_and_of_each_length_others() -> None:
    np.testing.assert_array_equal(rows_of("copy", 7, 40), rows_of("copy", 7, 40))
    assert (rows_of("copy", 7, 40) != rows_of("reverse", 7, 40)).any()
    assert rows_of("copy", 7, 40).shape == (40, 7)
