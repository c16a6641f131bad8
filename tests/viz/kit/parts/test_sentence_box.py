"""Protects the sentence box: what a person types stays, and is sent as it was typed."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.viz.harness import as_sent, open_instrument, receive
from viz.kit.parts.sentence_box import sentence_part

FOUR_LINES = "one\ntwo\nthree\nfour"

# Ends when all that watches the size of the box has heard of a new height.
LAID_OUT_AGAIN = """async () => {
    instrument.root.style.height = '400px';
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
}"""


def data(text: str, *, acked: int = 0, has_caret: bool = False) -> dict[str, Any]:
    """The box with a text, as Python sends it."""
    return as_sent(sentence_part(text, has_caret=has_caret), acked)


def box(page: Page) -> Locator:
    """Where the text is typed."""
    return page.get_by_label("Sentence", exact=True)


def sent(page: Page) -> list[dict[str, Any]]:
    """The messages to Python, once there is one."""
    return page.wait_for_function("sent.length ? sent : null").json_value()


def test_typing_is_sent_once_with_its_lines(bare: Page) -> None:
    open_instrument(bare, data("Tom"))
    box(bare).press("End")
    bare.keyboard.type(" ran.")
    bare.keyboard.press("Shift+Enter")
    bare.keyboard.type("Sam sat.")
    bare.wait_for_function("sent.at(-1)?.changes.sentence === 'Tom ran.\\nSam sat.'")


def test_enter_sends_what_is_typed_and_begins_no_line(bare: Page) -> None:
    open_instrument(bare, data("Tom"))
    box(bare).fill("Tom ran")
    box(bare).press("Enter")
    assert bare.evaluate("sent.at(-1).changes") == {"sentence": "Tom ran"}
    expect(box(bare)).to_have_value("Tom ran")


def test_a_late_answer_takes_nothing_back(bare: Page) -> None:
    open_instrument(bare, data("Tom"))
    box(bare).fill("Tom ran")
    sent(bare)
    box(bare).fill("Tom ran home")
    receive(bare, data("Tom ran", acked=1))
    expect(box(bare)).to_have_value("Tom ran home")
    bare.wait_for_function("sent.length > 1")
    receive(bare, data("Tom ran home", acked=2))
    receive(bare, data("The example", acked=2))  # chosen elsewhere on the page
    expect(box(bare)).to_have_value("The example")


def test_what_is_typed_is_sent_at_once_when_the_box_is_left(bare: Page) -> None:
    open_instrument(bare, data("Tom"))
    box(bare).fill("Sam")
    assert bare.evaluate("document.activeElement.blur(), sent.length") == 1


def test_it_is_as_high_as_its_text_up_to_a_limit(bare: Page) -> None:
    heights = []
    for text in ("one", FOUR_LINES, 8 * FOUR_LINES):
        open_instrument(bare, data(text))
        heights.append(box(bare).bounding_box()["height"])
    assert heights[0] < heights[1] <= heights[2] < 2 * heights[1]


@pytest.mark.parametrize("has_caret", [True, False])
def test_the_caret_stands_behind_the_text_where_it_is_asked_for(
    bare: Page, has_caret: bool
) -> None:
    open_instrument(bare, data("Tom", has_caret=has_caret))
    bare.keyboard.type(" ran")
    expect(box(bare)).to_have_value("Tom ran" if has_caret else "Tom")


@pytest.mark.parametrize("waits", [True, False])
def test_a_text_that_goes_on_scrolls_only_where_the_box_waits_for_the_keyboard(
    bare: Page, waits: bool
) -> None:
    open_instrument(bare, data("one", has_caret=waits))
    before = box(bare).bounding_box()["height"]
    receive(bare, data(FOUR_LINES, has_caret=waits))
    expect(box(bare)).to_have_value(FOUR_LINES)
    bare.evaluate(LAID_OUT_AGAIN)
    assert (box(bare).bounding_box()["height"] == before) == waits


def test_markup_is_text(bare: Page) -> None:
    markup = "</textarea><script>window.hacked = 1</script><b>bold</b>"
    open_instrument(bare, data(markup))
    expect(box(bare)).to_have_value(markup)
    assert bare.evaluate("window.hacked") is None
