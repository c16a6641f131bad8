"""What the sentence box is sent: a text or a chat, and what stands there while there is none."""

from collections.abc import Sequence
from typing import NamedTuple

from viz.kit.part import Answers, Part
from viz.kit.wire import Option, options_data


class Said(NamedTuple):
    """What stands in it: the text, or what the user says last of a chat, and how it is read.

    `before` has the turns before that one, a role and a text each, `begun` an answer by its ids.
    """

    sentence: str
    read: str = "text"
    system: str = ""
    before: Sequence[Sequence[str]] = ()
    begun: Sequence[int] = ()


def sentence_part(
    said: Said,
    *,
    has_caret: bool,
    label: str = "Sentence",
    ways: Sequence[Option] = (),
    answer: str = "",
    ahead: Answers | None = None,
) -> Part:
    """The box, and what its text is called. `ways` to read it are offered where there are any.

    `has_caret` has it take the keyboard when the page is opened. answer: the begun one as text.
    `ahead` answers what is typed before the page runs again.
    """
    spec = {
        "key": "sentence_box",
        "label": label,
        "placeholder": "Type a sentence",
        "has_caret": has_caret,
        "ways": options_data(ways),
        "answer": answer,
    }
    return Part("sentence_box", spec, said._asdict(), answers=ahead)
