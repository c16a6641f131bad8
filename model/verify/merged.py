"""How tokens are merged, worked out once more from tokenizer.json: the other side of their trees.

Nothing of `model.analysis.merges` or `model.data.tokenizer` is used, nor the library behind it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from model.verify.derived import Ran
from model.verify.texts import Vocabulary

Array = np.ndarray


@dataclass(frozen=True)
class Made:
    """A token of the vocabulary, from its bytes; one that a merge made has its rank, from 0."""

    id: int
    first_byte: int
    rank: int | None = None
    parts: tuple["Made", ...] = ()


def made_of(token: int, vocabulary: Vocabulary, ids: Mapping[int, int]) -> Made:
    """A token from its bytes, whose `ids` are given.

    Always the pair of lowest rank is joined, of those the leftmost, while there is any
    (Sennrich et al. 2016, §3.2). A token that no merges lead to stands by itself.
    """
    pieces = [Made(ids[byte], byte) for byte in vocabulary[token] if byte in ids]
    while len(pieces) > 1:
        found = [
            (*vocabulary.merges[left.id, right.id], at)
            for at, (left, right) in enumerate(pairwise(pieces))
            if (left.id, right.id) in vocabulary.merges
        ]
        if not found:
            break
        rank, made, at = min(found)
        left, right = pieces[at : at + 2]
        pieces[at : at + 2] = [Made(made, left.first_byte, rank, (left, right))]
    whole = len(pieces) == 1 and pieces[0].id == token
    return pieces[0] if whole else Made(token, vocabulary[token][0])


def _each(node: Made) -> list[Made]:
    """A node before its parts, the left part first."""
    return [node, *(found for part in node.parts for found in _each(part))]


def typed(ran: Ran) -> Array:
    """The ids of what was typed, (T,): of a translation those of the source."""
    name = "encoder.ids" if "encoder.ids" in ran.arrays else "decoder.ids"
    return ran.arrays[name]


def of_tokens(wanted: Callable[[Made], int | None]) -> Callable[[Ran, int, int], Array]:
    """A number of each node of the tokens from one place to another, where it has one, (N,)."""

    def numbers(ran: Ran, start: int, stop: int) -> Array:
        tokens = typed(ran)[start:stop].tolist()
        words = ran.vocabulary
        ids = {text[0]: number for number, text in words.items() if len(text) == 1}
        nodes = [node for token in tokens for node in _each(made_of(token, words, ids))]
        return np.array([number for node in nodes if (number := wanted(node)) is not None], float)

    return numbers


def of_each(wanted: Callable[[Made], int]) -> Callable[[Ran, int], Array]:
    """A number of each of the first so many tokens, (N,)."""

    def numbers(ran: Ran, n_tokens: int) -> Array:
        words = ran.vocabulary
        ids = {text[0]: number for number, text in words.items() if len(text) == 1}
        tokens = typed(ran)[:n_tokens].tolist()
        return np.array([wanted(made_of(token, words, ids)) for token in tokens], float)

    return numbers


def _n_merges(node: Made) -> int:
    return sum(bool(part.parts) for part in _each(node))


def n_bytes(ran: Ran, n_tokens: int) -> Array:
    """How many bytes each of the first so many tokens stands for, (N,)."""
    return np.array([len(ran.vocabulary[token]) for token in typed(ran)[:n_tokens].tolist()])


def sizes(ran: Ran, n_tokens: int, has_space: int) -> Array:
    """Characters, bytes and words of the first so many tokens, and how many there are, (4,).

    A space that was put before the first word, where one `has_space`, is not of the text; nor is
    what is left at its end of a character that was cut.
    """
    text = b"".join(ran.vocabulary[token] for token in typed(ran)[:n_tokens].tolist())
    read = text.decode(errors="ignore")[has_space:]
    return np.array([len(read), len(read.encode()), len(read.split()), n_tokens], float)


def per_token(ran: Ran, n_tokens: int, has_space: int) -> Array:
    """Bytes of a token, on average."""
    return sizes(ran, n_tokens, has_space)[1] / n_tokens


def per_word(ran: Ran, n_tokens: int, has_space: int) -> Array:
    """Tokens of a word, on average."""
    return n_tokens / sizes(ran, n_tokens, has_space)[2]


def held_out(ran: Ran) -> Array:
    """Bytes per token of each text held out from the training, as its log has them, (N,)."""
    path = None if ran.files.folder is None else ran.files.folder / "metrics.jsonl"
    if path is None or not path.is_file():
        raise KeyError("held out")
    lines = [json.loads(line)["held_out"] for line in path.read_text("utf-8").splitlines()]
    scores = [line for line in lines if line][-1].values()
    return np.array([x["bytes"] / x["tokens"] for x in scores if "accuracy" not in x])


MERGED: dict[str, Callable[..., Array]] = {
    "merges.ids": lambda ran, start, stop: typed(ran)[start:stop],
    "merges.ranks": of_tokens(lambda node: None if node.rank is None else node.rank + 1),
    "merges.bytes_of_each": n_bytes,
    "merges.of_each": of_each(_n_merges),
    "merges.last_of_each": of_each(lambda node: -1 if node.rank is None else node.rank + 1),
    "text.sizes": sizes,
    "text.bytes_per_token": per_token,
    "text.tokens_per_word": per_word,
    "text.held_out": held_out,
    "merges.bytes": of_tokens(lambda node: None if node.parts else node.first_byte),
}
