"""Traces the browser may ask for, by a key nobody can guess; gone when nobody else holds them."""

import secrets
from weakref import WeakValueDictionary

from model.trace import Trace

_TRACES: WeakValueDictionary[str, Trace] = WeakValueDictionary()


def put(trace: Trace) -> str:
    """Offer a trace to browsers for as long as the caller keeps it; returns its key."""
    key = secrets.token_hex(16)
    _TRACES[key] = trace
    return key


def get(key: str) -> Trace | None:
    """The trace of a key, or None when it has gone or never was."""
    return _TRACES.get(key)
