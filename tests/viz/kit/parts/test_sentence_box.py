"""Protects the sentence box: what a person types stays, and is sent as it was typed."""

import pytest

from tests.viz.kit.gallery import Gallery
from viz.kit.part import Part
from viz.kit.parts.sentence_box import Said, sentence_part

FOUR_LINES = "one\ntwo\nthree\nfour"


def box(text: str, *, has_caret: bool = False) -> Part:
    """The box with a text."""
    return sentence_part(Said(text), has_caret=has_caret)


def height(gallery: Gallery) -> float:
    """Of the box, in pixels, once all that watches its size has heard of it."""
    gallery.read()
    return gallery.get_by_label("Sentence").bounding_box()["height"]


@pytest.mark.parametrize("key", ["Enter", "Tab"])
def test_what_is_typed_is_sent_at_once_by_enter_or_where_it_is_left(
    gallery: Gallery, key: str
) -> None:
    gallery.show(box("Tom"))
    gallery.evaluate("void (model.conversation.quiet = 1e9)")
    gallery.get_by_label("Sentence").fill("Tom ran")
    gallery.press(key)
    assert not gallery.evaluate("model.conversation.flush()"), "nothing waits"
    assert gallery.sent() == {"sentence": "Tom ran"}
    assert gallery.read()["sentence"] == "Tom ran", "Enter begins no line"


def test_a_late_answer_takes_nothing_back(gallery: Gallery) -> None:
    gallery.show(box("Tom"))
    for text in ("Tom ran", "Tom ran home"):
        gallery.get_by_label("Sentence").fill(text)
        assert gallery.sent() == {"sentence": text}
    gallery.receive(box("Tom ran"), acked=1)
    assert gallery.read()["sentence"] == "Tom ran home"
    gallery.receive(box("Tom ran home"), acked=2)
    gallery.receive(box("The example"), acked=2)  # chosen elsewhere on the page
    assert gallery.read()["sentence"] == "The example"


def test_it_is_as_high_as_its_text_up_to_a_limit(gallery: Gallery) -> None:
    heights = []
    for text in ("one", FOUR_LINES, 8 * FOUR_LINES):
        gallery.show(box(text))
        heights.append(height(gallery))
    assert heights[0] < heights[1] <= heights[2] < 2 * heights[1]


@pytest.mark.parametrize("has_caret", [True, False])
def test_the_caret_stands_behind_the_text_where_it_is_asked_for(
    gallery: Gallery, has_caret: bool
) -> None:
    gallery.show(box("Tom", has_caret=has_caret))
    gallery.keyboard.type(" ran")
    assert gallery.read()["sentence"] == ("Tom ran" if has_caret else "Tom")


@pytest.mark.parametrize("waits", [True, False])
def test_a_text_that_goes_on_scrolls_only_where_the_box_waits_for_the_keyboard(
    gallery: Gallery, waits: bool
) -> None:
    gallery.show(box("one", has_caret=waits))
    before = height(gallery)
    gallery.receive(box(FOUR_LINES, has_caret=waits))
    gallery.evaluate("void (instrument.root.style.height = '400px')")
    assert gallery.read()["sentence"] == FOUR_LINES
    assert (height(gallery) == before) == waits
