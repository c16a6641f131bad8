"""Protects the lesson on similarity: tokens with and without a space are told apart."""

from viz.figures.similarity import token_names


def test_names_tell_tokens_with_and_without_a_space_apart() -> None:
    assert token_names([" though", "though", ".", "\\xef"]) == ["though", "…though", ".", "\\xef"]
    assert token_names(["a", "b", " "]) == ["a", "b", "␣"], "where no word carries a space"
