"""What the browser may ask for by a key nobody can guess; gone when nobody else holds it.

Traces and parts: arrays that it draws, and what answers it between two runs.
"""

import secrets
from collections.abc import Mapping
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from model.trace import Trace
from viz.kit.part import Answers

_TRACES: WeakValueDictionary[str, Trace] = WeakValueDictionary()
_ARRAYS: WeakValueDictionary[str, np.ndarray] = WeakValueDictionary()
_ANSWERS: WeakValueDictionary[str, Answers] = WeakValueDictionary()
_KEYS: WeakKeyDictionary[Answers, str] = WeakKeyDictionary()  # of what answers


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


def offer(answers: Answers) -> str:
    """Let a browser ask it for as long as the caller keeps it; returns its key."""
    key = _KEYS.setdefault(answers, secrets.token_hex(16))
    _ANSWERS[key] = answers
    return key


def answers(key: str) -> Answers | None:
    """What answers to a key, or None when it has gone or never was."""
    return _ANSWERS.get(key)
