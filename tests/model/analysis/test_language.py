"""Protects the line to who types German where English is translated."""

import pytest

from model.analysis.language import looks_german


@pytest.mark.parametrize(
    "text", ["Ein Hund rennt durch den Schnee.", "Schöne Grüße", "Das ist gut"]
)
def test_german_is_noticed(text: str) -> None:
    assert looks_german(text)


@pytest.mark.parametrize("text", ["", "3 1 2", "Tom", "!?", "Café", "The man is in the park."])
def test_what_is_english_or_says_nothing_is_not_german(text: str) -> None:
    assert not looks_german(text)
