"""Protects the pairs with an alignment by hand: each link is between words that there are."""

import re

import pytest

from model.analysis.language import looks_german
from tests.model.builders import translation_tokenizer
from viz.frame.examples import Pair, pair_of, pairs
from viz.frame.settings import SOURCE
from viz.labels import words_of

WORD = re.compile(r"\w+|[^\w\s]")


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.source)
def test_links_are_between_words(pair: Pair) -> None:
    n_source, n_target = len(WORD.findall(pair.source)), len(WORD.findall(pair.target))
    assert all(i < n_source and j < n_target for i, j in pair.links)
    assert {j for _, j in pair.links} == set(range(n_target)), "each German word has its English"
    assert (n_source - 1, n_target - 1) in pair.links, "the full stop"
    assert looks_german(pair.target)
    assert not looks_german(pair.source)


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.source)
def test_words_are_those_that_tokens_are_merged_to(pair: Pair) -> None:
    """So that a number means the same word in the file and on the page."""
    tokenizer = translation_tokenizer()
    for text in (pair.source, pair.target):
        strings = tokenizer.token_strings(tokenizer.encode(text))
        groups, labels = words_of(strings)
        assert labels == WORD.findall(text)
        assert groups[-1] + 1 == len(labels)


def test_the_first_source_is_one_of_them() -> None:
    assert pair_of(SOURCE.default) == pairs()[0]
    assert pair_of("no such sentence") is None
    assert 6 <= len(pairs()) <= 10
