"""Protects the lesson on similarity: its figures and numbers are those of the vectors."""

from tests.viz.apps import TOM, lesson, open_page
from viz.figures.similarity import token_names

TITLE = "Embeddings and similarity"


def test_names_tell_tokens_with_and_without_a_space_apart() -> None:
    assert token_names([" though", "though", ".", "\\xef"]) == ["though", "…though", ".", "\\xef"]
    assert token_names(["a", "b", " "]) == ["a", "b", "␣"], "where no word carries a space"


def test_lengths_of_one_key_are_not_compared() -> None:
    assert "lengths decide" in lesson(open_page(TITLE, sentence=TOM, scene="head"))
    assert "lengths decide" not in lesson(open_page(TITLE, sentence="Tom", scene="head"))
