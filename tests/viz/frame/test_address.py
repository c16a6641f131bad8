"""Protects the address: what it says is shown or mended, and it says what is shown."""

import re
from urllib.parse import parse_qsl

import pytest

from tests.viz.apps import control, go, lines, open_page, query_of
from viz.frame import navigation, state
from viz.frame.examples import examples

EXAMPLE = examples()[0]

# What a page or its run limits; every kind of setting and reason has a table in test_kinds.py.
MENDED = [
    ("Attention", "model", "../stories", "stories"),
    ("Attention", "layer", "99", 5),
    ("Attention", "cell", "99-2", (15, 2)),
    ("Attention", "other", "9-9", (5, 7)),
    ("Attention", "head", "<script>", EXAMPLE.head),
    ("Next token", "token", "99", 15),
    ("KV cache", "prefill", "99", 16),
    ("KV cache", "held", "3", 5),
    ("Nonsense", "page", "Nonsense", "Home"),
    ("Masked language model", "blanks", "99", (4,)),
    ("Heads", "across", "next", "distance"),
    ("Recurrence", "row_place", "36", 10),
]
LABELS = {
    "token": ("Token", "After token"),
    "other": "Compare with head",
    "page": "No page",
    "blanks": "Blank",
    "row_place": "Token written",
    "held": "Tokens cached",
}


@pytest.mark.parametrize(("page", "key", "raw", "value"), MENDED, ids=lambda x: str(x) or "empty")
def test_impossible_setting_becomes_the_nearest_and_says_so(
    page: str, key: str, raw: str, value: object
) -> None:
    app = open_page(page, **{key: raw}, **({"scene": "row"} if key == "row_place" else {}))
    assert control(app, key) == value
    (line,) = lines(app, "note")
    assert line.startswith(LABELS.get(key, key.capitalize()))
    assert raw in line
    assert lines(app, "error") == []
    app.run()
    assert lines(app, "note") == [], "said once"
    assert control(app, key) == value


def test_a_setting_of_another_page_in_the_address_waits_for_its_page() -> None:
    """As in links copied when every address carried everything."""
    app = open_page("Masks", scheme="alibi", full="slide", model="positions-rope")
    assert query_of(app) == {"page": ["Masks"], "model": ["positions-rope"]}
    go(app, "Positional encoding")
    assert control(app, "scheme") == "alibi"
    assert query_of(app)["scheme"] == ["alibi"]
    go(app, "Masks")
    assert "scheme" not in query_of(app)
    go(app, "Next token")
    assert control(app, "full") == "slide"


@pytest.mark.parametrize(
    ("title", "scene"),
    [
        (title, scene)
        for title, scenes in navigation.MOVED.items()
        for scene in (*scenes, *(["gone"] if "" in scenes else ()))
    ],
)
def test_an_old_address_leads_where_its_figure_stands_today(title: str, scene: str) -> None:
    old = {"scene": scene} if scene else {}
    app = open_page(title, sentence="Tom ran.", **old)
    assert lines(app, "note") + lines(app, "error") == []
    scenes = navigation.MOVED[title]
    wanted = dict(parse_qsl(scenes.get(scene, scenes.get(""))))
    assert {name: str(control(app, name)) for name in wanted} == wanted
    assert query_of(app)["page"] == [wanted.get("page", title)]


def test_who_goes_on_before_back_was_drawn_leaves_a_step_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = {"page": "Attention", "sentence": "Tom"}
    monkeypatch.setattr(
        state.st, "session_state", {"page": "Attention", state.VISIT: state.Visit(dict(start))}
    )
    state.steps(start)
    state.take_over({"sentence": "a cat"})
    assert state.steps(start | {"sentence": "a cat"}) == 1
    state.go(query="page=Attention&sentence=Tom")
    state.take_over({"sentence": "a dog"})  # the address that Back led to was never written
    state.go("Heads")
    assert state.steps({"page": "Heads", "sentence": "a dog"}) == 2
    state.go(query="page=Attention&sentence=Tom")
    assert state.steps(start) == 0


def test_who_leaves_a_lesson_is_on_its_page_with_what_was_there_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {"page": "Attention", "sentence": "my own", "layer": "2", "temperature": "0.5"}
    session = {"page": "Attention", state.VISIT: state.Visit(dict(own))}
    monkeypatch.setattr(state.st, "session_state", session)
    lesson = "page=Next+token&tour=09-sampling&step=1&sentence=Once&temperature=1.0"
    state.go(query=lesson, is_new=True)
    state.go(query=lesson.replace("step=1", "step=2"), is_new=True)
    assert state.visit().address["sentence"] == "Once"
    left = lesson.replace("tour=09-sampling&step=1&", "")
    state.go(query=left, is_new=True)
    address = state.visit().address
    assert address == {**own, "page": "Next token"}
    assert (session["sentence"], session["temperature"]) == ("my own", "0.5")
    state.go(query=left, is_new=True)  # without a lesson there is nothing to leave
    assert state.visit().address["sentence"] == "Once"


@pytest.mark.parametrize("text", [17_000 * "a", 1_900 * "あ"])
def test_what_is_too_long_for_an_address_is_said_and_left_out(text: str) -> None:
    """Our server takes 16 KB, a proxy 8: a reload of what the page wrote was answered with 400."""
    app = open_page("Transformer block", sentence=text)
    assert query_of(app) == {"page": ["Transformer block"]}
    assert any(
        line.startswith("Sentence is too long for the address") for line in lines(app, "note")
    )
    assert control(app, "sentence") == text
    links = [link for e in app.get("html") for link in re.findall('href="(.*?)"', e.proto.body)]
    assert links and max(map(len, links)) < 1_000


def test_two_texts_are_too_long_together() -> None:
    texts = {"sentence": 3_600 * "a", "second": 3_600 * "b"}
    app = open_page("Attention", view="compare", against="sentence", **texts)
    shown = query_of(app)
    assert sum(name in shown for name in texts) == 1
    assert {name: control(app, name) for name in texts} == texts


def test_what_is_not_ours_stays_in_the_address() -> None:
    app = open_page("Masks", utm="x", full="slide")
    assert query_of(app) == {"page": ["Masks"], "utm": ["x"]}
