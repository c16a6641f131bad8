"""Protects the kinds of settings: text and value say the same, and the nearest is the nearest."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.given import Turn
from viz.frame.kinds import (
    Cells,
    Choice,
    Flag,
    Group,
    Ids,
    Number,
    Numbers,
    Pair,
    Places,
    Setting,
    Text,
    Turns,
)

LAYER = Choice("layer", "Layer", 2, range(6), words="L{}".format)
ORDER = Choice("order", "Order", ("a", "b"), (("a", "b"), ("b", "a")), words=", ".join)
FLAG = Flag("flag", "Flag", False)
SHARE = Number("share", "Share", 0.8, 0.1, 1.0, 0.05)
COUNT = Number("count", "Count", 40, 1, 1000)
TOP = Number("top", "Top", None, 1, 4096, none="all")
OWN = Group("own", "Own", (3, True), (Number("n", "n", 3, 1, 9), FLAG))
CELL = Pair("cell", "Cell", None, limits=(13, 7))
DIMENSIONS = Numbers("dimensions", "Dimensions", (0,), options=range(9), most=3)
EDITS = Cells("edits", "Edits", (), n=13)
SENTENCE = Text("sentence", "Sentence", "")
BLANKS = Places("blanks", "Blank", (4,), n=9)
SAID = Turns("before", "Turns before", ())
TARGET = Ids("target", "Target", (), n=9, most=4)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        (LAYER, 5), (LAYER, 0), (ORDER, ("b", "a")), (FLAG, True), (FLAG, False), (SHARE, 0.35),
        (SHARE, 1.0), (COUNT, 1000), (TOP, None), (TOP, 7), (OWN, (3, True)), (OWN, (9, False)),
        (CELL, None), (CELL, (12, 6)), (DIMENSIONS, ()), (DIMENSIONS, (8, 1)),
        (EDITS, ()), (EDITS, ((3, 1), (0, 12))), (SENTENCE, ""), (SENTENCE, "3-1, ½ & “x”"),
        (SAID, ()), (SAID, (Turn("user", "Hi [“;”] 😀"), Turn("assistant", ""))),
        (TARGET, ()), (TARGET, (3, 1, 3)), (BLANKS, ()), (BLANKS, (0, 3, 8)),
    ],
    ids=lambda value: getattr(value, "name", repr(value)),  # the same in every process
)  # fmt: skip
def test_a_possible_value_comes_back_from_its_text_and_from_json(
    setting: Setting, value: object
) -> None:
    """JSON has lists where a value has tuples, and both come from the browser."""
    assert setting.nearest(setting.text(value)) == (value, None)
    assert setting.nearest(value) == (value, None)
    sent = list(map(list, value)) if setting is EDITS else value
    assert setting.nearest(list(sent) if isinstance(sent, tuple) else sent) == (value, None)


@pytest.mark.parametrize(
    ("setting", "raw", "value", "line"),
    [
        (LAYER, "L9", 5, "Layer L9 does not exist here; showing L5."),
        (BLANKS, "7,12,2", (2, 7),
         "Blank 12 cannot be shown: the sentence has 9 tokens, counted from 0."),
        (BLANKS, [9, "x"], (4,),
         "Blank 9, x cannot be shown: the sentence has 9 tokens, counted from 0."),
        (BLANKS, "3,3,1", (1, 3), None),
        (LAYER, "-3", 0, "Layer -3 does not exist here; showing L0."),
        (LAYER, "inf", 5, "Layer inf does not exist here; showing L5."),
        (LAYER, " ", 2, "Layer (empty) does not exist here; showing L2."),
        (ORDER, "c,a", ("a", "b"), "Order c,a does not exist here; showing a, b."),
        (FLAG, "1", False, "Flag 1 does not exist here; showing no."),
        (SHARE, "7", 1.0, "Share 7 is outside 0.1 to 1; using 1."),
        (SHARE, "-inf", 0.1, "Share -inf is outside 0.1 to 1; using 0.1."),
        (SHARE, "0.37", 0.35, "Share 0.37 is between steps of 0.05; using 0.35."),
        (SHARE, "nan", 0.8, "Share nan is not a number; using 0.8."),
        (TARGET, "3-9-1", (3,), "Target: 2 of 3 cannot be used here and are left out."),
        (SAID, '[["user","a"],["wizard","b"]]', (),
         'Turns before [["user","a"],["wizard","b"]] are not such as [["user","Hello"]]; showing '
         "none."),
        (SAID, "3", (), 'Turns before 3 are not such as [["user","Hello"]]; showing none.'),
        (SAID, [["user", None]], (),
         "Turns before [['user', None]] are not such as [[\"user\",\"Hello\"]]; showing none."),
        (SAID, [["user", "a\ud800"]], (Turn("user", "a?"),),
         "Turns before has half a character (a lone surrogate); each is shown as “?”."),
        (TARGET, "x", (), "Target: 1 of 1 cannot be used here and are left out."),
        (TARGET, [1, 1, 1, 1, 1], (1, 1, 1, 1), "Target: 1 of 5 cannot be used here and are left "
         "out."),
        (COUNT, "2.7", 2, "Count 2.7 is not a whole number; using 2."),
        (COUNT, 99_999, 1000, "Count 99999 is outside 1 to 1,000; using 1,000."),
        (TOP, "many", None, "Top many is not a number; using all."), (TOP, "90000", None, None),
        (OWN, "99,no", (9, False), "n 99 is outside 1 to 9; using 9."),
        (OWN, "4", (4, True), "Own: 1 of 2 values; the others are the default’s."),
        (OWN, "4,no,1", (3, True), "Own 4,no,1 is not up to 2 values; using the default."),
        (OWN, ",no", (3, True), "Own ,no is not up to 2 values; using the default."),
        (CELL, [20, 3], (12, 3), "Cell 20-3 does not exist; showing 12-3."),
        (CELL, "3", None, "Cell 3 is not two numbers such as 3-1; showing the default."),
        (DIMENSIONS, "3-x-99-3", (3,), "Dimensions x, 99 cannot be shown here."),
        (DIMENSIONS, [4, 3, 2, 1], (4, 3, 2), "Dimensions 1 cannot be shown here."),
        (EDITS, "1-1.x.2-99.1-1", ((1, 1),), "2 edited cells do not exist here: cells are such as "
         "2-0, below 13 tokens."),
    ],
    ids=lambda x: str(x)[:30],
)  # fmt: skip
def test_an_impossible_value_becomes_the_nearest_and_a_line_says_so(
    setting: Setting, raw: object, value: object, line: str
) -> None:
    assert setting.nearest(raw) == (value, line)
    assert setting.nearest(value) == (value, None), "which is possible"


def test_half_a_character_becomes_a_question_mark() -> None:
    line = "Sentence has half a character (a lone surrogate); each is shown as “?”."
    assert SENTENCE.nearest("a\ud83d") == ("a?", line)
    assert SENTENCE.nearest("\ud83d\ude00\n😀") == (
        "??\n😀",
        "Sentence has 2 half characters (a lone surrogate); each is shown as “?”.",
    )


def test_what_only_the_model_knows_is_given() -> None:
    few = LAYER.given(options=range(2), default=1)
    assert few.nearest("5") == (1, "Layer 5 does not exist here; showing L1.")
    assert LAYER.nearest("5") == (5, None), "the declared one stays as it is"


@given(st.floats())
def test_a_number_is_the_nearest_of_all_that_are_possible(wanted: float) -> None:
    value, line = SHARE.nearest(str(wanted))
    possible = [round(0.05 * i, 10) for i in range(2, 21)]
    assert value in possible
    assert (line is None) == (wanted in possible or min(abs(wanted - x) for x in possible) <= 1e-9)
    if math.isfinite(wanted):
        assert abs(value - wanted) == pytest.approx(min(abs(x - wanted) for x in possible))


any_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=6
)


@given(any_json)
def test_whatever_is_sent_becomes_a_possible_value(raw: object) -> None:
    for setting in (
        LAYER,
        ORDER,
        FLAG,
        SHARE,
        COUNT,
        TOP,
        OWN,
        CELL,
        DIMENSIONS,
        EDITS,
        SENTENCE,
    ):
        value, _ = setting.nearest(raw)
        assert setting.nearest(setting.text(value)) == (value, None)
