"""Protects tours: their files are read as data, and every step leads where it says."""

import html
import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.viz.apps import lines, open_page
from viz.frame import tours

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
    "no-place": (GOOD.replace('"map"', '"moon"'), 8, "no place “moon”"),
    "no-text": (GOOD.replace('text = "Look."\n', ""), 4, "step 1 has no text"),
    "not-text": (GOOD.replace('"Why?"', "3"), 9, "question must be text"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tours of our own."""
    monkeypatch.setattr(tours, "FOLDER", tmp_path)
    return tmp_path


def test_three_ship_and_every_step_opens_without_a_word_of_error() -> None:
    app = open_page("Tours")
    (body,) = (x.proto.body for x in app.get("html") if '<nav class="hl-ways"' in x.proto.body)
    listed = re.findall(r'<div class="hl-way"><a href="([^"]*)">.*?<ol>(.*?)</ol>', body)
    assert len(listed) == 3
    for first, stops in listed:
        links = re.findall(r'href="([^"]*)"', stops)
        assert links[0] == first
        assert len(links) >= 6
        for number, link in enumerate(links, 1):
            query = dict(parse_qsl(html.unescape(link).removeprefix("?")))
            app = open_page(query["page"], **rest(query))
            assert lines(app, "error") == []
            at = next(x.proto.body for x in app.get("html") if "hl-tour" in x.proto.body)
            assert f"{number} of {len(links)}" in at
            assert ("The end: all tours" in at) == (number == len(links))


def rest(query: dict[str, str]) -> dict[str, str]:
    """An address without its page."""
    return {name: value for name, value in query.items() if name != "page"}


def panel(query: dict[str, str]) -> str:
    """What a tour says above a page."""
    app = open_page(query["page"], **rest(query))
    return next(x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_tour_is_one_line_with_file_and_line(kind: str, folder: Path) -> None:
    text, line, word = BROKEN[kind]
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    (folder / "other.toml").write_text(GOOD, encoding="utf-8")
    app = open_page("Tours")
    (said,) = (x for x in lines(app, "note") if "mine.toml" in x)
    assert f"mine.toml line {line}: " in said
    assert word in said
    (body,) = (x.proto.body for x in app.get("html") if '<nav class="hl-ways"' in x.proto.body)
    assert body.count('class="hl-way"') == 1, "the other tour stays"


def test_text_of_a_tour_is_text(folder: Path) -> None:
    hostile = "<script>window.hacked=1</script>"
    text = GOOD.replace("Look.", hostile).replace("Why?", hostile).replace("One", hostile)
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    body = panel({"page": "Attention", "tour": "mine", "step": "1"})
    assert "<script" not in body
    assert body.count("&lt;script&gt;") == 3
