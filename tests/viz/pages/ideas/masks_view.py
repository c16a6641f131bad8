"""What the tests of the Masks page share: masks cell by cell, and its views."""

from collections.abc import Callable

import numpy as np
from streamlit.testing.v1 import AppTest

from model.capture import capture
from model.sources.checkpoint import Checkpoint
from model.trace import Trace
from tests.viz.apps import TOM, lines, open_page


def cells(n: int, seen: Callable[[int, int], bool]) -> np.ndarray:
    """A mask cell by cell, (n, n)."""
    return np.array([[seen(i, j) for j in range(n)] for i in range(n)])


# What each setting should mean for query i and key j of n tokens.
KINDS: dict[str, tuple[dict[str, str], Callable[[int, int, int], bool]]] = {
    "causal": ({}, lambda i, j, n: j <= i),
    "sliding_window": ({"window": "3"}, lambda i, j, n: i - 3 < j <= i),
    "window-both": (
        {"mask": "sliding_window", "window": "2", "sides": "both"},
        lambda i, j, n: abs(i - j) < 2,
    ),
    "prefix": ({"prefix": "5"}, lambda i, j, n: j <= i or j < 5),
    "global_tokens": (
        {"window": "2", "global": "2"},
        lambda i, j, n: j <= i and (i - j < 2 or j < 2),
    ),
    "global-both": (
        {"mask": "global_tokens", "window": "1", "global": "1", "sides": "both"},
        lambda i, j, n: i == j or i == 0 or j == 0,
    ),
    "padding": ({"pad_tokens": "3"}, lambda i, j, n: j <= i and j < n - 3),
    "everything": ({}, lambda i, j, n: True),
}


def under(loaded: Checkpoint, ids: list[int], mask: np.ndarray) -> Trace:
    """What a model does on ids under a mask."""
    return capture(loaded.model, ids, loaded.tokenizer.token_strings(ids), mask)


def open_view(view: str, /, **query: str) -> AppTest:
    """One view of the page."""
    return open_page("Masks", **{"scene": view, "sentence": TOM} | query)


def note_with(app: AppTest, words: str) -> str:
    """The one note with these words."""
    (note,) = [line for line in lines(app, "note") if words in line]
    return note
