"""What the browser may ask for by a key nobody can guess; gone when nobody else holds it.

Arrays of parts, which it draws, and what answers it between two runs.
"""

import secrets
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from viz.kit.part import Answers

_ARRAYS: WeakValueDictionary[str, Any] = WeakValueDictionary()
_ANSWERS: WeakValueDictionary[str, Answers] = WeakValueDictionary()
_KEYS: WeakKeyDictionary[Answers, str] = WeakKeyDictionary()  # of what answers


def share(arrays: Mapping[str, Any]) -> None:
    """Offer arrays of a part by their ids for as long as the caller keeps them."""
    _ARRAYS.update(arrays)


def array(name: str) -> Any:  # noqa: ANN401
    """The array of an id, or None when it has gone or never was."""
    return _ARRAYS.get(name)


def offer(answers: Answers) -> str:
    """Let a browser ask it for as long as the caller keeps it; returns its key."""
    key = _KEYS.setdefault(answers, secrets.token_hex(16))
    _ANSWERS[key] = answers
    return key


def answers(key: str) -> Answers | None:
    """What answers to a key, or None when it has gone or never was."""
    return _ANSWERS.get(key)
