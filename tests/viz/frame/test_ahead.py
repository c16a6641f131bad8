"""Protects what is answered ahead of the page: word for word and number for number what it says."""

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import TOM, open_page
from tests.viz.builders import stories_trace
from viz.frame.ahead import AHEAD, Ahead
from viz.live import store

TEXT = "The dog and the cat had a red ball. The dog gave the cat"


def ahead_of(app: AppTest) -> Ahead:
    """What answers the box of an opened page."""
    return app.session_state[AHEAD]


def told(app: AppTest, key: str) -> dict[str, Any]:
    """What a part of an opened page was told."""
    sent = (json.loads(element.proto.json) for element in app.get("bidi_component"))
    (data,) = (one for one in sent if one.get("key") == key)
    return {name: data[name] for name in ("spec", "settings", "arrays", "asks")}


PARTS = [
    ("Attention", "attention-part", {"layer": "3", "head": "2", "view": "lines", "cell": "4-2"}),
    ("Home", "home", {"temperature": "0.5"}),
    ("Next token", "writing", {"top_p": "0.9", "top_k": "7", "layer": "1"}),
]


@pytest.mark.parametrize(("page", "key", "given"), PARTS)
def test_a_text_is_answered_as_the_page_says_it(page: str, key: str, given: dict[str, str]) -> None:
    """Of all that stands in the answer: what a part is told, its arrays, and the count."""
    app = open_page(page, sentence=TOM, **given)
    keys = [key, *(["map"] if page != "Home" else [])]
    now = {one: told(app, one)["settings"] for one in keys}
    found = ahead_of(app).more({"sentence": TEXT, "settings": now})
    app.session_state["sentence"] = TEXT
    app.run()
    assert list(found["parts"]) == list(reversed(keys)) or list(found["parts"]) == keys
    for one in keys:
        expected = told(app, one)
        assert {"asks": False, **found["parts"][one]} == expected
        assert list(found["parts"][one]["settings"]) == list(expected["settings"]), "in its order"
    for path, array in found["arrays"].items():
        name, *at = path.split("/")
        np.testing.assert_array_equal(array, store.array(name)[tuple(map(int, at))])
    if page == "Attention":
        about = found["parts"][key]["arrays"]
        pieces = ["decoder.attn.tiles", *(f"decoder.blocks.3.attn.{x}" for x in ("pattern", "q"))]
        tiles, *of_head = (about[name]["id"] for name in pieces)
        assert {tiles, *(f"{one}/2" for one in of_head)} <= found["arrays"].keys(), "of the head"
    if page == "Home":
        about, last = found["parts"][key]["arrays"]["logits"], len(stories_trace(TEXT).tokens) - 1
        assert f"{about['id']}/{last}" in found["arrays"], "of the last token"
    (count,) = [x.value for x in app.get("html") if "hl-count" in str(x.value)]
    assert found["count"] in count


@pytest.mark.parametrize(
    "asked",
    [
        {"sentence": TEXT},
        {"sentence": 3, "settings": {}},
        {"sentence": " ", "settings": {}},
        {"sentence": "a" * 100_000, "settings": {}},
        {"sentence": "go " * 300, "settings": {}},
        {"sentence": "half \ud800", "settings": {}},
        {"settings": {}},
        {},
    ],
    ids=[
        "no settings",
        "number",
        "blank",
        "too long",
        "cut",
        "half a character",
        "no text",
        "nothing",
    ],
)
def test_what_the_page_has_words_for_is_left_to_it(asked: dict[str, object]) -> None:
    assert ahead_of(open_page("Attention", sentence=TOM)).more(asked) == {}


ODD = {"layer": 99, "head": "x", "token": -4}


@pytest.mark.parametrize("now", [{}, {"attention-part": 3}, {"attention-part": ODD}])
def test_whatever_a_browser_says_is_chosen_there_is_an_answer(now: dict[str, object]) -> None:
    answers = ahead_of(open_page("Attention", sentence=TOM))
    assert answers.more({"sentence": TEXT, "settings": now})["parts"]


@pytest.mark.parametrize(
    "given",
    [
        {"page": "Logit lens"},
        {"page": "Attention", "model": "blank", "sentence": "The dog [MASK] the ball."},
        {"page": "Attention", "view": "compare", "against": "sentence", "swap": "2-5"},
    ],
    ids=["charts", "blanks", "two texts"],
)
def test_a_page_that_needs_more_than_the_text_answers_nothing(given: dict[str, str]) -> None:
    page, given = given["page"], {x: y for x, y in given.items() if x != "page"}
    answers = ahead_of(open_page(page, **{"sentence": TOM, **given}))
    assert answers.more({"sentence": TEXT, "settings": {}}) == {}
