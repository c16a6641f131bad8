"""What stands in lines and cells: plain text, and labels of tokens, which run in their own way."""

import html
from collections.abc import Sequence
from typing import NamedTuple


class Word(NamedTuple):
    """The label of a token: a person's text, from left to right or from right to left."""

    text: str


Piece = str | Word
Said = Piece | Sequence[Piece]  # a line or a cell; the words are plain text


def head_name(layer: int, head: int) -> str:
    """A head by its layer and number, as L2 H4."""
    return f"L{layer} H{head}"


def html_of(said: Said) -> str:
    """Plain text as HTML, with its words."""
    return "".join(map(_html, _pieces(said)))


def _pieces(said: Said) -> Sequence[Piece]:
    return [said] if isinstance(said, str | Word) else said


def _html(piece: Piece) -> str:
    if isinstance(piece, Word):
        return f'<bdi translate="no">{html.escape(piece.text)}</bdi>'
    return html.escape(piece)
