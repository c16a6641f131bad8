"""Protects pages in scenes: one figure at a time, told by a step of a lesson, in the address."""

import html
import json
import re
import tomllib
from pathlib import Path
from urllib.parse import parse_qsl, unquote_plus

import numpy as np
import pytest

from tests.viz.apps import TOM, charts, go, lesson, lines, open_page, query_of, z
from tests.viz.builders import numbers
from viz import studio
from viz.frame import tour_files
from viz.frame.scenes import TOO_SHORT, turns
from viz.frame.tour_files import FOLDER
from viz.pages.lessons import root


def keys(**query: str) -> list[str]:
    """The charts of Scaling at an address."""
    return [chart["key"] for chart in charts(open_page("Scaling", sentence=TOM, **query))]


def test_a_link_opens_one_scene_and_one_that_does_not_exist_the_first() -> None:
    assert keys(scene="equal") == ["scaling-equal"]
    assert keys() == keys(scene="no-such") == ["scaling-own"]
    said = lines(open_page("Scaling", sentence=TOM, scene="no-such"), "note")
    assert said == ["Figure no-such does not exist here; showing Larger, and more text."]


def test_another_page_begins_with_its_first_scene_and_the_address_of_one_without_has_none() -> None:
    app = open_page("Kernels", sentence=TOM, scene="model")
    assert query_of(app)["scene"] == ["model"]
    go(app, "Scaling")
    assert [chart["key"] for chart in charts(app)] == ["scaling-own"]
    go(app, "Tokens")
    assert "scene" not in query_of(app)


def test_words_have_numbers_in_every_place_and_tokens_are_text() -> None:
    app = open_page("Masks", sentence="The <b>dog</b> ran. $x$", scene="leak")
    assert "{" not in lesson(app)
    (panel,) = (x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body)
    assert "<b>dog" not in panel


def test_every_scene_is_told_by_a_lesson() -> None:
    links = [
        dict(parse_qsl(step["link"]))
        for path in FOLDER.rglob("*.toml")
        for step in tomllib.loads(path.read_text(encoding="utf-8"))["step"]
    ]
    told = {(link["page"], link.get("scene", "")) for link in links}
    for page in studio.PAGES:
        assert {(page.title, name) for name in [*page.scenes][1:]} <= told
        first = {(page.title, ""), *((page.title, name) for name in [*page.scenes][:1])}
        assert not page.scenes or first & told, page.title


def test_without_its_lesson_a_page_still_shows_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tour_files, "FOLDER", tmp_path)
    assert keys(scene="equal") == ["scaling-equal"]


def count(page: str, /, **query: str) -> str:
    """Where among which steps a page says it is, and where its arrows lead."""
    (body,) = [
        x.proto.body for x in open_page(page, **query).get("html") if '"hl-tour"' in x.proto.body
    ]
    arrows = re.findall(r'<a href="\?([^"]*)" data-step', html.unescape(body))
    where = re.findall(r"<small>(.*?)</small>", body)
    return " | ".join([*where, *(re.sub("sentence=[^&]*&?", "", unquote_plus(x)) for x in arrows)])


def test_a_page_counts_its_scenes_and_a_lesson_that_is_read_its_steps() -> None:
    heads = "Multi-head attention"
    at_third = count(heads, sentence=TOM, scene="split")
    assert at_third == f"{heads} · 3 of 5 | scene=alike | scene=written"
    assert count(heads, sentence=TOM) == f"{heads} · 1 of 5 | scene=alike"
    # Of another step of the lesson, and of a scene that it leaves out.
    page, read = "Positional encoding", {"sentence": TOM, "tour": "07-positions", "step": "3"}
    places = (("compare", "rotation"), ("compare", "losses"), ("sinusoidal", "curves"))
    at = [count(page, **read, scheme=scheme, scene=scene) for scheme, scene in places]
    wheres = [one.partition(" | ")[0] for one in at]
    assert wheres == [f"Positional encoding · {number} of 6" for number in (3, 4, 3)]
    assert at[1].endswith("scene=properties&tour=07-positions&step=5")


@pytest.mark.parametrize(
    ("page", "scene"),
    [(page.title, scene) for page in studio.PAGES if page.scenes for scene in page.needs_two],
)
def test_one_token_is_too_few_to_compare(page: str, scene: str) -> None:
    app = open_page(page, sentence="Tom", scene=scene)
    assert lines(app, "note") == [TOO_SHORT]
    assert lines(app, "error") == charts(app) == []


def test_few_pictures_are_played_from_the_first_on_evenly_spread() -> None:
    assert [turns(n) for n in (1, 2, 7)] == [[], [0], [0, 1, 2, 3, 4, 5]]
    assert turns(13) == [0, 2, 4, 6, 8, 10]


def played(page: str, key: str, **query: str) -> list[dict]:
    """All pictures of a figure, the last of which is what it shows."""
    (sent,) = (x for x in charts(open_page(page, sentence=TOM, **query)) if x["key"] == key)
    return [json.loads(picture) for picture in (*sent["plays"], sent["figure"])]


def test_what_is_played_leads_to_what_is_shown() -> None:
    weights = played("Attention by hand", "one-row", scene="query", root_d="64")
    titles = [picture["layout"]["title"]["text"] for picture in weights]
    assert titles == [f"One query’s weights at d = {2**power}" for power in range(7)]
    stream = played("Transformer block", "block-heights", scene="blocks")
    points = [[numbers(trace["y"]) for trace in picture["data"]] for picture in stream]
    assert [len(line) for line, *_ in points] == [1, 2, 3, 4, 5, 6, 7]
    assert [len(bars) for _, bars, _ in points] == [0, 1, 2, 3, 4, 5, 6]
    assert all((line == points[-1][0][: len(line)]).all() for line, *_ in points)
    assert len({str(picture["layout"]["yaxis"]["range"]) for picture in stream}) == 1
    reach = played("Masks", "reach", scene="reach", mask="sliding_window", window="3")
    layers = z(reach[-1]["data"][0])
    for n, picture in zip(turns(int(np.nanmax(layers)) + 1), reach[:-1], strict=True):
        assert (np.isfinite(z(picture["data"][0])) == (layers <= n)).all()


def test_a_vector_turns_from_the_other_s_direction_to_its_own() -> None:
    a, b = np.array([3, -1]), 2 * np.array([1, -2])
    pictures = played(
        "Embeddings and similarity", "two-vectors", scene="vectors", vectors="3,-1,1,-2,2"
    )
    ends = np.array([[numbers(x["data"][1][side])[1] for side in "xy"] for x in pictures])
    assert np.linalg.norm(ends, axis=1) == pytest.approx(np.linalg.norm(b))
    assert ends[0] / np.linalg.norm(ends[0]) == pytest.approx(a / np.linalg.norm(a))
    assert ends[-1] == pytest.approx(b)
    assert np.diff(np.diff(np.arctan2(*ends.T[::-1]))) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("value", [None, "not a number", ["of ", "not a number"]])
def test_words_end_before_what_a_figure_could_not_work_out(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root, "digits", lambda *_: value)
    told = lesson(open_page("Attention by hand", sentence=TOM, scene="gradient"))
    assert told.endswith("hardly any gradient comes back through softmax. ")


def test_a_number_that_a_figure_does_not_have_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FOLDER / "04-root.toml").read_text(encoding="utf-8")
    (tmp_path / "04-root.toml").write_text(text.replace("{at 64}", "{at 65}"), encoding="utf-8")
    monkeypatch.setattr(tour_files, "FOLDER", tmp_path)
    app = open_page("Attention by hand", sentence=TOM, scene="variance")
    (line,) = lines(app, "note")
    assert line == "Lesson 04-root, step 1: no number “at 65” here; there are at 64, at 4096."
    assert lesson(app).endswith("variance 1 it has variance d. ")
