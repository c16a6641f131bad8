"""What stands in lines and cells: plain text, and labels of tokens, which run in their own way."""

import html
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode


class Word(NamedTuple):
    """The label of a token: a person's text, from left to right or from right to left."""

    text: str


class Link(NamedTuple):
    """Our own words, which lead to this page with other settings, by their names, or to another:
    then the page is one of them."""

    text: str
    settings: Mapping[str, str]


Piece = str | Word | Link
Said = Piece | Sequence[Piece]  # a line or a cell; the words are plain text


def html_of(said: Said) -> str:
    """Plain text as HTML, with its words."""
    return "".join(map(_html, pieces(said)))


def pieces(said: Said) -> Sequence[Piece]:
    """The pieces of a line."""
    return [said] if isinstance(said, str | Word | Link) else said


def _html(piece: Piece) -> str:
    if isinstance(piece, Word):
        return f'<bdi translate="no">{html.escape(piece.text)}</bdi>'
    if isinstance(piece, Link):
        settings = dict(piece.settings)
        address = html.escape(urlencode(settings))
        page = f' data-page="{html.escape(settings.pop("page"))}"' if "page" in settings else ""
        changes = html.escape(urlencode(settings))
        return f'<a href="?{address}"{page} data-with="{changes}">{html.escape(piece.text)}</a>'
    return html.escape(piece)
