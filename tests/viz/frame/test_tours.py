"""Protects tours: their files are read as data, and every step leads where it says."""

import html
import re
import tomllib
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import charts, lines, open_page
from viz.frame import tour_files
from viz.frame.tour_files import FOLDER, PLACES

GOOD = """title = "A tour"
about = "of one step"

[[step]]
title = "One"
text = "Look."
link = "page=Attention&layer=1"
look = "map"
question = "Why?"
show = "page=Masks"
"""
BROKEN = {
    "unknown-key": (GOOD + 'colour = "red"\n', 11, "unknown key “colour”"),
    "unknown-top": ("speed = 3\n" + GOOD, 1, "unknown key “speed”"),
    "no-page": (GOOD.replace("page=Masks", "page=Nowhere"), 10, "no page “Nowhere”"),
    "no-page-at-all": (GOOD.replace("page=Attention&", ""), 7, "no page"),
    "no-setting": (GOOD.replace("layer=1", "layered=1"), 7, "no setting “layered”"),
    "no-scene": (GOOD.replace("Attention&layer=1", "Attention+by+hand&scene=moon"), 7,
                 "step 1 has no scene “moon” of Attention by hand; there are hand, variance"),
    "no-place": (GOOD.replace('"map"', '"moon"'), 8, "no place “moon”"),
    "no-text": (GOOD.replace('text = "Look."\n', ""), 4, "step 1 has no text"),
    "not-text": (GOOD.replace('"Why?"', "3"), 9, "question must be text"),
}  # fmt: skip

LESSONS = sorted(FOLDER.glob("*.toml"))
FIRST_PAGES = [
    "Tokens", "Embeddings and similarity", "Attention by hand", "Attention by hand", "Masks",
    "Multi-head attention", "Positional encoding", "Transformer block", "Next token",
    "Masked language model", "Lab",
]  # fmt: skip
# What a step says, and where its page has it; what the browser works out is in test_claims.py.
SHOWN = {
    "“unhappily” falls into three pieces": ("Lily 505", "was 295", "unh 3267 4 3 #3011",
                                           "app 1300 3 2 #1044", "ily 414 3 2 #158"),
    "624, 2596 and 3556": ("dog 624", "dogs 2596", "Dog 3556"),
    "they stay twelve tokens": ("characters 6 bytes 12", "12 of 12 tokens are single bytes"),
    "The winner, with stars": ("log probability −4.73", "log probability −5.65"),
    "decides: 7, with 0.91": ("Of 0.909 for 7", "is said of the shuffled 5, p = 0.669"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tours of our own."""
    monkeypatch.setattr(tour_files, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.toml")), ids=lambda path: path.stem)
def test_a_lesson_opens_without_a_word_of_error_and_says_what_is_on_its_pages(path: Path) -> None:
    steps = tomllib.loads(path.read_text(encoding="utf-8"))["step"]
    assert 2 <= len(steps) <= 10
    for number, step in enumerate(steps, 1):
        query = dict(parse_qsl(step["link"])) | {"tour": path.stem, "step": str(number)}
        app = open_page(query["page"], **rest(query))
        assert lines(app, "error") == []
        assert not [line for line in lines(app, "note") if "does not exist" in line]
        at = next(x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body)
        assert f"{number} of {len(steps)}" in at
        figure = PLACES[step.get("look", "page")].partition(".st-key-figure-")[2]
        assert figure in {"", *(chart["key"] for chart in charts(app))}
        wanted = [x for said, shown in SHOWN.items() if said in step["text"] for x in shown]
        seen = on_screen(app)
        assert [words for words in wanted if words not in seen] == []
        if "show" in step:
            query = dict(parse_qsl(step["show"])) | {"tour": path.stem, "step": str(number)}
            assert lines(open_page(query["page"], **rest(query)), "error") == []


def test_lessons_begin_with_a_question_on_their_page_and_end_on_a_sentence_of_one_s_own() -> None:
    texts = [tomllib.loads(path.read_text(encoding="utf-8")) for path in LESSONS]
    firsts = [text["step"][0] for text in texts]
    assert [dict(parse_qsl(step["link"]))["page"] for step in firsts] == FIRST_PAGES
    assert all("? " in step["text"] for step in firsts)
    for last in (text["step"][-1] for text in texts):
        assert last["title"] in ("On your sentence", "Yours")
        assert "sentence=" not in last["link"]
    said = "\n".join(step["text"] for text in texts for step in text["step"])
    assert [words for words in SHOWN if words not in said] == []


def on_screen(app: AppTest) -> str:
    """All that is written on a page outside the tour, with what its charts say of themselves."""
    bodies = [x.proto.body for x in app.get("html") if '"hl-tour"' not in x.proto.body]
    said = (html.unescape(re.sub(r"<[^>]*>", " ", body)) for body in bodies)
    return " ".join(" ".join([*said, *(chart["alt"] for chart in charts(app))]).split())


def rest(query: dict[str, str]) -> dict[str, str]:
    """An address without its page."""
    return {name: value for name, value in query.items() if name != "page"}


def panel(query: dict[str, str]) -> str:
    """What a tour says above a page."""
    app = open_page(query["page"], **rest(query))
    return next(x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body)


def test_a_broken_tour_is_one_line_with_file_and_line(folder: Path) -> None:
    for kind, (text, _, _) in BROKEN.items():
        (folder / f"{kind}.toml").write_text(text, encoding="utf-8")
    (folder / "other.toml").write_text(GOOD, encoding="utf-8")
    app = open_page("Attention", tour="other")
    for kind, (_, line, word) in BROKEN.items():
        (said,) = (x for x in lines(app, "note") if f"/{kind}.toml line {line}: " in x)
        assert word in said
    shown = [x for x in app.get("html") if '"hl-tour"' in x.proto.body]
    assert len(shown) == 1, "the other tour stays"


def test_away_from_its_page_a_lesson_only_leads_back(folder: Path) -> None:
    (folder / "mine.toml").write_text(GOOD, encoding="utf-8")
    for page in ("Attention", "Masks"):
        assert "Look." in panel({"page": page, "tour": "mine"})
    away = html.unescape(panel({"page": "Heads", "tour": "mine"}))
    assert "Look." not in away
    assert 'href="?page=Attention&layer=1&tour=mine&step=1"' in away
    assert "Go on with the lesson: One →" in away


def test_text_of_a_tour_is_text(folder: Path) -> None:
    hostile = "<script>window.hacked=1</script>"
    text = GOOD.replace("Look.", hostile).replace("Why?", hostile).replace("One", hostile)
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    body = panel({"page": "Attention", "tour": "mine", "step": "1"})
    assert "<script" not in body
    assert body.count("&lt;script&gt;") == 3
