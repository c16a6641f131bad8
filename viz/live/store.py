"""What the browser may ask for by a key nobody can guess; gone when nobody else holds it.

Traces and parts, whose arrays it draws, and texts, which are written on while it asks for more.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from model.trace import Trace


class GrowingText(Protocol):
    """A text that is written on while its visitor's browser asks for more."""

    def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write on for a moment; what is new. ValueError in words for the person."""
        ...


_TRACES: WeakValueDictionary[str, Trace] = WeakValueDictionary()
_ARRAYS: WeakValueDictionary[str, np.ndarray] = WeakValueDictionary()
_TEXTS: WeakValueDictionary[str, GrowingText] = WeakValueDictionary()


def put(trace: Trace) -> str:
    """Offer a trace to browsers for as long as the caller keeps it; returns its key."""
    key = secrets.token_hex(16)
    _TRACES[key] = trace
    return key


def get(key: str) -> Trace | None:
    """The trace of a key, or None when it has gone or never was."""
    return _TRACES.get(key)


def share(arrays: Mapping[str, np.ndarray]) -> None:
    """Offer arrays of a part by their ids for as long as the caller keeps them."""
    _ARRAYS.update(arrays)


def array(name: str) -> np.ndarray | None:
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
