"""Protects the words that JavaScript puts on screen, as `tests.viz.test_words` does Python's."""

import re
from collections.abc import Iterator

import pytest

from tests.viz.test_words import old_words
from viz.live.files import MODULES, script

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`", re.DOTALL)
FILLED = re.compile(r"\$\{[^}]*\}")


def sentences(name: str) -> Iterator[str]:
    """The strings of a module that people may read: not single words, not what fills them."""
    for plain, template in STRING.findall(COMMENT.sub("", script(name))):
        text = FILLED.sub("…", plain or template)
        if " " in text.strip():
            yield text


def test_sentences_are_found() -> None:
    found = [text for name in MODULES for text in sentences(name)]
    assert any("recomputed in your browser (max error" in text for text in found)
    assert any("attends to" in text for text in found)
    assert not any("@param" in text for text in found)


@pytest.mark.parametrize("name", MODULES)
def test_no_old_word_is_on_screen(name: str) -> None:
    assert [word for text in sentences(name) for word in old_words(text)] == []
