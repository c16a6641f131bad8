"""Protects a figure that plays: earlier pictures once, not under the hand, and again on request."""

import json
from typing import Any

from playwright.sync_api import Page

from tests.viz.harness import as_sent, open_instrument, receive, rest
from viz.kit.parts.figure import figure_part

TURN_MS = 800  # as in figure.js

# What is drawn is kept, by the title of each picture; the hand may be there from the start.
HARNESS = """() => {
    globalThis.drawn = [];
    globalThis.isUnderTheHand = false;
    globalThis.moves = 0;
    globalThis.figure = () => document.querySelector('.hl-figure');
    globalThis.point = (type, movementX = 0) =>
        figure().dispatchEvent(new PointerEvent(type, {movementX}));
    const look = () => {
        const title = document.querySelector('.gtitle')?.textContent;
        if (title && drawn.at(-1) !== title) drawn.push(title);
        if (!isUnderTheHand || !figure()?.matches('[data-plays]')) return;
        globalThis.isUnderTheHand = false;
        for (const type of ['pointerenter', 'pointermove']) point(type, moves);
    };
    const all = {attributes: true, childList: true, subtree: true};
    new MutationObserver(look).observe(document, all);
}"""


def picture(title: str) -> str:
    """A figure that is known by its title."""
    return json.dumps({"data": [{"y": [1, 2]}], "layout": {"title": {"text": title}}})


def data(*titles: str) -> dict[str, Any]:
    """A figure as Python sends it; all but the last title are of what is played."""
    *plays, last = map(picture, titles)
    part = figure_part(last, 200, name="f", alt="A line.", image_format="png", plays=plays)
    return as_sent(part)


def opened(bare: Page, *titles: str, is_still: bool = False, hand: int | None = None) -> None:
    """The figure on the page, all drawings of which are kept; `hand`: how far one moves on it."""
    bare.emulate_media(reduced_motion="reduce" if is_still else "no-preference")
    bare.evaluate("x => { drawn.length = 0; isUnderTheHand = x !== null; moves = x ?? 0; }", hand)
    open_instrument(bare, data(*titles))


def ends_with(bare: Page, *titles: str) -> None:
    """The last pictures that were drawn."""
    bare.wait_for_function("all => String(drawn.slice(-all.length)) === String(all)", arg=titles)


def test_it_plays_up_to_what_it_shows(bare: Page) -> None:
    opened(bare, "d = 1", "d = 4", "d = 16")
    ends_with(bare, "d = 1", "d = 4", "d = 16")
    rest(bare, 2 * TURN_MS)
    assert bare.evaluate("drawn") == ["d = 1", "d = 4", "d = 16"]


def test_it_plays_also_where_it_comes_to_lie_under_a_hand_that_rests(bare: Page) -> None:
    opened(bare, "d = 1", "d = 4", hand=0)
    ends_with(bare, "d = 1", "d = 4")


def test_it_waits_under_the_hand(bare: Page) -> None:
    opened(bare, "d = 1", "d = 4", hand=1)
    ends_with(bare, "d = 1")
    rest(bare, 2 * TURN_MS)
    assert bare.evaluate("drawn") == ["d = 1"]
    bare.evaluate("point('pointerleave')")
    ends_with(bare, "d = 1", "d = 4")


def test_what_a_person_sets_ends_it(bare: Page) -> None:
    opened(bare, "d = 1", "d = 4", "d = 16")
    receive(bare, data("d = 1", "d = 4"))
    ends_with(bare, "d = 4")
    rest(bare, 2 * TURN_MS)
    ends_with(bare, "d = 4")


def test_it_stands_still_where_motion_is_reduced_until_it_is_asked_for(bare: Page) -> None:
    opened(bare, "d = 1", "d = 4", is_still=True)
    ends_with(bare, "d = 4")
    bare.evaluate("point('pointermove', 1)")
    bare.locator("[data-title='Play again']").dispatch_event("click")
    bare.evaluate("point('pointermove', 1)")  # by the hand that asked for it
    ends_with(bare, "d = 4", "d = 1", "d = 4")
