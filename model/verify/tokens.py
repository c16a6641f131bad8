"""Checks of trees of merges, against the tokenizer's file and the ids the model was given."""

from collections.abc import Mapping, Sequence
from typing import Any

from model.analysis.merges import Node, PreToken, walk
from model.data.pieces import BYTE_OF_SYMBOL
from model.verify.check import Check


def check_forest(
    forest: Sequence[PreToken], ids: Sequence[int], text: str, model: Mapping[str, Any]
) -> tuple[Check, ...]:
    """Whether trees of merges begin with a text's bytes, end in a model's ids, and use its merges.

    `text` is what the forest was made of, as it was normalised; the forest lacks bytes that have
    no token, and what was cut from the end. `model` is the part of tokenizer.json by that name,
    which has the vocabulary and the merges. An error counts what differs.
    """
    tokens = [token for pre_token in forest for token in pre_token]
    return (
        Check("merges applied in order give the model's tokens", _differing(
            [token.id for token in tokens], list(ids)), 0),
        Check("merging starts from the bytes of the sentence",
            _wrong_bytes(tokens, text, model["vocab"]), 0),
        Check("each merge is in the tokenizer's file", _unknown(tokens, model), 0),
    )  # fmt: skip


def _differing(given: Sequence[object], wanted: Sequence[object]) -> int:
    unlike = sum(a != b for a, b in zip(given, wanted, strict=False))
    return unlike + abs(len(given) - len(wanted))


def _wrong_bytes(tokens: Sequence[Node], text: str, vocab: Mapping[str, int]) -> int:
    """Bytes that differ; a space may stand before the text, and its end may be cut."""
    content = b"".join(leaf.bytes for token in tokens for leaf in token.leaves)
    known = {byte for sign, byte in BYTE_OF_SYMBOL.items() if sign in vocab}
    possible = [bytes(filter(known.__contains__, x.encode())) for x in (text, f" {text}")]
    return min(_differing(content, wanted[: len(content)]) for wanted in possible)


def _unknown(tokens: Sequence[Node], model: Mapping[str, Any]) -> int:
    """Merges that the file does not have at this rank, with these ids."""
    name_of = {number: name for name, number in model["vocab"].items()}
    made = [node for node in walk(tokens) if node.parts]
    return sum(not _is_in(model["merges"], name_of, node) for node in made)


def _is_in(merges: Sequence[Sequence[str]], name_of: dict[int, str], node: Node) -> bool:
    left, right = (name_of[part.id] for part in node.parts)
    is_listed = node.rank is not None and list(merges[node.rank]) == [left, right]
    return is_listed and name_of[node.id] == left + right
