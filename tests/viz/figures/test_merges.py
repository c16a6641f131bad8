"""Protects the figure of merges: each node above its bytes, and text is never markup."""

import numpy as np
import pytest

from model.analysis.merges import Node, PreToken, merge_forest
from tests.viz.builders import ODD_SENTENCES, stories
from viz.figures.merges import (
    Forest,
    characters_of,
    drawable,
    label_of,
    merge_trees,
    n_bytes,
)
from viz.theme import LIGHT


def forest_of(text: str, most: int | None = None) -> tuple[PreToken, ...]:
    tokenizer = stories().tokenizer
    return merge_forest(tokenizer, tokenizer.merges(), text, most)


def test_every_node_stands_above_its_own_bytes() -> None:
    forest = Forest(forest_of("The animal 😀"))
    for pre_token in forest.pre_tokens:
        for token in pre_token:
            waiting = [token]
            while waiting:
                node = waiting.pop()
                xs = [forest.place(leaf).x for leaf in node.leaves]
                assert xs == [xs[0] + i for i in range(len(xs))], "side by side"
                beside = [forest.place(part).x for part in node.parts]
                assert forest.place(node).x == (sum(beside) / 2 if beside else xs[0])
                for part in node.parts:
                    assert forest.place(part).row < forest.place(node).row < forest.top
                waiting += node.parts
    assert all(forest.place(leaf).row == 0 for token in forest.tokens for leaf in token.leaves)


def test_a_part_of_a_character_alone_is_no_character() -> None:
    found = list(characters_of(b"a\xd9\x85\xd9", [0, 1, 2, 3]))
    assert [(x.text, x.first, x.last) for x in found] == [("a", 0, 0), ("م", 1, 2)]


@pytest.mark.parametrize("name", ODD_SENTENCES)
def test_odd_text_is_drawn_as_text(name: str) -> None:
    forest = drawable(forest_of(ODD_SENTENCES[name], 256))
    assert 0 < n_bytes(forest) <= 72
    figure = merge_trees(forest, 0, 3839, LIGHT)
    said = "".join(
        str(piece) for trace in figure.data if trace.mode == "text"
        for piece in (*trace.text, *np.ravel(trace.customdata))
    )  # fmt: skip
    assert not set("<>$%\n\r\t\x00") & set(said)


def test_as_many_pre_tokens_as_have_room_are_drawn() -> None:
    forest = forest_of("The cat sat. " + 80 * "q")
    sizes = [sum(len(token.bytes) for token in pre_token) for pre_token in forest]
    assert sizes[:4] == [4, 4, 4, 1]
    assert len(drawable(forest, 12)) == 3
    assert len(drawable(forest, 11)) == 2
    (cut,) = drawable(forest[-1:], 20)
    assert n_bytes([cut]) <= 20
    assert cut == forest[-1][: len(cut)]
    assert len(cut) < len(forest[-1])
    assert drawable([], 20) == []


def test_a_token_longer_than_the_room_is_drawn_all_the_same() -> None:
    long = Node(5, 90 * b"x")
    assert drawable([(long, Node(6, b"y"))]) == [(long,)]
    assert merge_trees([(long,)], 0, 10, LIGHT).data


def test_bytes_that_are_not_characters_are_hexadecimal() -> None:
    node = Node(9, b"\xd9", 4, 0, (Node(1, b"\xd9"), Node(2, b"<")))
    assert label_of(node) == "d9"
