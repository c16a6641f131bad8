"""Protects the sentence box: what a person types stays, and is sent as it was typed."""

from collections.abc import Sequence

import pytest
from playwright.sync_api import Locator

from tests.viz.kit.gallery import Gallery
from viz.kit.part import Part
from viz.kit.parts.sentence_box import Said, sentence_part
from viz.kit.wire import Option

Before = Sequence[Sequence[str]]
WAYS = [Option(name, name) for name in ("chat", "text")]
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


def test_escape_leaves_the_box_and_nothing_else_hears_of_it(gallery: Gallery) -> None:
    gallery.show(box("Tom", has_caret=True))
    gallery.evaluate("void (heard = [], addEventListener('keydown', e => heard.push(e.key)))")
    gallery.press("Escape a")
    assert gallery.evaluate("[heard, document.activeElement.localName]") == [["a"], "body"]


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


def chat(sentence: str, before: Before = (), *, system: str = "", answer: str = "") -> Part:
    """A chat in the box."""
    said = Said(sentence, "chat", system, before, [7] if answer else ())
    return sentence_part(said, has_caret=False, ways=WAYS, answer=answer)


def press(gallery: Gallery, name: str) -> None:
    """Press the first button with these words."""
    gallery.get_by_role("button", name=name, exact=True).first.click()


def test_a_text_is_emptied_whatever_turns_a_chat_has_kept(gallery: Gallery) -> None:
    said = Said("Tom", "text", "", [("user", "Hi."), ("assistant", "Hello.")], ())
    gallery.show(sentence_part(said, has_caret=False, ways=WAYS))
    gallery.get_by_label("Sentence").fill("")
    assert gallery.sent() == {"sentence": ""}


def field(gallery: Gallery, name: str) -> Locator:
    """Where one turn is typed."""
    return gallery.get_by_role("textbox", name=name)


def test_the_system_is_asked_on_demand_and_is_left_out_again(gallery: Gallery) -> None:
    gallery.show(chat("Hi"))
    press(gallery, "+ system")
    gallery.keyboard.type("Be kind")
    assert gallery.sent() == {"system": "Be kind"}
    gallery.receive(chat("Hi", system="Be kind"), acked=1)
    assert gallery.read()["turns"] == [["system", "Be kind"]]
    assert gallery.get_by_role("button", name="+ system").count() == 0
    press(gallery, "×")
    assert gallery.sent() == {"system": ""}
    assert gallery.read()["turns"] == []


def test_a_reply_makes_earlier_turns_of_question_and_answer_once_it_is_typed(
    gallery: Gallery,
) -> None:
    gallery.show(chat("Hi", answer="Hello!"))
    assert gallery.read()["answer"] == "Hello!"
    press(gallery, "+ reply")
    read = gallery.read()
    assert read["turns"] == [["user", "Hi"], ["assistant", "Hello!"]]
    assert (read["sentence"], read["answer"]) == ("", None)
    gallery.receive(chat("Hi", answer="Hello!"))  # Python knows nothing of it yet
    assert gallery.read()["sentence"] == ""
    gallery.keyboard.type("Who are you?")
    before = [["user", "Hi"], ["assistant", "Hello!"]]
    assert gallery.sent() == {"sentence": "Who are you?", "before": before}


def test_a_turn_without_a_text_is_not_sent(gallery: Gallery) -> None:
    gallery.show(chat("Hi"))
    press(gallery, "+ answer")
    field(gallery, "Sentence").fill("And?")
    assert gallery.sent() == {}
    assert gallery.get_by_text("not run yet: a turn is empty").is_visible()
    field(gallery, "assistant, turn 1").fill("Hello")
    before = [["user", "Hi"], ["assistant", "Hello"]]
    assert gallery.sent() == {"sentence": "And?", "before": before}


def test_a_last_turn_that_is_emptied_is_not_run(gallery: Gallery) -> None:
    gallery.show(chat("c", [["user", "a"], ["assistant", "b"]]))
    field(gallery, "Sentence").fill("")
    assert gallery.sent() == {}
    assert gallery.get_by_text("not run yet: a turn is empty").is_visible()
    field(gallery, "Sentence").fill("d")
    assert gallery.sent() == {"sentence": "d"}
    assert gallery.get_by_text("not run yet: a turn is empty").count() == 0


def test_a_turn_goes_with_its_answer(gallery: Gallery) -> None:
    gallery.show(chat("c", [["user", "a"], ["assistant", "b"]], system="s"))
    gallery.locator("[data-role=user] > .hl-remove").click()
    assert gallery.sent() == {"before": []}
    assert gallery.read()["turns"] == [["system", "s"]]


def test_an_answer_is_taken_away_and_a_chat_is_read_as_a_text(gallery: Gallery) -> None:
    gallery.show(chat("Hi", system="Be kind", answer="Hello"))
    gallery.locator("[data-role=assistant] > .hl-remove").click()
    assert gallery.sent() == {"begun": []}
    press(gallery, "text")
    assert gallery.sent() == {"begun": [], "read": "text"}
    read = gallery.read()
    assert (read["turns"], read["answer"]) == ([], None)
    assert read["ways"] == [["chat", False], ["text", True]]
    press(gallery, "chat")
    assert gallery.read()["turns"] == [["system", "Be kind"]]


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
