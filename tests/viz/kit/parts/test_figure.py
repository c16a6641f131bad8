"""Protects a figure that plays: earlier pictures once, not under the hand, and again on request."""

import json
from collections.abc import Iterator

import pytest

from tests.viz.kit.gallery import Gallery
from viz.charts.chart import Axis, Chart, Line
from viz.charts.figure import figure as figure_of
from viz.charts.sent import sent
from viz.kit.part import Part
from viz.kit.parts.figure import figure_part
from viz.theme import LIGHT

# A turn of what is played comes when a test says so, until it is ended.
TURNS = """() => {
    const known = {setInterval, clearInterval};
    const end = () => { globalThis.turn = () => {}; };
    end();
    globalThis.setInterval = act => { globalThis.turn = act; };
    globalThis.clearInterval = end;
    globalThis.restore = () => Object.assign(globalThis, known);
}"""


@pytest.fixture
def clock(gallery: Gallery) -> Iterator[Gallery]:
    """The gallery, where motion is welcome and time stands still."""
    gallery.emulate_media(reduced_motion="no-preference")
    gallery.evaluate(TURNS)
    yield gallery
    gallery.evaluate("globalThis.restore?.()")


def figure(*titles: str) -> Part:
    """A figure by its title; all but the last are of what is played."""
    *plays, last = (
        json.dumps({"data": [{"y": [1, 2]}], "layout": {"title": {"text": title}}})
        for title in titles
    )
    return figure_part(last, 200, name="f", alt="A line.", image_format="png", plays=plays)


def turned(clock: Gallery) -> str:
    """The title after another turn."""
    clock.evaluate("turn()")
    return clock.read()["title"]


def test_it_plays_up_to_what_it_shows(clock: Gallery) -> None:
    clock.show(figure("d = 1", "d = 4", "d = 16"))
    assert clock.read()["title"] == "d = 1"
    assert [turned(clock) for _ in range(3)] == ["d = 4", "d = 16", "d = 16"]


def test_it_plays_also_where_it_comes_to_lie_under_a_hand_that_rests(clock: Gallery) -> None:
    clock.show(figure("d = 1", "d = 4"))
    for kind in ("pointerenter", "pointermove"):
        clock.locator("main").dispatch_event(kind)
    assert turned(clock) == "d = 4"


def test_it_waits_under_the_hand(clock: Gallery) -> None:
    clock.show(figure("d = 1", "d = 4"))
    clock.locator("main").hover()
    assert turned(clock) == "d = 1"
    clock.mouse.move(1, 1)
    assert turned(clock) == "d = 4"


def test_what_a_person_sets_ends_it(clock: Gallery) -> None:
    clock.show(figure("d = 1", "d = 4", "d = 16"))
    clock.receive(figure("d = 1", "d = 4"))
    assert clock.read()["title"] == "d = 4"
    assert turned(clock) == "d = 4"


def test_it_stands_still_where_motion_is_reduced_until_it_is_asked_for(clock: Gallery) -> None:
    clock.emulate_media(reduced_motion="reduce")
    clock.show(figure("d = 1", "d = 4"))
    assert clock.read()["title"] == "d = 4"
    clock.locator("main").hover()
    clock.locator("[data-title='Play again']").click()
    clock.mouse.move(300, 100)  # by the hand that asked for it
    assert clock.read()["title"] == "d = 1"
    assert turned(clock) == "d = 4"


# Pixels from the axis' title to the legend below it, and from that to the figure's end.
BELOW = """() => {
    const [title, legend, all] = ['.xtitle', '.legend', '.main-svg']
        .map(part => document.querySelector(part).getBoundingClientRect());
    return [legend.top - title.bottom, all.bottom - legend.bottom];
}"""


@pytest.mark.parametrize("width", [1000, 340])
def test_a_legend_stands_right_below_its_axis_at_any_width(gallery: Gallery, width: int) -> None:
    names = ["trained on", "held out", "held out, longer texts", "held out, other words", "chance"]
    lines = [Line([0, 1], [0, n], name) for n, name in enumerate(names)]
    drawn = figure_of(Chart("Loss", Axis("step"), Axis("loss"), lines), LIGHT)
    height = drawn["layout"]["height"]
    part = figure_part(sent(drawn), height, name="f", alt="Lines.", image_format="png")
    gallery.show(part, width)
    above, below = gallery.evaluate(BELOW)
    assert 0 <= above < 45
    assert 0 <= below < 20
