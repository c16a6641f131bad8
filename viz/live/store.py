"""What the browser may ask for by a key nobody can guess; gone when nobody else holds it.

Arrays of parts, which it draws, and texts, which are written on while it asks for more.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Protocol
from weakref import WeakValueDictionary


class GrowingText(Protocol):
    """A text that is written on while its visitor's browser asks for more."""

    def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write on for a moment; what is new. ValueError in words for the person."""
        ...


_ARRAYS: WeakValueDictionary[str, Any] = WeakValueDictionary()
_TEXTS: WeakValueDictionary[str, GrowingText] = WeakValueDictionary()


def share(arrays: Mapping[str, Any]) -> None:
    """Offer arrays of a part by their ids for as long as the caller keeps them."""
    _ARRAYS.update(arrays)


def array(name: str) -> Any:  # noqa: ANN401
    """The array of an id, or None when it has gone or never was."""
    return _ARRAYS.get(name)


def offer(text: GrowingText) -> str:
    """Let its visitor's browser ask for more of a text; returns its key."""
    key = secrets.token_hex(16)
    _TEXTS[key] = text
    return key


def text_of(key: str) -> GrowingText | None:
    """The text of a key, or None when it has gone or never was."""
    return _TEXTS.get(key)
