"""Protects the checks of trees of merges: whatever is wrong with a tree, one of them says so."""

import json
from dataclasses import replace

import pytest

from model.analysis.merges import Node, PreToken, merge_forest
from model.verify.tokens import check_forest
from tests.viz.builders import ODD_SENTENCES, stories

TEXT = "The animal didn't cross. مرحبا"


def forest_of(text: str, most: int | None = None) -> tuple[PreToken, ...]:
    tokenizer = stories().tokenizer
    return merge_forest(tokenizer, tokenizer.merges(), text, most)


def errors(forest: tuple[PreToken, ...], text: str = TEXT, n_tokens: int | None = None) -> list:
    """What each check counts."""
    tokenizer = stories().tokenizer
    ids = tokenizer.encode(text)[:n_tokens]
    model = json.loads(tokenizer.to_json())["model"]
    return [item.error for item in check_forest(forest, ids, text, model)]


def changed(node: Node, **fields: object) -> tuple[PreToken, ...]:
    """The forest of TEXT with one token that differs."""
    return tuple(
        tuple(replace(token, **fields) if token.bytes == node.bytes else token for token in x)
        for x in forest_of(TEXT)
    )


@pytest.mark.parametrize("text", ODD_SENTENCES.values(), ids=ODD_SENTENCES.keys())
def test_trees_of_any_text_pass(text: str) -> None:
    assert errors(forest_of(text, 256), text, 256) == [0, 0, 0]


def test_each_fault_is_found() -> None:
    (animal,) = forest_of(TEXT)[1]
    left, right = animal.parts
    assert animal.rank is not None
    assert errors(changed(animal, id=animal.id + 1)) == [1, 0, 1]
    assert errors(changed(animal, rank=animal.rank + 1)) == [0, 0, 1]
    assert errors(changed(animal, rank=None)) == [0, 0, 1]
    assert errors(changed(animal, parts=(right, left)))[1:] == [6, 1]
    other = replace(left.parts[1], bytes=b"X")
    assert errors(changed(animal, parts=(replace(left, parts=(left.parts[0], other)), right))) == [
        0, 1, 0,
    ]  # fmt: skip
    assert errors(forest_of(TEXT)[:-1])[0] > 0
    assert errors((*forest_of(TEXT), forest_of("x")[0]))[:2] == [1, 1]
