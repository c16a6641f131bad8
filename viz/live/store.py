"""What the browser may ask for by a key nobody can guess; gone when nobody else holds it.

Traces, whose arrays it draws, and texts, which are written on while it asks for more.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from model.trace import Trace


class GrowingText(Protocol):
    """A text that is written on while its visitor's browser asks for more."""

    def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write on for a moment; what is new. ValueError in words for the person."""
        ...


class Independent(Protocol):
    """What the independent run makes of an input, by address."""

    def array(self, address: str) -> np.ndarray:
        """One array in float64; ValueError where there is none."""
        ...

    def labels(self, stream: int = -1) -> list[str | None]:
        """What stands in a row of the input, by default the last."""
        ...

    def texts(self, wanted: Sequence[int]) -> list[str | None]:
        """What ids stand for; ValueError where there is no such id."""
        ...


_TRACES: WeakValueDictionary[str, Trace] = WeakValueDictionary()
_TEXTS: WeakValueDictionary[str, GrowingText] = WeakValueDictionary()
_INDEPENDENT: WeakValueDictionary[str, Independent] = WeakValueDictionary()


def put(trace: Trace, independent: Independent | None = None) -> str:
    """Offer a trace to browsers for as long as the caller keeps it; returns its key.

    With it the independent run of the same input, which what is on screen is compared with.
    """
    key = secrets.token_hex(16)
    _TRACES[key] = trace
    if independent is not None:
        _INDEPENDENT[key] = independent
    return key


def independent_of(key: str) -> Independent | None:
    """The independent run of a trace's input, or None where there is none."""
    return _INDEPENDENT.get(key)


def get(key: str) -> Trace | None:
    """The trace of a key, or None when it has gone or never was."""
    return _TRACES.get(key)


def offer(text: GrowingText) -> str:
    """Let its visitor's browser ask for more of a text; returns its key."""
    key = secrets.token_hex(16)
    _TEXTS[key] = text
    return key


def text_of(key: str) -> GrowingText | None:
    """The text of a key, or None when it has gone or never was."""
    return _TEXTS.get(key)
